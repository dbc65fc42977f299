//! `oz0 plugin promote` and `oz0 plugin rollback`: what becomes of a candidate, and of the version before it.

use anyhow::Result;
use oz0_api::plugin::{Candidate, PluginStatus};
use oz0_api::rollout::Rollout;
use serde_json::json;

use crate::cli::{Promote, Rollback};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused};
use crate::output::Output;
use crate::terminal;
use crate::words::{count, joined};

/// On which nodes a candidate runs, in words.
pub(super) fn nodes(candidate: &Candidate) -> String {
    match &candidate.rollout {
        Rollout::Nodes(nodes) => joined(nodes),
        Rollout::Percent(share) => {
            let share = u8::from(*share);
            let nodes = &candidate.nodes;
            if nodes.is_empty() {
                format!("{share}% of the nodes, of which there is none yet")
            } else {
                format!("{share}% of the nodes: {}", joined(nodes))
            }
        }
    }
}

/// What speaks against running a candidate everywhere, as its nodes have seen it.
fn doubts(candidate: &Candidate) -> Vec<String> {
    let PluginStatus { changes, tools, .. } = &candidate.status;
    let mut doubts = Vec::new();
    if !changes.is_empty() {
        doubts.push(format!("{} for approval in it", waits(changes.len())));
    }
    for tool in tools {
        let failed: Vec<&str> = tool
            .nodes
            .iter()
            .filter(|seen| seen.failure.is_some())
            .map(|seen| seen.node.as_str())
            .collect();
        if !failed.is_empty() {
            doubts.push(format!("{} failed on {}", tool.tool, joined(failed)));
        } else if !tool.snapshot {
            doubts.push(format!("no node has listed {}", tool.tool));
        }
    }
    doubts
}

fn waits(changes: usize) -> String {
    format!("{} {}", count(changes, "change"), if changes == 1 { "waits" } else { "wait" })
}

pub(crate) fn promote(arguments: &Promote, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        let name = &arguments.name;
        let before = client.plugin(name).await?;
        let mut version = &before.version;
        if let Some(candidate) = &before.candidate {
            version = &candidate.status.version;
            let doubts = doubts(candidate);
            if !doubts.is_empty() {
                output.say(&format!(
                    "{name} {version} is a candidate on {}, and {}",
                    nodes(candidate),
                    doubts.join("; ")
                ));
                if !arguments.yes && (arguments.json || !terminal::is_there()) {
                    return Err(Refused::new(format!(
                        "{name} {version} was not promoted: {} goes on",
                        before.version
                    ))
                    .hint(format!(
                        "look at it with: oz0 plugin list; promote it as it is with: oz0 plugin promote {name} --yes"
                    ))
                    .into());
                }
                if !arguments.yes {
                    let question = format!("Run {name} {version} on every node? [y/N] ");
                    if !terminal::agrees(&question)? {
                        output.say(&format!("not promoted: {} goes on", before.version));
                        return Ok(Exit::Findings);
                    }
                }
            }
        }
        let after = client.promote(name, version).await?;
        if arguments.json {
            output.json(&json!(after))?;
            return Ok(Exit::Done);
        }
        output.data(&format!("Installed {name} {}: {}", after.version, after.digest))?;
        output.say(&format!(
            "every node runs it from now on; back to {} with: oz0 plugin rollback {name}",
            before.version
        ));
        Ok(Exit::Done)
    })
}

pub(crate) fn rollback(arguments: &Rollback, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        let name = &arguments.name;
        let before = client.plugin(name).await?;
        let goes = match &before.candidate {
            Some(candidate) => &candidate.status.version,
            None => &before.version,
        };
        let after = client.rollback(name, goes).await?;
        if arguments.json {
            output.json(&json!(after))?;
            return Ok(Exit::Done);
        }
        output.data(&format!("Installed {name} {}: {}", after.version, after.digest))?;
        output.say(&format!(
            "{name} {goes} was taken back: no node runs it any more; what was approved of it stays known"
        ));
        Ok(Exit::Done)
    })
}
