//! The plugin as rules see it: loaded types, each with its place, and what several rules ask of them.
//!
//! Everything is read here, once and within limits, before a rule runs; a rule opens no file.

mod functions;
mod hub;
mod names;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_listing::file::SnapshotFile;
use oz0_listing::{FunctionId, ToolId};
use oz0_plugin::manifest::{Action, Manifest, PartName, PolicyMatch, Tool};
use oz0_plugin::{LISTING, ListingState, LoadError, Plugin, SnapshotState, Spanned};
use oz0_policy::{Match, Rule as PolicyRule};

use crate::exemption::{self, Exemption};
use crate::metadata::RunsOn;
use crate::report::NotRun;
use crate::rules::Rule;

pub(crate) use functions::{Functions, Seen};
pub(crate) use hub::HubListing;
pub(crate) use names::Owner;

/// What the plugin says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Connector,
    Capability,
    Policy,
}

impl Kind {
    pub(crate) const WORDS: [&str; 3] = ["connector", "capability", "policy"];

    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "connector" => Some(Self::Connector),
            "capability" => Some(Self::Capability),
            "policy" => Some(Self::Policy),
            _ => None,
        }
    }
}

/// A remote tool's committed snapshot.
#[derive(Debug)]
pub(crate) enum Snapshot {
    /// There is none.
    Missing,
    /// What its author expects the server to list.
    Present(SnapshotFile),
    /// There is a file that cannot be read, or whose hashes are not its listings'.
    Unreadable(Box<Diagnostic>),
}

/// What is known of the measured listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Missing,
    Fresh,
    Stale,
    Unreadable,
}

/// A plugin as rules see it.
#[derive(Debug)]
pub(crate) struct View<'p> {
    plugin: &'p Plugin,
    manifest: &'p Manifest,
    state: ListingState,
    listing_source: Option<Arc<SourceFile>>,
    snapshots: BTreeMap<&'p str, Snapshot>,
    functions: Functions,
    hub: Option<HubListing>,
    hub_problems: Vec<Diagnostic>,
    exemptions: Vec<Exemption>,
    policy: Vec<PolicyRule<()>>,
    /// The index of each tool of the plugin's own.
    tools: HashMap<&'p str, usize>,
    parts: names::Parts<'p>,
}

impl<'p> View<'p> {
    /// `None` when the manifest has errors.
    pub(crate) fn of(plugin: &'p Plugin) -> Result<Option<Self>, LoadError> {
        let Some(manifest) = plugin.manifest() else { return Ok(None) };
        let state = plugin.listing_state()?;
        let mut snapshots = BTreeMap::new();
        for (key, _) in manifest.tools.iter().filter(|(_, tool)| tool.is_remote()) {
            let snapshot = match plugin.snapshot(&key.value)? {
                SnapshotState::Missing => Snapshot::Missing,
                SnapshotState::Present(file) => Snapshot::Present(file),
                SnapshotState::Unreadable(problem) => Snapshot::Unreadable(problem),
            };
            snapshots.insert(key.value.as_str(), snapshot);
        }
        let listing_source = match (state.listing(), plugin.file(LISTING)) {
            (Some(_), Some(file)) => {
                let text = plugin.read_file(file, file.len)?;
                Some(SourceFile::new(LISTING, String::from_utf8_lossy(&text)))
            }
            _ => None,
        };
        let functions = Functions::of(manifest, state.listing(), &snapshots);
        let (hub, hub_problems) = hub::read(plugin)?;
        Ok(Some(Self {
            plugin,
            manifest,
            state,
            listing_source,
            snapshots,
            functions,
            hub,
            hub_problems,
            exemptions: exemption::read(plugin.source(), plugin.comments()),
            policy: manifest.policy.iter().map(policy_rule).collect(),
            tools: manifest.tools.keys().map(|key| key.value.as_str()).zip(0..).collect(),
            parts: names::Parts::of(manifest),
        }))
    }

    pub(crate) fn plugin(&self) -> &'p Plugin {
        self.plugin
    }

    pub(crate) fn manifest(&self) -> &'p Manifest {
        self.manifest
    }

    pub(crate) fn hub(&self) -> Option<&HubListing> {
        self.hub.as_ref()
    }

    pub(crate) fn exemptions(&self) -> &[Exemption] {
        &self.exemptions
    }

    /// The plugin's suggested rules. A condition is there or is not; nobody here has arguments to hold it against.
    pub(crate) fn policy(&self) -> &[PolicyRule<()>] {
        &self.policy
    }

    /// What the plugin says it is, where it says one of the three.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.manifest.kind.as_ref().and_then(|kind| Kind::of(kind.as_str()))
    }

    /// What of an outside system the plugin holds: what it is, and its key.
    pub(crate) fn outside_system(&self) -> Vec<(&'static str, &'p Spanned<PartName>)> {
        let manifest = self.manifest;
        let connections = manifest.connections.keys().map(|key| ("connection", key));
        let sources = manifest.event_sources.keys().map(|key| ("event source", key));
        let channels = manifest.channels.keys().map(|key| ("channel", key));
        connections.chain(sources).chain(channels).collect()
    }

    /// Why a rule about connectors runs on this plugin: because of its kind, or of what it holds of an outside system; `None`
    /// when it does not run.
    pub(crate) fn connector_because(&self) -> Option<String> {
        if self.kind() == Some(Kind::Connector) {
            return Some(String::new());
        }
        let (what, key) = *self.outside_system().first()?;
        let name = &key.value;
        Some(format!("; with the {what} `{name}` the plugin is held to a connector's rules"))
    }

    pub(crate) fn listed(&self) -> Listed {
        match &self.state {
            ListingState::Missing => Listed::Missing,
            ListingState::Fresh(_) => Listed::Fresh,
            ListingState::Stale { .. } => Listed::Stale,
            ListingState::Unreadable(_) => Listed::Unreadable,
        }
    }

    pub(crate) fn state(&self) -> &ListingState {
        &self.state
    }

    /// The text of the measured listing, where it could be read.
    pub(crate) fn listing_source(&self) -> Option<&Arc<SourceFile>> {
        self.listing_source.as_ref()
    }

    pub(crate) fn snapshot(&self, tool: &str) -> Option<&Snapshot> {
        self.snapshots.get(tool)
    }

    /// The functions that the listing and the snapshots know, in the order of their IDs.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Seen<'_>> {
        self.functions.iter().map(|known| self.seen(known))
    }

    pub(crate) fn function(&self, id: &FunctionId) -> Option<Seen<'_>> {
        self.functions.get(id).map(|known| self.seen(known))
    }

    pub(crate) fn functions_of(&self, tool: &ToolId) -> impl Iterator<Item = Seen<'_>> {
        self.functions.of_tool(tool).map(|known| self.seen(known))
    }

    fn seen<'v>(&'v self, known: &'v functions::Known) -> Seen<'v> {
        let (key, tool) = &self.manifest.tools.iter().as_slice()[known.tool];
        Seen::new(self, known, key, tool)
    }

    /// A tool of the plugin's own, with its key.
    pub(crate) fn tool(&self, id: &str) -> Option<(&'p Spanned<ToolId>, &'p Spanned<Tool>)> {
        let index = *self.tools.get(id)?;
        let (key, tool) = &self.manifest.tools.iter().as_slice()[index];
        Some((key, tool))
    }

    /// What could not be read, each with its finding; snapshots only where `snapshots` says so.
    pub(crate) fn unreadable(&self, snapshots: bool) -> impl Iterator<Item = &Diagnostic> {
        let listing = match &self.state {
            // What is too large to be looked at, the loader has said.
            ListingState::Unreadable(problem) if problem.check.code != "OZ-L021" => {
                Some(&**problem)
            }
            _ => None,
        };
        let of_snapshots = self.snapshots.values().filter_map(move |snapshot| match snapshot {
            Snapshot::Unreadable(problem) if snapshots => Some(&**problem),
            _ => None,
        });
        listing.into_iter().chain(of_snapshots).chain(&self.hub_problems)
    }

    /// Which of these rules do not run on this plugin, and which not on everything of it. That a rule is about another kind
    /// of plugin is told where it was `asked` for; of a rule that stands on a kind that the manifest does not say, always.
    pub(crate) fn not_run(
        &self,
        wanted: &[&'static Rule],
        asked: bool,
    ) -> (Vec<NotRun>, Vec<NotRun>) {
        let (mut by_kind, mut in_part) = (Vec::new(), Vec::new());
        for rule in wanted {
            let code = rule.metadata.code;
            let off = self.off_kind(rule.metadata.runs_on);
            if let Some(reason) = off.filter(|_| asked || self.kind().is_none()) {
                by_kind.push(NotRun { code, reason });
            } else if rule.metadata.reads_functions {
                in_part.extend(self.unknown_tools().map(|reason| NotRun { code, reason }));
            }
        }
        (by_kind, in_part)
    }

    /// Why a rule about these plugins does not run on this one, in a clause; `None` when it does.
    pub(crate) fn off_kind(&self, runs_on: RunsOn) -> Option<String> {
        let on_it = match runs_on {
            RunsOn::EveryPlugin => true,
            RunsOn::Capabilities => self.kind() == Some(Kind::Capability),
            RunsOn::Connectors => self.connector_because().is_some(),
        };
        let said = self.manifest.kind.as_ref().filter(|_| self.kind().is_some());
        match said {
            _ if on_it => None,
            None => Some("the manifest does not say one of the three kinds".to_owned()),
            Some(kind) => Some(format!(
                "runs on {}, and this plugin says it is a {}",
                runs_on.phrase(),
                kind.as_str()
            )),
        }
    }

    /// Why some tools' functions are not known, in a clause; `None` when all are.
    fn unknown_tools(&self) -> Option<String> {
        let unknown: Vec<&str> = self
            .manifest
            .tools
            .keys()
            .map(|key| key.value.as_str())
            .filter(|tool| !self.functions.knows(tool))
            .collect();
        match unknown.as_slice() {
            [] => None,
            [tool] => Some(format!("nothing is known of the functions of the tool {tool}")),
            [first, rest @ ..] => Some(format!(
                "nothing is known of the functions of the tool {first} and {} more",
                rest.len()
            )),
        }
    }
}

fn policy_rule(rule: &Spanned<oz0_plugin::manifest::Rule>) -> PolicyRule<()> {
    let matches = match &rule.matches.value {
        PolicyMatch::All => Match::All,
        PolicyMatch::Tool(tool) => Match::Tool(tool.to_string()),
        PolicyMatch::Function(function) => Match::Function {
            tool: function.tool().to_string(),
            name: function.function().to_owned(),
        },
    };
    let action = match rule.action.value {
        Action::Allow => oz0_policy::Action::Allow,
        Action::Ask => oz0_policy::Action::Ask,
        Action::Refuse => oz0_policy::Action::Refuse,
        Action::Judge => oz0_policy::Action::Judge,
    };
    PolicyRule { matches, action, condition: (!rule.when.is_empty()).then_some(()) }
}

/// The span of a text inside a file, where it stands there; else the file's beginning.
pub(crate) fn find(source: &Arc<SourceFile>, text: &str) -> Span {
    match source.text().find(text) {
        Some(at) => Span::new(source, at..at + text.len()),
        None => Span::start_of(source),
    }
}
