//! `oz0 approvals`: calls that wait for a person.
//!
//! The arguments come from a model, which may have them from anywhere, so they are shown as they would be sent, whole, and
//! with every character that nobody sees written out. Each line of them begins with a margin of ours.

use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::approval::{Approval, Decide};
use oz0_api::{ApprovalId, Client};
use oz0_listing::escape;
use serde_json::json;

use crate::cli::{Approvals, DecideCall};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::moment;
use crate::output::Output;
use crate::terminal;

/// As many digits of an ID as tell calls apart.
const SHORT: usize = 12;

pub(crate) fn run(command: &Approvals, settings: &Settings, output: Output) -> Result<Exit> {
    match command {
        Approvals::List { json: as_json } => edge::ask(settings, async |client| {
            let waiting = client.approvals().await?;
            if *as_json {
                output.json(&json!(waiting))?;
            } else if waiting.approvals.is_empty() {
                output.say("no call waits for a person");
            } else {
                let shown: Vec<String> = waiting.approvals.iter().map(shown).collect();
                output.data(shown.join("\n").trim_end())?;
                output.say("hint: oz0 approvals approve ID, or deny ID");
            }
            Ok(Exit::Done)
        }),
        Approvals::Approve(arguments) => decide(arguments, true, settings, output),
        Approvals::Deny(arguments) => decide(arguments, false, settings, output),
    }
}

fn decide(
    arguments: &DecideCall,
    approves: bool,
    settings: &Settings,
    output: Output,
) -> Result<Exit> {
    // To refuse a call needs no second thought.
    let asks = approves && !arguments.yes;
    if asks && !terminal::is_there() {
        return Err(WrongUsage(
            "nobody can be asked here: this is no terminal. `oz0 approvals list` shows the call, and `--yes` says that \
             it was looked at"
                .to_owned(),
        )
        .into());
    }
    edge::ask(settings, async |client| {
        let approval = find(&client, &arguments.id).await?;
        if asks {
            output.data(shown(&approval).trim_end())?;
            let answer = terminal::ask(&format!(
                "\nLet this call of {} through, once? [y/N] ",
                approval.function
            ))?;
            let yes = answer.map(|answer| answer.to_ascii_lowercase());
            if !matches!(yes.as_deref(), Some("y" | "yes")) {
                output.say(&format!(
                    "not approved; it waits until {}, or: oz0 approvals deny {}",
                    moment::shown(approval.expires_at),
                    short(&approval.id)
                ));
                return Ok(Exit::Findings);
            }
        }
        let decide = Decide { reason: arguments.reason.clone() };
        let decided = if approves {
            client.approve_call(&approval.id, &decide).await?
        } else {
            client.deny_call(&approval.id, &decide).await?
        };
        output.say(&format!(
            "{} this call of {}",
            if approves { "approved" } else { "denied" },
            decided.function
        ));
        Ok(Exit::Done)
    })
}

/// The call that waits whose ID begins so. The edge draws IDs by chance, so nobody makes two that begin alike.
async fn find(client: &Client, id: &str) -> Result<Approval> {
    let waiting = client.approvals().await?.approvals;
    let begun: Vec<&Approval> = waiting
        .iter()
        .filter(|waits| !id.is_empty() && waits.id.as_str().starts_with(id))
        .collect();
    let given = escape::line_within(id, 80);
    match begun[..] {
        [one] => Ok(one.clone()),
        [] => Err(Refused::new(format!("no call that waits has an ID that begins with {given}"))
            .hint("`oz0 approvals list` shows the calls that wait")
            .into()),
        _ => {
            Err(WrongUsage(format!("several calls' IDs begin with {given}: give more of it"))
                .into())
        }
    }
}

pub(crate) fn short(id: &ApprovalId) -> &str {
    &id.as_str()[..SHORT]
}

/// A call that waits, as text.
pub(crate) fn shown(approval: &Approval) -> String {
    let Approval { id, plugin, version, function, kind, client, why, node, .. } = approval;
    let mut text = format!(
        "{}  {function} ({}) of {plugin} {version} on {node}\n  called by {}\n  asked, since {}\n  waits from {} to {}\n",
        short(id),
        escape::line(kind),
        escape::line(client),
        escape::line(why),
        moment::shown(approval.asked_at),
        moment::shown(approval.expires_at),
    );
    if approval.requires_approval {
        text.push_str("  a person decides every call of it\n");
    }
    for line in escape::text(&approval.arguments).lines() {
        let _ = writeln!(text, "  | {line}");
    }
    text
}
