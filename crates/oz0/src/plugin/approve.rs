//! `oz0 plugin approve-tools`: shows what changed, asks, and approves exactly what was shown.
//!
//! What is sent to the edge is the IDs of the changes that were shown, each a hash over what is listed. So a server that lists
//! something else while a person reads gains nothing: the edge refuses that ID, and here the new text is shown. For the same
//! reason an ID is taken in short only where the change is shown before it is approved: a server could search for a listing
//! whose ID begins as the one that was looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::change::{Approve, Approved, Change, ChangeKind, Changes};
use oz0_api::plugin::FunctionState;
use oz0_api::{ChangeId, Client, PluginName};
use oz0_listing::FunctionId;
use serde_json::json;

use super::change;
use crate::cli::ApproveTools;
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::output::Output;
use crate::terminal;
use crate::words::count;

pub(crate) fn run(arguments: &ApproveTools, settings: &Settings, output: Output) -> Result<Exit> {
    let asks = !arguments.show && !arguments.yes;
    if arguments.json && asks {
        return Err(WrongUsage("--json goes with --show, or with --yes".to_owned()).into());
    }
    if asks && !terminal::is_there() {
        return Err(WrongUsage(
            "nobody can be asked here: this is no terminal. `--show` shows what waits, and `--yes` with `--change ID` \
             approves what was looked at"
                .to_owned(),
        )
        .into());
    }
    let whole = arguments.change.iter().map(|id| id.parse()).collect::<Result<Vec<ChangeId>, _>>();
    let named = match whole {
        Ok(ids) if arguments.yes => ids,
        Err(_) if arguments.yes => {
            return Err(WrongUsage(
                "--yes takes whole IDs, of 64 digits: a server can make a listing whose ID begins as another's does. \
                 `--show --json` prints them whole"
                    .to_owned(),
            )
            .into());
        }
        _ => Vec::new(),
    };
    edge::ask(settings, async |client| {
        let open = client.changes(&arguments.name).await?;
        if arguments.yes {
            return approve_named(&client, arguments, &open, named, output).await;
        }
        let chosen = choose(&client, arguments, open).await?;
        if arguments.show {
            return show(&chosen, arguments.json, output);
        }
        ask(&client, &chosen, output).await
    })
}

/// What of the open changes was asked for.
async fn choose(client: &Client, arguments: &ApproveTools, open: Changes) -> Result<Changes> {
    let ApproveTools { name, change: ids, function: functions, .. } = arguments;
    let mut wanted = BTreeSet::new();
    for id in ids {
        let begun: Vec<&Change> =
            open.changes.iter().filter(|change| change.id.as_str().starts_with(id)).collect();
        match begun[..] {
            [one] => {
                wanted.insert(one.id.clone());
            }
            [] => {
                return Err(Refused::new(format!(
                    "no change of {name} that waits begins with {id}"
                ))
                .hint(format!("`oz0 plugin approve-tools {name} --show` shows those that do"))
                .into());
            }
            _ => {
                return Err(WrongUsage(format!(
                    "several changes of {name} begin with {id}: give more of its digits"
                ))
                .into());
            }
        }
    }
    if !functions.is_empty() {
        known(client, name, &open, functions).await?;
    }
    let Changes { plugin, changes } = open;
    let changes = changes
        .into_iter()
        .filter(|change| ids.is_empty() || wanted.contains(&change.id))
        .filter(|change| functions.is_empty() || functions.iter().any(|id| change.concerns(id)))
        .collect();
    Ok(Changes { plugin, changes })
}

/// A function that nobody knows is a slip, and not one of which nothing waits.
async fn known(
    client: &Client,
    name: &PluginName,
    open: &Changes,
    functions: &[FunctionId],
) -> Result<()> {
    let waits = |id: &FunctionId| open.changes.iter().any(|change| change.concerns(id));
    if functions.iter().all(waits) {
        return Ok(());
    }
    let plugin = client.plugin(name).await?;
    let candidate = plugin.candidate.iter().flat_map(|candidate| &candidate.status.functions);
    let known: Vec<String> =
        plugin.functions.iter().chain(candidate).map(|own| own.id.to_string()).collect();
    for id in functions.iter().filter(|id| !waits(id)) {
        let id = id.to_string();
        if !known.contains(&id) {
            let refused = Refused::new(format!("{name} has no function {id}"));
            let close = oz0_diagnostic::did_you_mean(&id, known.iter().map(String::as_str));
            return Err(match close {
                Some(close) => refused.hint(format!("did you mean {close}?")),
                None => refused.hint("`oz0 catalog` shows the functions"),
            }
            .into());
        }
    }
    Ok(())
}

fn nothing_waits(plugin: &PluginName, output: Output) -> Exit {
    output.say(&format!("nothing of {plugin} waits for approval"));
    Exit::Done
}

fn show(changes: &Changes, as_json: bool, output: Output) -> Result<Exit> {
    if as_json {
        output.json(&json!(changes))?;
        return Ok(Exit::Done);
    }
    if changes.changes.is_empty() {
        return Ok(nothing_waits(&changes.plugin, output));
    }
    print(&changes.changes.iter().collect::<Vec<_>>(), output)?;
    let mut hint =
        format!("hint: approve all of it with: oz0 plugin approve-tools {} --yes", changes.plugin);
    for change in &changes.changes {
        let _ = write!(hint, " \\\n  --change {}", change.id);
    }
    output.say(&hint);
    Ok(Exit::Done)
}

fn print(changes: &[&Change], output: Output) -> Result<()> {
    let layout = change::layout(output);
    let mut text = String::new();
    let versions: BTreeSet<_> = changes.iter().map(|change| &change.version).collect();
    for change in changes {
        if versions.len() > 1 {
            let _ = writeln!(text, "In {} {}:", change.plugin, change.version);
        }
        change::write(&mut text, change, layout)?;
        text.push('\n');
    }
    Ok(output.data(text.trim_end())?)
}

/// Shows and asks, one change after the other; then approves those that were said yes to.
async fn ask(client: &Client, changes: &Changes, output: Output) -> Result<Exit> {
    let Changes { plugin, changes } = changes;
    if changes.is_empty() {
        return Ok(nothing_waits(plugin, output));
    }
    let layout = change::layout(output);
    let mut yes = Vec::new();
    let mut asked = 0;
    for (at, change) in changes.iter().enumerate() {
        let mut text = format!("\nChange {} of {}: ", at + 1, changes.len());
        if changes.iter().any(|other| other.version != change.version) {
            let _ = write!(text, "in {plugin} {}: ", change.version);
        }
        change::write(&mut text, change, layout)?;
        output.data(&text)?;
        let answer =
            terminal::ask(&format!("\nApprove this change of {}? [y/N/q] ", change.subject()))?;
        let answer = answer.map(|answer| answer.to_ascii_lowercase());
        match answer.as_deref() {
            Some("y" | "yes") => yes.push(change.id.clone()),
            // The end of the input is no answer, to this question or the next.
            Some("q" | "quit") | None => break,
            Some(_) => {}
        }
        asked = at + 1;
    }
    let left = changes.len() - yes.len();
    if asked < changes.len() {
        output.say(&format!("stopped before change {} of {}", asked + 1, changes.len()));
    }
    let mut exit = Exit::Done;
    if !yes.is_empty() {
        let approved = client.approve(plugin, &Approve { changes: yes }).await?;
        exit = tell(client, plugin, &approved, changes, output).await?;
    }
    if left > 0 {
        output.say(&format!(
            "{} not approved: what it is about stays refused",
            count(left, "change")
        ));
        exit = Exit::Findings;
    }
    Ok(exit)
}

/// Approves without asking what was named by whole IDs.
async fn approve_named(
    client: &Client,
    arguments: &ApproveTools,
    open: &Changes,
    ids: Vec<ChangeId>,
    output: Output,
) -> Result<Exit> {
    if !arguments.function.is_empty() {
        let other = open.changes.iter().find(|change| {
            ids.contains(&change.id) && !arguments.function.iter().any(|id| change.concerns(id))
        });
        if let Some(other) = other {
            return Err(WrongUsage(format!(
                "change {} is of {}, which --function does not name",
                other.id.short(),
                other.subject()
            ))
            .into());
        }
    }
    let plugin = &arguments.name;
    let approved = client.approve(plugin, &Approve { changes: ids }).await?;
    if arguments.json {
        output.json(
            &json!({"plugin": plugin, "approved": approved.approved, "stale": approved.stale}),
        )?;
        return Ok(if approved.stale.is_empty() { Exit::Done } else { Exit::Findings });
    }
    tell(client, plugin, &approved, &open.changes, output).await
}

/// Functions that stay uncalled when they are approved, each with whose its name is.
async fn left_out(
    client: &Client,
    plugin: &PluginName,
    approved: &Approved,
) -> Result<BTreeMap<FunctionId, String>> {
    if approved.approved.is_empty() {
        return Ok(BTreeMap::new());
    }
    let status = client.plugin(plugin).await?;
    let of_another = status.functions.into_iter().filter_map(|function| match function.state {
        FunctionState::LeftOut { plugin, function: other } => {
            Some((function.id, format!("{other} of {plugin}")))
        }
        _ => None,
    });
    Ok(of_another.collect())
}

/// Says what an approval did, and shows anew what moved under it.
async fn tell(
    client: &Client,
    plugin: &PluginName,
    approved: &Approved,
    shown: &[Change],
    output: Output,
) -> Result<Exit> {
    let left_out = left_out(client, plugin, approved).await?;
    for change in &approved.approved {
        let subject =
            change.function.as_ref().map_or_else(|| change.tool.to_string(), ToString::to_string);
        let other = change.function.as_ref().and_then(|function| left_out.get(function));
        let what = match (change.kind, other) {
            (ChangeKind::Gone, _) => "it is no longer part of the plugin's tools",
            (_, Some(other)) => &format!(
                "it stays left out all the same, since {other} was the first that models know by its name"
            ),
            (ChangeKind::Changed | ChangeKind::New, None) => "nodes call it as it lists itself now",
            (ChangeKind::Endpoint, None) => "nodes call it at its new endpoint",
        };
        output.data(&format!("approved {subject}: {what}"))?;
    }
    if approved.stale.is_empty() {
        return Ok(Exit::Done);
    }
    let now = client.changes(plugin).await?;
    let mut anew: Vec<&Change> = Vec::new();
    for id in &approved.stale {
        let Some(old) = shown.iter().find(|change| change.id == *id) else {
            output.error_line(&format!(
                "not approved: {}: nothing of {plugin} lists itself so now: it changed again, went back, or was approved \
                 before",
                id.short()
            ));
            // Of which function it was is not known, so everything that waits may be what it became.
            anew.extend(&now.changes);
            continue;
        };
        if now.changes.iter().any(|change| change.id == *id) {
            output.error_line(&format!(
                "not approved: {}: its server does not list it so now, and lists nothing that it could be instead",
                old.subject()
            ));
            continue;
        }
        let before = anew.len();
        anew.extend(
            now.changes
                .iter()
                .filter(|change| change.tool == old.tool && change.function == old.function),
        );
        let what = if anew.len() > before {
            "it changed again while it was looked at"
        } else {
            "it went back meanwhile, or somebody else approved it"
        };
        output.error_line(&format!("not approved: {}: {what}", old.subject()));
    }
    let mut told = BTreeSet::new();
    anew.retain(|change| told.insert(&change.id));
    if !anew.is_empty() {
        output.say("this is what waits now");
        print(&anew, output)?;
        output.say(&format!("hint: look at it and decide with: oz0 plugin approve-tools {plugin}"));
    }
    Ok(Exit::Findings)
}
