//! The life of a plugin's versions, and which versions an edge takes.
//!
//! What an edge is told about a plugin is an [`Event`]; [`decide`] says from the states of its versions what becomes of each
//! of them, or why nothing does; and [`step`] is the table of what can become of one. All three are pure: the store loads the
//! [`Life`], asks, and writes the difference down with the audit entry that tells of it, in one transaction.
//!
//! ```text
//!             Install                    Replace
//! (unknown) ──────────────▶ Installed ◀────────────▶ Replaced
//!     │                      ▲   │       Restore
//!     │ Offer        Promote │   │ Withdraw, Remove
//!     ▼                      │   ▼
//! Candidate ─────────────────┘  Withdrawn, Removed ──▶ (Install and Offer, as one that is unknown)
//!     └── Withdraw, Remove ─────▲
//! ```
//!
//! The quality gate of an update with evals belongs between an [`Event::Offer`] or [`Event::Install`] and its first step: the
//! version is listed on a test node, and its snapshot is taken there. There are no evals yet, so every version passes it.
//!
//! A version's snapshot belongs to one set of files. So a version that the edge knows can only come
//! back with the digest that it had; a folder that is run in place keeps its version while its files
//! change, and is then no bundle's version.

use std::collections::BTreeMap;

use oz0_api::plugin::{Install, PluginDescription, Source, VersionState};
use oz0_api::{Code, PluginName, PluginVersion, Problem};

/// What can happen to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is installed, on every node.
    Install,
    /// It is offered as a candidate, to some nodes.
    Offer,
    /// The candidate is installed, on every node.
    Promote,
    /// Another version of its plugin takes its place.
    Replace,
    /// It is taken back.
    Withdraw,
    /// The version that took its place is taken back.
    Restore,
    /// Its plugin is removed.
    Remove,
}

impl Act {
    /// Every act, for tables and tests.
    pub const ALL: [Self; 7] = [
        Self::Install,
        Self::Offer,
        Self::Promote,
        Self::Replace,
        Self::Withdraw,
        Self::Restore,
        Self::Remove,
    ];
}

/// What becomes of a version, the state `None` being that of one that the edge does not know. The result `None` is an act that
/// does not happen to a version in that state.
pub const fn step(state: Option<VersionState>, act: Act) -> Option<VersionState> {
    use VersionState::{Candidate, Installed, Removed, Replaced, Withdrawn};
    match (state, act) {
        // A candidate becomes the installed version by a promotion, and never beside one.
        (None | Some(Installed | Replaced | Withdrawn | Removed), Act::Install)
        | (Some(Candidate), Act::Promote)
        | (Some(Replaced), Act::Restore) => Some(Installed),
        (None | Some(Candidate | Replaced | Withdrawn | Removed), Act::Offer) => Some(Candidate),
        (Some(Installed), Act::Replace) => Some(Replaced),
        (Some(Candidate | Installed), Act::Withdraw) | (Some(Withdrawn), Act::Remove) => {
            Some(Withdrawn)
        }
        // What was replaced goes as well: a plugin that comes back has no version before it.
        (Some(Candidate | Installed | Replaced | Removed), Act::Remove) => Some(Removed),
        (Some(Installed), Act::Offer | Act::Promote | Act::Restore)
        | (Some(Candidate), Act::Install | Act::Replace | Act::Restore)
        | (Some(Replaced), Act::Promote | Act::Replace | Act::Withdraw)
        | (
            None | Some(Withdrawn | Removed),
            Act::Promote | Act::Replace | Act::Withdraw | Act::Restore,
        )
        | (None, Act::Remove) => None,
    }
}

/// The versions of one plugin that an edge knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Life {
    /// What became of each.
    pub versions: BTreeMap<PluginVersion, VersionState>,
    /// Of those that were replaced, bundles only, the one that was installed last.
    pub before: Option<PluginVersion>,
}

/// What an edge is told about a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// To run this version on every node.
    Install {
        /// The version.
        version: &'a PluginVersion,
        /// Also in place of a newer one.
        downgrade: bool,
    },
    /// To run this version on some nodes.
    Offer {
        /// The version.
        version: &'a PluginVersion,
        /// Also beside a newer one.
        downgrade: bool,
    },
    /// To run the candidate on every node, if it is this version.
    Promote {
        /// The candidate that was looked at.
        version: &'a PluginVersion,
    },
    /// To take this version back: the candidate, or the installed one where there is none.
    Rollback {
        /// The version that is to go.
        version: &'a PluginVersion,
    },
    /// To run it no more.
    Remove,
}

/// Why nothing becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum No {
    /// No version of the plugin is installed.
    NotInstalled,
    /// Another version is a candidate, about which is to be decided first.
    CandidateThere(PluginVersion),
    /// It is the candidate already, so what makes it the installed version is a promotion.
    IsCandidate,
    /// It is the installed version, which every node runs that runs no candidate.
    IsInstalled,
    /// The installed version is this newer one.
    Downgrade(PluginVersion),
    /// There is no candidate beside this installed version.
    NoCandidate(PluginVersion),
    /// What was looked at is no longer what would go; this is.
    Another(PluginVersion),
    /// There is no version before it.
    NothingBefore,
}

impl Life {
    fn in_state(&self, wanted: VersionState) -> Option<&PluginVersion> {
        self.versions.iter().find(|(_, state)| **state == wanted).map(|(version, _)| version)
    }

    /// The version that is installed; at most one is.
    pub fn installed(&self) -> Option<&PluginVersion> {
        self.in_state(VersionState::Installed)
    }

    /// The version that is a candidate; at most one is, and none without an installed one.
    pub fn candidate(&self) -> Option<&PluginVersion> {
        self.in_state(VersionState::Candidate)
    }

    /// The life after these acts, for models and tests; none where one of them does not happen. The order of installs is the
    /// store's to know, so what is `before` afterwards is to be said.
    #[must_use]
    pub fn after(
        &self,
        acts: &[(PluginVersion, Act)],
        before: Option<PluginVersion>,
    ) -> Option<Self> {
        let mut versions = self.versions.clone();
        for (version, act) in acts {
            let state = step(versions.get(version).copied(), *act)?;
            versions.insert(version.clone(), state);
        }
        Some(Self { versions, before })
    }
}

/// What becomes of a plugin's versions, each in turn, or why nothing does. Of a version that is told anew as what it is, there
/// is one act that leaves it as it is: its files are the same, and whatever else is said of it may not be.
pub fn decide(life: &Life, event: Event<'_>) -> Result<Vec<(PluginVersion, Act)>, No> {
    let installed = life.installed();
    let candidate = life.candidate();
    let older = |version: &PluginVersion, downgrade: bool| match installed {
        Some(installed) if !downgrade && version.is_older_than(installed) => {
            Err(No::Downgrade(installed.clone()))
        }
        _ => Ok(()),
    };
    match event {
        Event::Install { version, downgrade } => match (installed, candidate) {
            (Some(installed), _) if installed == version => {
                Ok(vec![(version.clone(), Act::Install)])
            }
            (_, Some(candidate)) if candidate == version => Err(No::IsCandidate),
            (_, Some(candidate)) => Err(No::CandidateThere(candidate.clone())),
            (installed, None) => {
                older(version, downgrade)?;
                let replaced = installed.map(|installed| (installed.clone(), Act::Replace));
                Ok(replaced.into_iter().chain([(version.clone(), Act::Install)]).collect())
            }
        },
        Event::Offer { version, downgrade } => match (installed, candidate) {
            (None, _) => Err(No::NotInstalled),
            (Some(installed), _) if installed == version => Err(No::IsInstalled),
            (_, Some(candidate)) if candidate != version => {
                Err(No::CandidateThere(candidate.clone()))
            }
            (_, Some(_)) => Ok(vec![(version.clone(), Act::Offer)]),
            (_, None) => {
                older(version, downgrade)?;
                Ok(vec![(version.clone(), Act::Offer)])
            }
        },
        Event::Promote { version } => match (installed, candidate) {
            (None, _) => Err(No::NotInstalled),
            (Some(installed), None) => Err(No::NoCandidate(installed.clone())),
            (_, Some(candidate)) if candidate != version => Err(No::Another(candidate.clone())),
            (Some(installed), Some(candidate)) => {
                Ok(vec![(installed.clone(), Act::Replace), (candidate.clone(), Act::Promote)])
            }
        },
        Event::Rollback { version } => match (installed, candidate) {
            (None, _) => Err(No::NotInstalled),
            (_, Some(candidate)) if candidate == version => {
                Ok(vec![(candidate.clone(), Act::Withdraw)])
            }
            (_, Some(candidate)) => Err(No::Another(candidate.clone())),
            (Some(installed), None) if installed != version => Err(No::Another(installed.clone())),
            (Some(installed), None) => {
                let before = life.before.as_ref().ok_or(No::NothingBefore)?;
                Ok(vec![(installed.clone(), Act::Withdraw), (before.clone(), Act::Restore)])
            }
        },
        Event::Remove => {
            installed.ok_or(No::NotInstalled)?;
            let goes = |state: VersionState| {
                !matches!(state, VersionState::Withdrawn | VersionState::Removed)
            };
            let gone = life.versions.iter().filter(|(_, state)| goes(**state));
            Ok(gone.map(|(version, _)| (version.clone(), Act::Remove)).collect())
        }
    }
}

/// The answer about a plugin that is not there.
pub(crate) fn no_plugin(plugin: &PluginName) -> Problem {
    Problem::new(Code::NotFound, format!("no plugin named {plugin} is installed"))
        .hint("`oz0 plugin list` shows the installed ones")
}

impl No {
    /// The same for whoever asked, who is told what to do about it.
    pub fn problem(self, plugin: &PluginName, event: Event<'_>) -> Problem {
        let version = match event {
            Event::Install { version, .. }
            | Event::Offer { version, .. }
            | Event::Promote { version }
            | Event::Rollback { version } => version.as_str(),
            Event::Remove => "",
        };
        match self {
            Self::NotInstalled => no_plugin(plugin),
            Self::CandidateThere(candidate) => Problem::new(
                Code::Conflict,
                format!("{plugin} {version} is not taken: {plugin} {candidate} is a candidate"),
            )
            .hint(format!(
                "decide about that one first: oz0 plugin promote {plugin}, or oz0 plugin rollback {plugin}"
            )),
            Self::IsCandidate => Problem::new(
                Code::Conflict,
                format!("{plugin} {version} is a candidate, and is installed by its promotion"),
            )
            .hint(format!("oz0 plugin promote {plugin}")),
            Self::IsInstalled => Problem::new(
                Code::Conflict,
                format!("{plugin} {version} is installed, and no candidate beside itself"),
            )
            .hint("`oz0 plugin list` shows which version runs where"),
            Self::Downgrade(installed) => Problem::new(
                Code::Conflict,
                format!("{plugin} {version} is older than {installed}, which is installed"),
            )
            .hint(format!(
                "go back to the version before with: oz0 plugin rollback {plugin}; or to this one with: oz0 plugin update \
                 … --downgrade"
            )),
            Self::NoCandidate(installed) => Problem::new(
                Code::Conflict,
                format!("{plugin} has no candidate: every node runs {installed}"),
            )
            .hint("offer one with: oz0 plugin update DIR|BUNDLE --canary NODE"),
            Self::Another(now) => Problem::new(
                Code::Stale,
                format!("{plugin} {version} is not what this is about any more: {now} is"),
            )
            .hint("look again: oz0 plugin list"),
            Self::NothingBefore => Problem::new(
                Code::Conflict,
                format!("{plugin} {version} has no version before it to go back to"),
            )
            .hint("install the one that is to run: oz0 plugin update BUNDLE --downgrade"),
        }
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
