//! Changes in the words that people read, the same in every command, log and page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use oz0_listing::diff::{self, Passage};
use oz0_listing::{FunctionId, Listing, ToolId, Unlistable};
use serde_json::value::RawValue;

use crate::change::{Change, ChangeKind, Shown};
use crate::id::{ChangeId, Endpoint, NodeName, PluginName};
use crate::plugin::{FunctionState, PluginStatus};

/// The digits of a change's ID that tell changes apart at a glance. Never enough to approve by: a server chooses what it
/// lists, and can search for a listing whose ID begins as another's does.
const SHORT: usize = 12;

impl ChangeId {
    /// The start of it, to tell changes apart by when they are looked at. An approval names the whole of it.
    pub fn short(&self) -> &str {
        &self.as_str()[..SHORT]
    }
}

impl Shown {
    /// The listing, of a function.
    pub fn listing(&self) -> Option<Result<Listing, Unlistable>> {
        self.listing.as_deref().map(RawValue::get).map(|raw| Listing::read(raw, &[]))
    }
}

impl Change {
    /// What it is a change of: the function, or the tool whose endpoint moved.
    pub fn subject(&self) -> String {
        self.function.as_ref().map_or_else(|| self.tool.to_string(), ToString::to_string)
    }

    /// Whether an approval of it concerns this function.
    pub fn concerns(&self, function: &FunctionId) -> bool {
        match &self.function {
            Some(own) => own == function,
            None => self.tool == function.tool(),
        }
    }

    /// The places of the listing that changed; none for an endpoint. An error for a listing that is not one, which no edge of
    /// this version sends.
    pub fn passages(&self) -> Result<Vec<Passage>, Unlistable> {
        let side = |shown: &Option<Shown>| shown.as_ref().and_then(Shown::listing).transpose();
        Ok(match (side(&self.accepted)?, side(&self.listed)?) {
            (Some(old), Some(new)) => diff::passages(&diff::compare(&old, &new).texts),
            (None, Some(new)) => diff::members(&new, true),
            (Some(old), None) => diff::members(&old, false),
            (None, None) => Vec::new(),
        })
    }

    /// Where a tool's calls went and would go, of an endpoint that moved.
    pub fn endpoints(&self) -> Option<(Option<&Endpoint>, &Endpoint)> {
        let accepted = self.accepted.as_ref().and_then(|shown| shown.endpoint.as_ref());
        Some((accepted, self.listed.as_ref()?.endpoint.as_ref()?))
    }

    /// The line that stands for an endpoint that moved: `endpoint moved: TOOL: OLD -> NEW`.
    pub fn move_line(&self) -> Option<String> {
        let (old, new) = self.endpoints()?;
        Some(move_line(&self.tool, old.map_or("nowhere", Endpoint::as_str), new.as_str()))
    }

    /// What happened, after the subject: `lists itself differently`.
    pub fn what(&self) -> &'static str {
        match self.kind {
            ChangeKind::Changed => "lists itself differently",
            ChangeKind::New => "is new",
            ChangeKind::Gone => "is gone: its server no longer lists it",
            ChangeKind::Endpoint => "moved to another endpoint",
        }
    }
}

fn move_line(tool: &ToolId, old: &str, new: &str) -> String {
    format!("endpoint moved: {tool}: {old} -> {new}")
}

/// What waits for approval in a plugin on one node, or on several that see the same.
///
/// Displayed as two kinds of lines, without the last line end:
///
/// ```text
/// Tools of weather changed on node-1: wx.today. Nodes do not call them until you approve: oz0 plugin approve-tools weather
///   endpoint moved: wx: https://mcp.example.com -> https://mcp.other.example
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The plugin.
    pub plugin: PluginName,
    /// The nodes; none where no node has listed the tool since its endpoint moved.
    pub nodes: Vec<NodeName>,
    /// The functions that are not called.
    pub functions: BTreeSet<FunctionId>,
    /// Tools whose endpoint moved, with both endpoints.
    pub moves: Vec<String>,
    /// The changes that it stands for.
    pub changes: Vec<ChangeId>,
    /// Tools that moved and of which no function is known.
    pub tools: BTreeSet<ToolId>,
}

impl Announcement {
    /// What a node says at the moment that it sees it, before the edge shows it.
    pub fn of_tool(
        plugin: &PluginName,
        node: &NodeName,
        tool: &ToolId,
        functions: &[FunctionId],
        moved: Option<&(Endpoint, Endpoint)>,
    ) -> Self {
        // Of a tool that could not be listed at its new endpoint nobody knows the functions.
        let tools =
            if functions.is_empty() { BTreeSet::from([tool.clone()]) } else { BTreeSet::new() };
        Self {
            plugin: plugin.clone(),
            nodes: vec![node.clone()],
            functions: functions.iter().cloned().collect(),
            moves: moved
                .map(|(old, new)| move_line(tool, old.as_str(), new.as_str()))
                .into_iter()
                .collect(),
            changes: Vec::new(),
            tools,
        }
    }
}

impl fmt::Display for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, nodes, functions, moves, tools, .. } = self;
        write!(f, "Tools of {plugin} changed")?;
        list(f, " on ", nodes.iter())?;
        f.write_str(": ")?;
        list(
            f,
            "",
            functions
                .iter()
                .map(|id| id as &dyn fmt::Display)
                .chain(tools.iter().map(|id| id as &dyn fmt::Display)),
        )?;
        write!(f, ". Nodes do not call them until you approve: oz0 plugin approve-tools {plugin}")?;
        for line in moves {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    before: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (at, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if at == 0 { before } else { ", " })?;
    }
    Ok(())
}

impl PluginStatus {
    /// What waits for approval, in the words of `plugin list`: one announcement for each set of nodes that see the same.
    pub fn announcements(&self) -> Vec<Announcement> {
        self.announcements_of(|_| true)
    }

    /// The same of some of the changes, such as those that were not announced yet.
    pub fn announcements_of(&self, wanted: impl Fn(&Change) -> bool) -> Vec<Announcement> {
        let mut by_node: BTreeMap<Option<&NodeName>, Vec<&Change>> = BTreeMap::new();
        for change in self.changes.iter().filter(|change| wanted(change)) {
            if change.nodes.is_empty() {
                by_node.entry(None).or_default().push(change);
            }
            for seen in &change.nodes {
                by_node.entry(Some(&seen.node)).or_default().push(change);
            }
        }
        let mut announcements: Vec<Announcement> = Vec::new();
        for (node, changes) in by_node {
            let ids: Vec<ChangeId> = changes.iter().map(|change| change.id.clone()).collect();
            match announcements.iter_mut().find(|one| one.changes == ids && !one.nodes.is_empty()) {
                Some(same) => same.nodes.extend(node.cloned()),
                None => announcements.push(self.announcement(node, &changes, ids)),
            }
        }
        announcements
    }

    fn announcement(
        &self,
        node: Option<&NodeName>,
        changes: &[&Change],
        ids: Vec<ChangeId>,
    ) -> Announcement {
        let mut functions = BTreeSet::new();
        let mut tools = BTreeSet::new();
        for change in changes {
            if let Some(function) = &change.function {
                functions.insert(function.clone());
                continue;
            }
            // What waits is what is listed there, or, where nobody could list it, what was called before.
            let mut waiting: Vec<FunctionId> = change.functions.clone();
            if waiting.is_empty() {
                let own = self.functions.iter().filter(|function| {
                    function.id.tool() == change.tool
                        && function.state == FunctionState::EndpointWaiting
                });
                waiting.extend(own.map(|function| function.id.clone()));
            }
            if waiting.is_empty() {
                tools.insert(change.tool.clone());
            }
            functions.extend(waiting);
        }
        Announcement {
            plugin: self.name.clone(),
            nodes: node.cloned().into_iter().collect(),
            functions,
            moves: changes.iter().filter_map(|change| change.move_line()).collect(),
            changes: ids,
            tools,
        }
    }
}
