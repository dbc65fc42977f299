//! The rules as a list, for programs and for people.

use oz0_diagnostic::Level;
use serde_json::{Value, json};

use crate::loader::loader_checks;
use crate::metadata::{Metadata, Plain};
use crate::page::Page;
use crate::rules::rules;

/// The format of [`rules_json`].
const FORMAT: &str = "oz0.rules.v1";

impl Metadata {
    /// The title of its page.
    pub fn title(&self) -> String {
        Page::read(self.page).map(|page| page.title).unwrap_or_default()
    }

    /// The plain level, in a word.
    fn plain_word(&self) -> &'static str {
        match self.plain {
            Plain::Off => "off",
            Plain::On(level) => level.name(),
        }
    }
}

/// Every rule, as JSON.
pub fn rules_json() -> Value {
    let rules: Vec<Value> = rules().iter().map(|rule| rule_json(&rule.metadata)).collect();
    json!({ "format": FORMAT, "rules": rules })
}

/// What is known of a rule.
pub(crate) fn rule_json(metadata: &Metadata) -> Value {
    json!({
        "code": metadata.code,
        "name": metadata.name,
        "title": metadata.title(),
        "plain": metadata.plain_word(),
        "verified": Level::Error.name(),
        "runs_on": metadata.runs_on.phrase(),
        "reads_functions": metadata.reads_functions,
        "fixable": metadata.fixable,
        "exemptible": metadata.exemptible,
        "url": metadata.url(),
    })
}

/// Every rule, a line each: code, level at the plain level, name, title.
pub fn rules_text() -> String {
    use std::fmt::Write as _;

    let mut text = String::new();
    for rule in rules() {
        let metadata = &rule.metadata;
        let _ = writeln!(
            text,
            "{}  {:7}  {:34}  {}",
            metadata.code,
            metadata.plain_word(),
            metadata.name,
            metadata.title()
        );
    }
    text
}

/// Every rule, and every code of the loader's, as tables in Markdown, each with a link to its page beside it.
pub fn rules_markdown() -> String {
    use std::fmt::Write as _;

    let mut text = String::from(
        "# The rules\n\n\
         The house rules of plugins, which `oz0 plugin lint` checks. At the verified level each of them is an error; an install\n\
         never refuses a plugin over one. `oz0 plugin explain CODE` prints a rule's page.\n\n\
         | code | at the plain level | runs on | fix | what it finds |\n|---|---|---|---|---|\n",
    );
    for rule in rules() {
        let metadata = &rule.metadata;
        let _ = writeln!(
            text,
            "| {code} | {} | {} | {} | [{}]({code}.md) |",
            metadata.plain_word(),
            metadata.runs_on.phrase(),
            if metadata.fixable { "`--fix`" } else { "" },
            metadata.title(),
            code = metadata.code,
        );
    }
    text.push_str(
        "\n## The loader's codes\n\n\
         They are no rules: each is an error at every level and in every command that reads a plugin, and nothing exempts from it.\n\n\
         | code | what it finds |\n|---|---|\n",
    );
    for found in loader_checks() {
        let _ =
            writeln!(text, "| {code} | [{}]({code}.md) |", found.title(), code = found.check.code);
    }
    text
}
