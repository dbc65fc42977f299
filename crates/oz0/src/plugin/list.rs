//! `oz0 plugin list`: what runs where, what waits for approval, what is left out, what failed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::change::Change;
use oz0_api::node::LeftOut;
use oz0_api::plugin::{FunctionState, FunctionStatus, PluginStatus, Source};
use oz0_listing::diff::Layout;
use oz0_listing::escape;
use serde_json::json;

use super::{change, promote};
use crate::config::Settings;
use crate::edge;
use crate::exit::Exit;
use crate::output::Output;
use crate::words::{count, joined};

pub(crate) fn run(as_json: bool, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        let plugins = client.plugins().await?;
        if as_json {
            output.json(&json!({"plugins": plugins}))?;
            return Ok(Exit::Done);
        }
        if plugins.is_empty() {
            // An edge on another machine, or one alone here, runs nothing in place.
            let how = if settings.edge.is_some() || settings.data()?.has_edge_alone() {
                "install one with: oz0 plugin install DIR|BUNDLE"
            } else {
                "run one with: oz0 up DIR"
            };
            output.say(&format!("no plugin is installed\nhint: {how}"));
            return Ok(Exit::Done);
        }
        let mut text = String::new();
        for (at, plugin) in plugins.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let layout = change::layout(output);
            let _ = writeln!(text, "{}", heading(plugin, ""));
            write_plugin(&mut text, plugin, layout);
            if let Some(candidate) = &plugin.candidate {
                // A version of its own, with what was approved and what waits of it alone.
                let _ = writeln!(text, "{}", heading(&candidate.status, ", a candidate"));
                detail(&mut text, layout, &format!("offered to {}", promote::nodes(candidate)));
                write_plugin(&mut text, &candidate.status, layout);
            }
        }
        output.data(&text)?;
        Ok(Exit::Done)
    })
}

/// A detail below a plugin's heading. Parts of it were written by servers, so it is broken where the terminal would break it.
fn detail(text: &mut String, layout: Layout, words: &str) {
    for (at, line) in layout.plain_lines(words, 4).into_iter().enumerate() {
        let _ = writeln!(text, "{}{}", if at == 0 { "  " } else { "    " }, line.trim_end());
    }
}

fn heading(plugin: &PluginStatus, what: &str) -> String {
    let PluginStatus { name, version, .. } = plugin;
    format!("\u{1b}[1m{name} {version}\u{1b}[0m{what}{}", nodes(plugin))
}

fn write_plugin(text: &mut String, plugin: &PluginStatus, layout: Layout) {
    if let Source::Dev { folder } = &plugin.source {
        detail(text, layout, &format!("run in place: {}", escape::line(folder)));
    }
    detail(text, layout, &functions(plugin));
    for announcement in plugin.announcements() {
        // The first line says what is refused and what to do about it, so it stands out, at the margin.
        let said = announcement.to_string();
        let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
        let _ = writeln!(text, "\u{1b}[33m{first}\u{1b}[0m");
        if !rest.is_empty() {
            let _ = writeln!(text, "{rest}");
        }
        for change in &plugin.changes {
            if change.function.is_some() && announcement.changes.contains(&change.id) {
                detail(text, layout, &labels(change));
            }
        }
    }
    write_left_out(text, plugin, layout);
    let failures: Vec<&String> = plugin
        .tools
        .iter()
        .flat_map(|tool| &tool.nodes)
        .filter_map(|seen| seen.failure.as_ref())
        .collect();
    for FunctionStatus { id, state, .. } in &plugin.functions {
        // Why a server failed is told of its tool, once.
        if let FunctionState::NotCallable { reason } = state
            && !failures.contains(&reason)
        {
            detail(text, layout, &format!("not callable: {id}: {}", escape::line(reason)));
        }
    }
    for function in &plugin.mismatches {
        let what = "listed itself differently than in tools.listing.json";
        detail(text, layout, &format!("not as measured: {function} {what}"));
    }
    for tool in &plugin.tools {
        for seen in &tool.nodes {
            if let Some(failure) = &seen.failure {
                let failure = escape::text(failure);
                detail(text, layout, &format!("failed on {}: {}: {failure}", seen.node, tool.tool));
                if let Some(goes_on) = &seen.goes_on {
                    let name = &plugin.name;
                    let what = format!(
                        "{} goes on with {goes_on}; take {name} {} back with: oz0 plugin rollback {name}",
                        seen.node, plugin.version
                    );
                    detail(text, layout, &what);
                }
            } else if seen.functions.is_empty() && seen.left_out.is_empty() {
                detail(text, layout, &format!("lists nothing on {}: {}", seen.node, tool.tool));
            }
        }
        if tool.nodes.is_empty() {
            detail(text, layout, &format!("not listed yet: {}", tool.tool));
        }
    }
}

fn write_left_out(text: &mut String, plugin: &PluginStatus, layout: Layout) {
    for function in &plugin.functions {
        if let FunctionState::LeftOut { plugin: other, function: first } = &function.state {
            let FunctionStatus { id, model_name, .. } = function;
            let why = format!("models know {first} of {other} as {model_name}, and it was first");
            detail(text, layout, &format!("left out: {id}: {why}"));
        }
    }
    let mut left_out: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for tool in &plugin.tools {
        for seen in &tool.nodes {
            for LeftOut { name, reason } in &seen.left_out {
                let key = (tool.tool.as_ref(), name.as_str(), reason.as_str());
                left_out.entry(key).or_default().push(seen.node.as_str());
            }
        }
    }
    for ((tool, name, reason), nodes) in left_out {
        let (name, reason) = (escape::line_within(name, 128), escape::line(reason));
        detail(text, layout, &format!("left out on {}: {tool}: `{name}`: {reason}", joined(nodes)));
    }
}

/// On which nodes it is.
fn nodes(plugin: &PluginStatus) -> String {
    let mut nodes: Vec<&str> =
        plugin.tools.iter().flat_map(|tool| &tool.nodes).map(|seen| seen.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() { String::new() } else { format!(" on {}", joined(nodes)) }
}

/// How many functions there are, and how they stand.
fn functions(plugin: &PluginStatus) -> String {
    let mut text = count(plugin.functions.len(), "function");
    let of = |wanted: fn(&FunctionState) -> bool| {
        plugin.functions.iter().filter(|function| wanted(&function.state)).count()
    };
    let states = [
        (of(|state| matches!(state, FunctionState::Callable)), "callable"),
        (
            of(|state| matches!(state, FunctionState::Waiting | FunctionState::EndpointWaiting)),
            "waiting for approval",
        ),
        (of(|state| matches!(state, FunctionState::NotListed)), "approved and not listed now"),
        (of(|state| matches!(state, FunctionState::NotCallable { .. })), "not callable"),
        (of(|state| matches!(state, FunctionState::LeftOut { .. })), "left out"),
    ];
    for (at, (number, state)) in states.into_iter().filter(|(number, _)| *number > 0).enumerate() {
        let _ = write!(text, "{}{number} {state}", if at == 0 { ": " } else { ", " });
    }
    text
}

/// A change in a line: the function, and what moved.
fn labels(change: &Change) -> String {
    let labels = change.labels.iter().map(|label| escape::line(label).into_owned());
    format!("{}: {}", change.subject(), labels.collect::<Vec<_>>().join("; "))
}
