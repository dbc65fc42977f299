//! What another version of a plugin would list, beside what is accepted of the version that is installed.
//!
//! A version has a snapshot of its own, so what a new one lists is called as soon as a node lists it: whoever installs it is the
//! one who looks. What there is to look at before it runs is what its author measured, which is compared here, in the form of the
//! changes that an edge shows.

use std::collections::BTreeSet;

use oz0_listing::{Function, FunctionId, Listing, ToolId, Unlistable, diff};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::change::{Change, ChangeKind, Shown};
use crate::id::{ChangeId, Endpoint};
use crate::plugin::{Catalog, CatalogFunction, PluginDescription, PluginStatus};

/// What a version is known to list, without a node that runs it.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The functions.
    pub functions: Vec<Function>,
    /// Tools of which nothing says what they list.
    pub unknown: BTreeSet<ToolId>,
}

/// One difference, for programs: a change that nobody can approve, since it is of something that does not run.
#[derive(Debug, Clone, Serialize)]
pub struct Difference<'a> {
    /// The tool.
    pub tool: &'a ToolId,
    /// The function; absent where a tool's endpoint moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<&'a FunctionId>,
    /// What kind of change.
    pub kind: ChangeKind,
    /// What moves, in words.
    pub labels: &'a [String],
    /// What is accepted now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<&'a Shown>,
    /// What would be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<&'a Shown>,
}

impl<'a> From<&'a Change> for Difference<'a> {
    fn from(change: &'a Change) -> Self {
        let Change { tool, function, kind, labels, accepted, listed, .. } = change;
        Self {
            tool,
            function: function.as_ref(),
            kind: *kind,
            labels,
            accepted: accepted.as_ref(),
            listed: listed.as_ref(),
        }
    }
}

/// What is accepted of an installed plugin's functions, and what each would list in the version that is described: each that
/// differs, endpoints first, then by ID. Of tools that are unknown nothing is said.
///
/// # Errors
///
/// [`Unlistable`] for an accepted listing that is none, which no edge of this version sends.
pub fn differences(
    installed: &PluginStatus,
    catalog: &Catalog,
    new: &PluginDescription,
    expected: &Expected,
) -> Result<Vec<Change>, Unlistable> {
    let mut changes = moves(installed, new);
    let accepted: Vec<&CatalogFunction> = catalog
        .functions
        .iter()
        .filter(|own| own.plugin == installed.name && own.version == installed.version)
        .filter(|own| !own.accepted.is_empty())
        .collect();
    let ids: BTreeSet<&FunctionId> = accepted
        .iter()
        .map(|own| &own.id)
        .chain(expected.functions.iter().map(|own| &own.id))
        .filter(|id| !expected.unknown.contains(&id.tool()))
        .collect();
    for id in ids {
        let old = accepted.iter().find(|own| own.id == *id);
        let listed = expected.functions.iter().find(|own| own.id == *id);
        if let (Some(old), Some(listed)) = (old, listed)
            && old.accepted.iter().any(|one| one.hash == listed.hash)
        {
            continue;
        }
        let old = old.and_then(|own| own.accepted.first());
        let before = old.map(|one| Listing::read(one.snapshot.get(), &[])).transpose()?;
        let (kind, difference) = match (&before, listed) {
            (Some(old), Some(new)) => (ChangeKind::Changed, diff::compare(old, &new.listing)),
            (None, Some(new)) => (ChangeKind::New, diff::appeared(&new.listing)),
            (Some(old), None) => (ChangeKind::Gone, diff::vanished(old)),
            (None, None) => continue,
        };
        changes.push(Change {
            function: Some(id.clone()),
            labels: difference.labels.iter().map(ToString::to_string).collect(),
            accepted: old.map(|one| Shown {
                hash: Some(one.hash),
                listing: Some(one.snapshot.clone()),
                endpoint: None,
            }),
            listed: listed.map(|one| Shown {
                hash: Some(one.hash),
                listing: RawValue::from_string(one.listing.canonical().to_owned()).ok(),
                endpoint: None,
            }),
            ..unlisted(new, id.tool(), kind)
        });
    }
    Ok(changes)
}

/// Tools whose calls would go elsewhere.
fn moves(installed: &PluginStatus, new: &PluginDescription) -> Vec<Change> {
    let shown =
        |endpoint: &Endpoint| Shown { hash: None, listing: None, endpoint: Some(endpoint.clone()) };
    let moved = |(tool, description): (&ToolId, &crate::plugin::ToolDescription)| {
        let endpoint = description.endpoint()?;
        let before = installed.tools.iter().find(|own| own.tool == *tool)?.endpoint.as_ref();
        (before != Some(endpoint)).then(|| Change {
            labels: vec!["endpoint".to_owned()],
            accepted: before.map(shown),
            listed: Some(shown(endpoint)),
            ..unlisted(new, tool.clone(), ChangeKind::Endpoint)
        })
    };
    new.tools.iter().filter_map(moved).collect()
}

/// A change of a version that no node lists. Its ID is no change's that an edge opens, so that nothing is approved by it.
fn unlisted(new: &PluginDescription, tool: ToolId, kind: ChangeKind) -> Change {
    Change {
        id: ChangeId::over(&["oz0.update.v1", new.name.as_str(), new.version.as_str()]),
        plugin: new.name.clone(),
        version: new.version.clone(),
        tool,
        function: None,
        kind,
        functions: Vec::new(),
        labels: Vec::new(),
        accepted: None,
        listed: None,
        nodes: Vec::new(),
        opened_at: crate::id::UnixMillis(0),
    }
}
