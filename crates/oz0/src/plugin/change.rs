//! A change as it is shown to the person who decides about it: nothing of what moved is left out, and every line of it begins
//! with a margin that its server cannot write into.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use oz0_api::change::{Change, ChangeKind};
use oz0_listing::diff::Layout;
use oz0_listing::escape;

use crate::moment;
use crate::output::Output;
use crate::terminal;
use crate::words::joined;

/// How changes are laid out on this standard output.
pub(crate) fn layout(output: Output) -> Layout {
    Layout { width: terminal::width(), color: output.colors_data() }
}

/// One change in full.
pub(crate) fn write(text: &mut String, change: &Change, layout: Layout) -> Result<()> {
    write_subject(text, change, layout);
    for seen in &change.nodes {
        paragraph(
            text,
            layout,
            &format!("seen by {} since {}", seen.node, moment::shown(seen.since)),
        );
    }
    let _ = writeln!(text, "  change {}", change.id.short());
    write_passages(text, change, layout)
}

/// The same of what no node lists yet, which nobody can approve by an ID.
pub(crate) fn write_unlisted(text: &mut String, change: &Change, layout: Layout) -> Result<()> {
    write_subject(text, change, layout);
    write_passages(text, change, layout)
}

/// What it is a change of, and what moved.
fn write_subject(text: &mut String, change: &Change, layout: Layout) {
    let _ = writeln!(text, "\u{1b}[1m{}\u{1b}[0m {}", change.subject(), change.what());
    if let Some(moved) = change.move_line() {
        paragraph(text, layout, &moved);
        // An endpoint that nobody approved gets no token, so this may not be all that it lists to one that has it.
        let waiting = match &change.functions[..] {
            [] if change.nodes.is_empty() => "it waits for approval before it is called there",
            [] => "no node could list it there without its token",
            listed => &format!("it lists there, to one without its token: {}", joined(listed)),
        };
        paragraph(text, layout, waiting);
    } else {
        for label in &change.labels {
            let label = escape::line(label);
            let (on, off) = if label.starts_with("hidden characters") {
                ("\u{1b}[1;33m", "\u{1b}[0m")
            } else {
                ("", "")
            };
            for (at, line) in layout.plain_lines(&label, 4).into_iter().enumerate() {
                let margin = if at == 0 { "  * " } else { "    " };
                let _ = writeln!(text, "{margin}{on}{line}{off}");
            }
        }
    }
}

fn write_passages(text: &mut String, change: &Change, layout: Layout) -> Result<()> {
    let passages = change
        .passages()
        .with_context(|| format!("the edge sent a listing of {} that is none", change.subject()))?;
    if passages.is_empty() && change.kind != ChangeKind::Endpoint {
        paragraph(text, layout, "the edge keeps neither what was approved nor what is listed");
    }
    for passage in passages {
        text.push('\n');
        text.push_str(&layout.passage(&passage));
    }
    Ok(())
}

fn paragraph(text: &mut String, layout: Layout, words: &str) {
    for line in layout.plain_lines(words, 2) {
        let _ = writeln!(text, "  {}", line.trim_start());
    }
}
