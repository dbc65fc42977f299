//! What `oz0 plugin install` and `update` show before they install: another version's functions beside those that are approved
//! now, and what it asks for beyond the installed version.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use oz0_api::change::Change;
use oz0_api::plugin::{PluginDescription, PluginStatus, Source};
use oz0_api::update::{Difference, Expected, differences};
use oz0_api::{Client, Code};
use oz0_listing::Function;
use oz0_node::Asked;
use oz0_plugin::{LISTING, ListingState, Plugin, SnapshotState};
use serde_json::json;

use super::install::Wanted;
use super::{change, shown};
use crate::exit::{Exit, Refused};
use crate::output::Output;
use crate::terminal;
use crate::words::{count, joined};

/// What a plugin says that its tools list: in its measured listing, if that is of its files, and in the committed snapshots
/// of its remote tools.
pub(super) fn expected(plugin: &Plugin) -> Result<Expected> {
    let mut expected = Expected::default();
    let Some(manifest) = plugin.manifest() else { return Ok(expected) };
    let measured = match plugin.listing_state()? {
        ListingState::Fresh(listing) => Some(listing.functions),
        ListingState::Missing | ListingState::Stale { .. } | ListingState::Unreadable(_) => None,
    };
    for (key, tool) in &manifest.tools {
        let id = &key.value;
        let functions = if tool.is_remote() {
            match plugin.snapshot(id)? {
                SnapshotState::Present(snapshot) => Some(snapshot.functions),
                SnapshotState::Missing | SnapshotState::Unreadable(_) => None,
            }
        } else {
            let own = |all: &Vec<Function>| {
                all.iter().filter(|function| function.id.tool() == *id).cloned().collect()
            };
            measured.as_ref().map(own)
        };
        match functions {
            Some(functions) => expected.functions.extend(functions),
            None => {
                expected.unknown.insert(id.clone());
            }
        }
    }
    Ok(expected)
}

/// A version that is to be installed, beside what is installed.
pub(super) struct Update<'a> {
    new: &'a PluginDescription,
    expected: Expected,
    installed: Option<PluginStatus>,
    changes: Vec<Change>,
    /// What it asks for beyond the installed version, in words.
    more: Vec<String>,
}

/// What a version asks for beyond the installed one, whose bundle the edge keeps. A folder that is run in place is not there to
/// be read.
async fn beyond(client: &Client, installed: &PluginStatus, asks: &Asked) -> Result<Vec<String>> {
    if installed.source != Source::Bundle {
        return Ok(Vec::new());
    }
    let bytes = client.bundle(installed.digest).await?;
    let name = format!("the bundle of {} {}", installed.name, installed.version);
    let bundle = oz0_bundle::read(&bytes[..], Path::new(&name)).with_context(|| {
        format!("the edge sent no bundle of {} {}", installed.name, installed.version)
    })?;
    let before = bundle.plugin.manifest().map(Asked::by).unwrap_or_default();
    Ok(asks.beyond(&before))
}

impl<'a> Update<'a> {
    /// Asks the edge what is installed, and compares.
    pub(super) async fn look(
        client: &Client,
        new: &'a PluginDescription,
        expected: Expected,
        asks: &Asked,
    ) -> Result<Self> {
        let installed = match client.plugin(&new.name).await {
            Ok(installed) => Some(installed),
            Err(error) if error.code() == Some(Code::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        let changes = match &installed {
            Some(installed) => differences(installed, &client.catalog().await?, new, &expected)
                .with_context(|| format!("the edge sent a listing of {} that is none", new.name))?,
            None => Vec::new(),
        };
        let more = match &installed {
            Some(installed) if installed.digest != new.digest => {
                beyond(client, installed, asks).await?
            }
            _ => Vec::new(),
        };
        Ok(Self { new, expected, installed, changes, more })
    }

    /// Whether these very files are installed under this version already.
    pub(super) fn is_installed(&self) -> bool {
        self.installed.as_ref().is_some_and(|installed| {
            (&installed.version, &installed.digest) == (&self.new.version, &self.new.digest)
        })
    }

    /// Whether these very files run on some nodes already, as a candidate: somebody has agreed to them.
    fn is_candidate(&self) -> bool {
        let installed = self.installed.as_ref();
        installed.and_then(|installed| installed.candidate.as_ref()).is_some_and(|candidate| {
            let own = &candidate.status;
            (&own.version, &own.digest) == (&self.new.version, &self.new.digest)
        })
    }

    /// Prints it, and does nothing.
    pub(super) fn show(&self, as_json: bool, output: Output) -> Result<Exit> {
        let Self { new, expected, installed, changes, more } = self;
        if as_json {
            output.json(&json!({
                "plugin": new.name,
                "version": new.version,
                "digest": new.digest,
                "installed": installed.as_ref().map(|installed| &installed.version),
                "changes": changes.iter().map(Difference::from).collect::<Vec<_>>(),
                "unknown": expected.unknown,
                "asks_more": more,
            }))?;
        } else {
            output.data(&self.text(output)?)?;
        }
        Ok(Exit::Done)
    }

    /// Shows it, and whether it is to be installed: by `--yes`, because nothing differs, or because somebody says so.
    pub(super) fn agreed(&self, wanted: &Wanted<'_>, output: Output) -> Result<bool> {
        let Some(installed) = &self.installed else {
            output.say(self.text(output)?.trim_end());
            return Ok(true);
        };
        let same =
            self.changes.is_empty() && self.expected.unknown.is_empty() && self.more.is_empty();
        if self.is_installed() || self.is_candidate() || same {
            return Ok(true);
        }
        let text = self.text(output)?;
        if wanted.yes {
            output.say(text.trim_end());
            return Ok(true);
        }
        output.error_line(text.trim_end());
        let PluginDescription { name, version, .. } = self.new;
        let verb = if wanted.terms.update { "update" } else { "install" };
        if wanted.json || !terminal::is_there() {
            let what = if !self.more.is_empty() {
                "it asks for more than"
            } else if self.changes.is_empty() {
                "what it lists cannot be compared with"
            } else {
                "its functions are not those of"
            };
            let what = format!(
                "{name} {version} was not installed: {what} {}, which is installed",
                installed.version
            );
            return Err(Refused::new(what)
                .hint(format!(
                    "once somebody has looked at it, install it with: oz0 plugin {verb} … --yes"
                ))
                .into());
        }
        let how = if wanted.terms.rollout.is_some() { "beside" } else { "in place of" };
        let question = format!("\nInstall {name} {version} {how} {}? [y/N] ", installed.version);
        let agreed = terminal::agrees(&question)?;
        if !agreed {
            output.say(&format!("not installed: {} goes on", installed.version));
        }
        Ok(agreed)
    }

    fn text(&self, output: Output) -> Result<String> {
        let Self { new, expected, installed, changes, more } = self;
        let mut text = String::new();
        match installed {
            // Where nothing is known, the last lines say so.
            None if expected.functions.is_empty() && !expected.unknown.is_empty() => {}
            None => {
                let functions = count(expected.functions.len(), "function");
                let _ = writeln!(text, "{} {} lists {functions}", new.name, new.version);
                for function in &expected.functions {
                    shown::function_line(&mut text, function);
                }
            }
            Some(_) if self.is_installed() => {
                let _ =
                    writeln!(text, "{} {} is installed, with these files", new.name, new.version);
            }
            Some(installed) => {
                let _ = writeln!(
                    text,
                    "{} {}, beside what is approved of {}, which is installed:",
                    new.name, new.version, installed.version
                );
                let layout = change::layout(output);
                for change in changes {
                    text.push('\n');
                    change::write_unlisted(&mut text, change, layout)?;
                }
                if !more.is_empty() {
                    text.push_str("\nit asks for what that one does not ask for:\n");
                    for more in more {
                        let more = oz0_listing::escape::line(more);
                        for (at, line) in layout.plain_lines(&more, 4).into_iter().enumerate() {
                            let margin = if at == 0 { "  * " } else { "    " };
                            let _ = writeln!(text, "{margin}\u{1b}[1;33m{line}\u{1b}[0m");
                        }
                    }
                }
                if changes.is_empty() && expected.unknown.is_empty() {
                    let functions = count(expected.functions.len(), "function");
                    let _ = writeln!(text, "no difference in {functions}");
                }
            }
        }
        if !self.is_installed() && !expected.unknown.is_empty() {
            let _ = writeln!(
                text,
                "nothing fresh says what {} lists (for a server that it starts, {LISTING}: oz0 plugin test; for a remote \
                 one, its committed snapshot): its functions will be those of the first listing",
                joined(&expected.unknown)
            );
        }
        Ok(text)
    }
}
