//! The life of a plugin's version, and which versions an edge takes.
//!
//! A version's snapshot belongs to one set of files. So a version that the edge knows can only come
//! back with the digest that it had; a folder that is run in place keeps its version while its files
//! change, and is then no bundle's version.

use oz0_api::plugin::{Install, PluginDescription, Source, VersionState};
use oz0_api::{Code, Problem};

/// What can happen to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is installed.
    Install,
    /// Another version of its plugin is installed.
    Replace,
    /// Its plugin is removed.
    Remove,
}

/// What becomes of a version, `None` being one that the edge does not know.
pub const fn step(state: Option<VersionState>, act: Act) -> Option<VersionState> {
    match (state, act) {
        (_, Act::Install) => Some(VersionState::Installed),
        (Some(VersionState::Installed), Act::Replace) => Some(VersionState::Replaced),
        (Some(VersionState::Installed), Act::Remove) => Some(VersionState::Removed),
        (other, Act::Replace | Act::Remove) => other,
    }
}

/// Whether `new` is the version that the edge knows as `known`.
pub fn same_version(known: &PluginDescription, new: &PluginDescription) -> Result<(), Problem> {
    let (name, version) = (&new.name, &new.version);
    match (known.source.is_dev(), new.source.is_dev()) {
        (true, true) => Ok(()),
        (false, false) if known.digest == new.digest => Ok(()),
        (false, false) => Err(Problem::new(
            Code::Conflict,
            format!(
                "{name} {version} is known with digest {}, and this one has {}",
                known.digest, new.digest
            ),
        )
        .hint("a version is one set of files: give the new files a new version")),
        (true, false) => Err(Problem::new(
            Code::Conflict,
            format!("{name} {version} was run from a folder here, and this is a bundle"),
        )
        .hint("give the bundle a version of its own, or use another data folder")),
        (false, true) => Err(Problem::new(
            Code::Conflict,
            format!("{name} {version} is known as a bundle here, and this is a folder"),
        )
        .hint("give the folder a version of its own, or use another data folder")),
    }
}

/// Whether `new` is run from where the installed version is, or takes its folder's place knowingly. Two folders of one
/// name are two plugins to their authors, and whoever calls the one must not get the code of the other.
pub fn same_folder(
    installed: &PluginDescription,
    new: &PluginDescription,
    terms: &Install,
) -> Result<(), Problem> {
    match (&installed.source, &new.source) {
        (Source::Dev { folder: old }, Source::Dev { folder })
            if old != folder && terms.instead_of.as_ref() != Some(old) =>
        {
            let name = &new.name;
            let what = format!("{name} is run from {old} here, and this is {folder}");
            Err(Problem::new(Code::Conflict, what).hint(format!(
                "give one of them another `name:` in its oz0-plugin.yaml (`oz0 wrap --name` for a wrapped server), or \
                 let the other one go with `oz0 plugin remove {name}`, or use another data folder with `--data DIR`"
            )))
        }
        _ => Ok(()),
    }
}

/// Whether `new` can stand beside `other` on one edge.
pub fn apart(other: &PluginDescription, new: &PluginDescription) -> Result<(), Problem> {
    if other.name == new.name {
        return Ok(());
    }
    match new.tools.keys().find(|tool| other.tools.contains_key(*tool)) {
        None => Ok(()),
        Some(tool) => Err(Problem::new(
            Code::Conflict,
            format!(
                "{} has a tool `{tool}`, and so does {}, which is installed",
                new.name, other.name
            ),
        )
        .hint("tool IDs are unique on an edge: rename one of them, or remove the other plugin")),
    }
}
