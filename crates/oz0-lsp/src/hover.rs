//! What stands below the pointer: the page of the rule or the loader's code that found something there, or that a comment
//! names, and what a key of the manifest means.

use std::ops::Range;
use std::path::Path;

use oz0_diagnostic::Diagnostic;
use oz0_lint::Explained;
use oz0_listing::escape;
use oz0_plugin::manifest::MANIFEST;
use oz0_yaml::{Comment, Limits, Node, Value, parse};
use tower_lsp_server::ls_types::{
    Hover, HoverContents, MarkupContent, MarkupKind, Position, Range as LspRange, Uri,
};

use crate::check::Checked;
use crate::documents::Documents;
use crate::markdown;
use crate::place::Places;
use crate::schema::{self, Step};
use crate::session::{Manner, Session};

/// What there is to say at a place, and about which part of the text.
pub(crate) fn hover(session: &Session, uri: &Uri, position: Position) -> Option<Hover> {
    let (documents, manner) = {
        let state = session.state();
        (state.documents.clone(), state.manner)
    };
    let (path, document) = documents.at(uri)?;
    // A file outside of any plugin is none of ours.
    let root = documents.plugin_of(&path)?;
    let checked = session.checked(&path).filter(|checked| checked.is_of(&path, &documents));
    let found = checked.and_then(|checked| findings(&checked, &path, position, &documents, manner));
    let (said, range) = match found {
        Some(found) => found,
        None => {
            let (text, lines) = document.text()?;
            let offset = lines.offset(text, position, manner.encoding);
            let is_manifest = path == root.join(MANIFEST);
            let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
            if !is_yaml {
                return None;
            }
            let parsed = parse(text, &Limits::MANIFEST);
            let page = page_of_comment(text, &parsed.comments, offset);
            let (said, range) = page.or_else(|| {
                let root = parsed.root.as_ref().filter(|_| is_manifest)?;
                key(root, offset, &mut Vec::new())
            })?;
            (said, lines.range(text, range, manner.encoding))
        }
    };
    let kind = if manner.markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
    let contents = HoverContents::Markup(MarkupContent { kind, value: said });
    Some(Hover { contents, range: Some(range) })
}

/// The findings at a place, and behind them the page of each code.
fn findings(
    checked: &Checked,
    path: &Path,
    position: Position,
    documents: &Documents,
    manner: Manner,
) -> Option<(String, LspRange)> {
    let mut places = Places::new(&checked.root, documents, manner.encoding);
    let mut said = Vec::new();
    let mut pages: Vec<&str> = Vec::new();
    let mut range: Option<LspRange> = None;
    for problem in checked.of_file(path) {
        let place = places.range(problem.span.file(), problem.span.range());
        if place.start <= position && position <= place.end {
            said.push(finding(problem, manner));
            range.get_or_insert(place);
            if !pages.contains(&problem.check.code) {
                pages.push(problem.check.code);
            }
        }
    }
    said.extend(pages.into_iter().filter_map(Explained::find).map(Explained::page));
    Some((said.join("\n\n---\n\n"), range?))
}

fn finding(problem: &Diagnostic, manner: Manner) -> String {
    let show = |line: &str| {
        if manner.markdown { markdown::text(line) } else { escape::line(line).into_owned() }
    };
    let code = problem.check.code;
    let level = problem.level.name();
    let mut said = if manner.markdown {
        match &problem.url {
            Some(url) => format!("**{level}** [{code}]({url}) {}", problem.check.name),
            None => format!("**{level}** {code} {}", problem.check.name),
        }
    } else {
        format!("{level} {code} {}", problem.check.name)
    };
    said.push_str("\n\n");
    said.push_str(&show(&problem.message));
    if let Some(help) = &problem.help {
        said.push_str("\n\nhint: ");
        said.push_str(&show(help));
    }
    said
}

/// The page of the code that a comment has at a place.
fn page_of_comment(
    text: &str,
    comments: &[Comment],
    offset: usize,
) -> Option<(String, Range<usize>)> {
    let comment = comments.iter().find(|it| it.range.start <= offset && offset <= it.range.end)?;
    let is_code = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let before = text[comment.range.start..offset].rfind(|c| !is_code(c));
    let start = before.map_or(comment.range.start, |at| comment.range.start + at + 1);
    let rest = &text[start..comment.range.end];
    let end = start + rest.find(|c| !is_code(c)).unwrap_or(rest.len());
    let code = &text[start..end];
    let found = Explained::find(code).filter(|found| found.code() == code)?;
    Some((found.page(), start..end))
}

/// What the key at a place means. Keys lie as deep as the parser goes, which is bounded.
fn key(node: &Node, offset: usize, path: &mut Vec<Step>) -> Option<(String, Range<usize>)> {
    if node.anchored().is_some() {
        return None;
    }
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                let Some(name) = entry.key.as_str() else { continue };
                path.push(Step::Key(name.to_owned()));
                if entry.key.range.start <= offset && offset <= entry.key.range.end {
                    let said = schema::at(path).iter().find_map(|spot| spot.description());
                    return said.map(|said| (said.to_owned(), entry.key.range.clone()));
                }
                if let Some(found) = key(&entry.value, offset, path) {
                    return Some(found);
                }
                path.pop();
            }
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                if let Some(found) = key(item, offset, path) {
                    return Some(found);
                }
                path.pop();
            }
        }
        _ => {}
    }
    None
}
