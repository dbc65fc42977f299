//! The page of this rule, `s013_annex_iii_area.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::{Level, Span};
use oz0_plugin::Spanned;
use oz0_plugin::manifest::Prose;
use oz0_policy::annex_iii::{Area, mentions};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::phrase::listed;
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S013",
    name: "annex-iii-area",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s013_annex_iii_area.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    check_text("the plugin", "description", &manifest.description, sink);
    for (key, agent) in &manifest.agents {
        let whose = format!("the agent `{}`", key.value);
        for (what, text) in [("description", &agent.description), ("purpose", &agent.purpose)] {
            if let Some(text) = text {
                check_text(&whose, what, text, sink);
            }
        }
    }
    for (key, flow) in &manifest.flows {
        let whose = format!("the flow `{}`", key.value);
        for (what, text) in [("description", &flow.description), ("purpose", &flow.purpose)] {
            if let Some(text) = text {
                check_text(&whose, what, text, sink);
            }
        }
    }
}

/// The most words that a finding keeps: it shows fewer.
const MOST: usize = 16;

/// One finding for each area that a text points at, at the first of its words.
fn check_text(whose: &str, what: &str, text: &Spanned<Prose>, sink: &mut Sink) {
    let mut areas: Vec<(&Area<'_>, Vec<&str>)> = Vec::new();
    for mention in mentions(text.as_str()) {
        let words = &text.as_str()[mention.range];
        match areas.iter_mut().find(|(area, _)| area.number == mention.area.number) {
            Some((_, found)) if found.len() == MOST || found.contains(&words) => {}
            Some((_, found)) => found.push(words),
            None => areas.push((mention.area, vec![words])),
        }
    }
    for (area, words) in areas {
        let message = format!(
            "the {what} of {whose} points at {}, point {} of the AI Act's Annex III: {}",
            area.name,
            area.number,
            listed(&words)
        );
        sink.push(Finding::at(&within(&text.span, words[0]), message).help(
            "if it is meant for that, have its use reviewed before anyone runs it, and record its agents' risk class in the \
             tenant's inventory; if the words mean something else here, rephrase them",
        ));
    }
}

/// The words inside a text's span, or the whole of it where quoting or a line break hides them.
fn within(span: &Span, words: &str) -> Span {
    match span.text().find(words) {
        Some(at) => {
            let start = span.range().start + at;
            Span::new(span.file(), start..start + words.len())
        }
        None => span.clone(),
    }
}
