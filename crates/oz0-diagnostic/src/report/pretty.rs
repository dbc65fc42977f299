//! For people at a terminal: the source line with the span underlined.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level as Title, Renderer, Snippet};

use super::view::{self, View};
use crate::check::{Diagnostic, Level, Related};
use crate::escape;
use crate::source::Span;

/// Related places at most this many lines away are marked in the finding's own snippet.
const NEAR: usize = 12;

/// Whether to write colours, as ANSI escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Color {
    /// Plain text.
    Never,
    /// With colours.
    Always,
}

/// The findings one below the other, with an empty line between two. No line ends in blanks, and the
/// text ends with a line break unless there are no findings.
pub fn pretty(diagnostics: &[Diagnostic], color: Color) -> String {
    let renderer = match color {
        Color::Never => Renderer::plain(),
        Color::Always => Renderer::styled(),
    };
    // Long lines are cut by the view, which knows what must stay in sight.
    let renderer = renderer.term_width(10_000);
    let mut out = String::new();
    for diagnostic in diagnostics {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in render(diagnostic, &renderer).lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

fn render(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.level {
        Level::Error => Title::ERROR,
        Level::Warning => Title::WARNING,
        Level::Note => Title::NOTE,
    };
    let title = level.primary_title(escape::line(&diagnostic.message)).id(diagnostic.check.code);
    let (near, mut far): (Vec<&Related>, Vec<&Related>) =
        diagnostic.related.iter().partition(|related| is_near(&diagnostic.span, &related.span));
    let mut spans = vec![&diagnostic.span];
    spans.extend(near.iter().map(|related| &related.span));
    let view = view::view(diagnostic.span.file(), &spans);
    let mut annotations = vec![primary(&view)];
    for (related, mark) in near.into_iter().zip(&view.marks[1..]) {
        match mark {
            Some(mark) => {
                let label = escape::line(&related.message);
                annotations.push(AnnotationKind::Context.span(mark.clone()).label(label));
            }
            None => far.push(related),
        }
    }
    let mut group = Group::with_title(title).element(snippet(&view, annotations));
    let mut shown = vec![&diagnostic.span];
    if let Some(help) = &diagnostic.help {
        group = group.element(Title::HELP.message(escape::lines(help)));
    }
    if let Some(fix) = &diagnostic.fix {
        group = group.element(Title::HELP.with_name("fix").message(escape::line(&fix.title)));
    }
    if let Some(url) = &diagnostic.url {
        group = group.element(Title::NOTE.with_name("see").message(escape::line(url)));
    }
    let mut groups = vec![group];
    for related in far {
        let view = view::view(related.span.file(), &[&related.span]);
        groups.push(
            Group::with_title(Title::NOTE.secondary_title(escape::line(&related.message)))
                .element(snippet(&view, vec![primary(&view)])),
        );
        shown.push(&related.span);
    }
    locate(&renderer.render(&groups), &shown)
}

/// Stands for a file's path until the text is rendered: the renderer would count the columns of the
/// view, not those of the file. It is a private-use character, which no escaped text holds.
const PATH: char = '\u{e000}';

/// Puts the real places where the renderer wrote its own.
fn locate(rendered: &str, spans: &[&Span]) -> String {
    let mut parts = rendered.split(PATH);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (part, span) in parts.zip(spans) {
        out.push_str(&escape::line(span.file().path()));
        out.push(':');
        out.push_str(&span.start().to_string());
        out.push_str(part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    }
    out
}

fn is_near(span: &Span, other: &Span) -> bool {
    let ((first, last), (other_first, other_last)) = (view::lines(span), view::lines(other));
    span.file().path() == other.file().path()
        && first.min(other_first) + NEAR >= last.max(other_last)
}

fn primary<'a>(view: &View) -> Annotation<'a> {
    AnnotationKind::Primary.span(view.marks[0].clone().unwrap_or_default())
}

fn snippet<'a>(view: &View, annotations: Vec<Annotation<'a>>) -> Snippet<'a, Annotation<'a>> {
    Snippet::source(view.text.clone())
        .path(PATH.to_string())
        .line_start(view.first_line)
        .annotations(annotations)
}
