//! `oz0 plugin explain`: prints a rule's page.

use anyhow::Result;
use oz0_lint::{published, rules_json};
use serde_json::{Value, json};

use super::lint::known;
use crate::cli::Explain;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(arguments: &Explain, output: Output) -> Result<Exit> {
    let metadata = &known(&arguments.rule)?.metadata;
    let page = published(metadata.page);
    if arguments.json {
        let all = rules_json();
        let mut rules = all["rules"].as_array().into_iter().flatten();
        let mut rule: Value =
            rules.find(|rule| rule["code"] == metadata.code).cloned().unwrap_or_default();
        rule["format"] = json!("oz0.rule.v1");
        rule["page"] = json!(page);
        output.json(&rule)?;
    } else {
        output.data(&page)?;
    }
    Ok(Exit::Done)
}
