//! `oz0 audit`: the log, as it is and as it grows, and the check of its chains.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::audit::{AuditEntry, AuditQuery};
use oz0_api::{Client, UnixMillis};
use oz0_listing::escape;
use serde_json::json;

use crate::cli::{self, AuditCommand, ReadAudit};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, WrongUsage};
use crate::moment;
use crate::output::Output;
use crate::words::{count, joined};

/// Entries that are read at once.
const PAGE: u32 = 1000;

/// How long one question of a follower waits, in seconds.
const WAIT: u64 = 30;

/// The digits of a hash that are printed for people.
const SHORT: usize = 12;

pub(crate) fn run(arguments: &cli::Audit, settings: &Settings, output: Output) -> Result<Exit> {
    match &arguments.command {
        Some(AuditCommand::Verify { json }) => {
            edge::ask(settings, async |client| verify(&client, *json, output).await)
        }
        None => {
            let filter = Filter::new(&arguments.read)?;
            edge::ask(settings, async |client| read(&client, &filter, output).await)
        }
    }
}

/// Which entries are printed.
struct Filter<'a> {
    arguments: &'a ReadAudit,
    since: Option<UnixMillis>,
}

impl<'a> Filter<'a> {
    fn new(arguments: &'a ReadAudit) -> Result<Self> {
        let since = arguments.since.as_deref().map(|text| {
            moment::parse(text).ok_or_else(|| {
                WrongUsage(format!(
                    "--since is `{}`: it is a span such as 2h, or a time such as 2026-05-01T12:00:00Z",
                    escape::line(text)
                ))
            })
        });
        Ok(Self { arguments, since: since.transpose()? })
    }

    fn takes(&self, entry: &AuditEntry) -> bool {
        let ReadAudit { plugin, function, action, actor, .. } = self.arguments;
        let begins = |with: &String| {
            entry
                .action
                .strip_prefix(with.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.since.is_none_or(|since| entry.at >= since)
            && (plugin.is_none() || entry.subject.plugin == *plugin)
            && function.as_ref().is_none_or(|function| {
                entry.subject.functions.keys().any(|id| id.to_string() == *function)
            })
            && (action.is_empty() || action.iter().any(begins))
            && actor.as_ref().is_none_or(|actor| entry.actor == *actor)
    }
}

async fn read(client: &Client, filter: &Filter<'_>, output: Output) -> Result<Exit> {
    let ReadAudit { follow, after, last, json, .. } = filter.arguments;
    let mut query = AuditQuery { after: *after, limit: Some(PAGE), wait: None };
    let mut kept = VecDeque::new();
    let mut printed = false;
    loop {
        let page = client.audit(&query).await?;
        for entry in page.entries.iter().filter(|entry| filter.takes(entry)) {
            match last {
                Some(last) => {
                    kept.push_back(entry.clone());
                    if kept.len() > *last {
                        kept.pop_front();
                    }
                }
                None => {
                    print(entry, *json, output)?;
                    printed = true;
                }
            }
        }
        query.after = page.next;
        if !page.more {
            break;
        }
    }
    for entry in &kept {
        print(entry, *json, output)?;
        printed = true;
    }
    if *follow {
        query.wait = Some(WAIT);
        loop {
            let page = client.audit(&query).await?;
            for entry in page.entries.iter().filter(|entry| filter.takes(entry)) {
                print(entry, *json, output)?;
            }
            query.after = page.next;
        }
    }
    if !printed {
        output.say("no entry is such");
    }
    Ok(Exit::Done)
}

fn print(entry: &AuditEntry, as_json: bool, output: Output) -> Result<()> {
    let text = if as_json { json!(entry).to_string() } else { line(entry) };
    Ok(output.data(&text)?)
}

/// An entry on one line, what was done first.
fn line(entry: &AuditEntry) -> String {
    let AuditEntry { at, actor, action, subject, .. } = entry;
    let mut text = format!(
        "{}  \u{1b}[1m{}\u{1b}[0m by {}",
        moment::shown(*at),
        escape::line(action),
        escape::line(actor)
    );
    if let Some(plugin) = &subject.plugin {
        let _ = write!(text, "  {plugin}");
        if let Some(version) = &subject.version {
            let _ = write!(text, " {version}");
        }
    }
    if !subject.functions.is_empty() {
        let functions = subject.functions.iter().map(|(id, hash)| match hash {
            Some(hash) => format!("{id} {}", short(hash)),
            None => id.to_string(),
        });
        let _ = write!(text, "  {}", joined(functions));
    } else if let Some(tool) = &subject.tool {
        let _ = write!(text, "  {tool}");
    }
    if let Some(node) = &subject.node {
        let _ = write!(text, "  on {node}");
    }
    for (name, value) in &subject.detail {
        let _ = write!(text, "  {}={}", escape::line(name), short(value));
    }
    text
}

/// A hash or an ID by its first digits, another text as it is: `--json` has them whole.
fn short(text: &str) -> Cow<'_, str> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    if digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Cow::Borrowed(&text[..text.len() - 64 + SHORT]);
    }
    escape::line(text)
}

async fn verify(client: &Client, as_json: bool, output: Output) -> Result<Exit> {
    let check = client.verify_audit().await?;
    let exit = if check.faults.is_empty() { Exit::Done } else { Exit::Findings };
    if as_json {
        output.json(&json!(check))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for chain in &check.chains {
        let entries = if chain.entries == 1 { "entry" } else { "entries" };
        let _ = writeln!(
            text,
            "edge {}: {} {entries}, the last has the hash\n  {}",
            chain.edge, chain.entries, chain.head
        );
    }
    if !text.is_empty() {
        output.data(&text)?;
    }
    for fault in &check.faults {
        let place = if fault.seq > 0 { format!(", entry {}", fault.seq) } else { String::new() };
        output.error_line(&format!(
            "\u{1b}[1;31merror\u{1b}[0m: edge {}{place}: {}",
            escape::line(&fault.edge),
            escape::line(&fault.what)
        ));
    }
    if check.faults.is_empty() {
        output.say(
            "nothing was edited, removed, inserted or moved, as far as the log itself can tell",
        );
    } else {
        output.error_line(&format!(
            "{} in the audit log\nhint: trust nothing that it says since the first of them, and compare the last hash you wrote down",
            count(check.faults.len(), "fault")
        ));
    }
    Ok(exit)
}
