//! `oz0 catalog`: every function as models and clients read it, and what waits beside it.

use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::plugin::{Catalog, CatalogFunction, FunctionState};
use oz0_listing::diff::Layout;
use oz0_listing::escape;
use serde_json::{Value, json};

use crate::cli;
use crate::config::Settings;
use crate::edge;
use crate::exit::Exit;
use crate::output::Output;
use crate::plugin::change;

pub(crate) fn run(arguments: &cli::Catalog, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        let catalog = client.catalog().await?;
        if arguments.json {
            output.json(&json!(catalog))?;
            return Ok(Exit::Done);
        }
        if catalog.functions.is_empty() {
            output.say("the catalog is empty: no plugin's tools were listed yet");
            return Ok(Exit::Done);
        }
        output.data(&text(&catalog, change::layout(output)))?;
        Ok(Exit::Done)
    })
}

fn text(catalog: &Catalog, layout: Layout) -> String {
    let mut text = String::new();
    for (at, function) in catalog.functions.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        write_function(&mut text, function, layout);
    }
    text
}

fn write_function(text: &mut String, function: &CatalogFunction, layout: Layout) {
    let CatalogFunction { id, model_name, plugin, version, state, accepted, changes, .. } =
        function;
    let candidate = if function.candidate { ", a candidate" } else { "" };
    let _ = writeln!(text, "\u{1b}[1m{id}\u{1b}[0m  {}", stands(state));
    let _ = writeln!(text, "  {plugin} {version}{candidate}, known to models as {model_name}");
    for listing in accepted {
        match &listing.served {
            Some(served) => description(text, served.get(), layout),
            None => {
                text.push_str("  its overrides make its listing unreadable, so it is not served\n");
            }
        }
        let _ = writeln!(text, "  {}", listing.hash);
    }
    for change in changes {
        let labels = change.labels.iter().map(|label| escape::line(label).into_owned());
        let labels = labels.collect::<Vec<_>>().join("; ");
        let words = format!("waits: {labels} (change {})", change.id.short());
        for line in layout.plain_lines(&words, 2) {
            let _ = writeln!(text, "  \u{1b}[33m{line}\u{1b}[0m");
        }
    }
}

fn stands(state: &FunctionState) -> String {
    match state {
        FunctionState::Callable => "callable".to_owned(),
        FunctionState::NotListed => "approved, and no node that is there lists it".to_owned(),
        FunctionState::NotCallable { reason } => {
            format!("approved, and not callable: {}", escape::line(reason))
        }
        FunctionState::Waiting => "waits for approval".to_owned(),
        FunctionState::EndpointWaiting => {
            "its tool's endpoint moved, and waits for approval".to_owned()
        }
        FunctionState::LeftOut { plugin, function } => {
            format!("left out: {function} of {plugin} had the name first")
        }
    }
}

/// What a listing says of itself, indented.
fn description(text: &mut String, listing: &str, layout: Layout) {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let words =
        listing.get("description").and_then(Value::as_str).unwrap_or("says nothing of itself");
    for line in layout.plain_lines(&escape::text(words), 4) {
        let _ = writeln!(text, "    {line}");
    }
}
