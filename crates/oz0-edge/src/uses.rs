//! Whether the plugins that use another one can go on with another version of it.
//!
//! A version outside the range that a plugin names under `uses:` is refused, and so is one that lacks a function, an agent or a
//! skill that is named there. What a version lists may not be known before a node runs it; what is not known refuses nothing
//! then, and is looked at again when a candidate, whose snapshot says it, is to be promoted.

use oz0_api::plugin::{PluginDescription, Uses};
use oz0_api::{Code, Problem};
use oz0_listing::FunctionId;

/// Whether a version lists a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Nobody has listed it yet, and its author does not say.
    Unknown,
}

impl Lists {
    /// Of a function that somebody who would know names, or does not.
    pub const fn said(lists: bool) -> Self {
        if lists { Self::Yes } else { Self::No }
    }
}

/// What `uses` names that the version does not have, in words.
pub fn lacking(
    uses: &Uses,
    version: &PluginDescription,
    lists: impl Fn(&FunctionId) -> Lists,
) -> Vec<String> {
    let mut lacking = Vec::new();
    if let Some(range) = uses.version.as_ref().filter(|range| !range.matches(&version.version)) {
        lacking.push(format!("versions {range}"));
    }
    for grant in &uses.tools {
        let has_tool = version.tools.keys().any(|tool| tool.as_str() == grant.tool());
        let lacks = match grant.function() {
            _ if !has_tool => true,
            Some(function) => lists(&function) == Lists::No,
            None => false,
        };
        if lacks {
            lacking.push(format!("the function {grant}"));
        }
    }
    for (kind, named, has) in
        [("agent", &uses.agents, &version.agents), ("skill", &uses.skills, &version.skills)]
    {
        lacking.extend(named.difference(has).map(|name| format!("the {kind} {name}")));
    }
    lacking
}

/// Whether each of `others` that uses this plugin can go on with this version of it.
///
/// # Errors
///
/// A [`Problem`] that names all that cannot, and what each lacks.
pub fn check<'a>(
    version: &PluginDescription,
    others: impl Iterator<Item = &'a PluginDescription>,
    lists: impl Fn(&FunctionId) -> Lists,
) -> Result<(), Problem> {
    let mut stand_in_the_way = Vec::new();
    let mut names = Vec::new();
    for other in others.filter(|other| other.name != version.name) {
        let Some(uses) = other.uses.get(&version.name) else { continue };
        let lacking = lacking(uses, version, &lists);
        if !lacking.is_empty() {
            let lacking = lacking.join(", ");
            stand_in_the_way.push(format!("{} {} uses {lacking}", other.name, other.version));
            names.push(other.name.as_str());
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} {} is not taken, for what uses {} could not go on: {}",
        version.name,
        version.version,
        version.name,
        stand_in_the_way.join("; ")
    );
    let first = names[0];
    Err(Problem::new(Code::Conflict, what).hint(format!(
        "first update {}, so that `uses:` fits this version; or remove it: oz0 plugin remove {first}",
        names.join(" and ")
    )))
}
