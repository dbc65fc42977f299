//! `oz0 plugin new`: a plugin's folder from a template.
//!
//! What is written is what the linter takes, or nothing is written: the plugin is made in memory, with its name in every
//! place, and held to the verified level there. So no list of names that are not taken stands here a second time, and a
//! name that makes a path which Windows cannot hold, or a word that YAML takes for something else, is refused with the
//! reason of whoever knows it.
//!
//! The listing of a template's server is measured when the template is made, and a test measures it again. It does not
//! depend on the plugin's name: a hash is over what a function says of itself, and the name stands before the function, not
//! in it. What depends on it is the digest of the plugin's files, which needs nothing to be run and is taken here.

use std::path::Path;

use oz0_lint::{Plugin, Request, bare_name, lint};
use oz0_listing::file::ListingFile;
use oz0_plugin::{LISTING, LoadError, Mode, PluginFile};

use crate::name::{Misnamed, PluginName};
use crate::refusal::Refusal;
use crate::stage;
use crate::template::{Template, named};

/// Why there is no new plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewError {
    /// Its name or its folder is one that is not taken.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file could not be written.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A plugin that is whole, and not written yet.
#[derive(Debug)]
pub struct NewPlugin {
    template: Template,
    files: Vec<PluginFile>,
    starts: bool,
}

/// Why a name is not taken.
enum Untaken {
    Misnamed(Misnamed),
    /// No plugin from the template can have it; and what could be proposed in its place.
    Unfit {
        what: String,
        other: String,
    },
    Load(LoadError),
}

impl From<LoadError> for Untaken {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl NewPlugin {
    /// The template's plugin under another name.
    ///
    /// # Errors
    ///
    /// [`NewError::Refused`] when no plugin that lints clean at the verified level can have the name; the hint proposes one
    /// that is taken, where one can be made of it.
    pub fn of(template: Template, name: &str) -> Result<Self, NewError> {
        let example = |name: &str| {
            let name = bare_name(name);
            let is_taken = Self::make(template, name).is_ok();
            is_taken.then(|| format!("oz0 plugin new {name} --template {}", template.name()))
        };
        Self::make(template, name).map_err(|untaken| match untaken {
            Untaken::Load(error) => error.into(),
            Untaken::Misnamed(misnamed) => {
                let example = misnamed.slug().and_then(|slug| example(&slug));
                misnamed.refusal(example.as_deref()).into()
            }
            Untaken::Unfit { what, other } => {
                let rule = "name a connector for its system and a capability for its job";
                let hint = match example(&other) {
                    Some(example) => format!("{rule}, such as: {example}"),
                    None => rule.to_owned(),
                };
                Refusal::new(what).hint(hint).into()
            }
        })
    }

    fn make(template: Template, name: &str) -> Result<Self, Untaken> {
        let name = PluginName::parse(name).map_err(Untaken::Misnamed)?;
        let mut files: Vec<PluginFile> = template
            .files()
            .iter()
            .map(|(path, text)| PluginFile {
                path: named(path, &name),
                mode: Mode::Plain,
                bytes: named(text, &name).into_bytes().into(),
            })
            .collect();
        let place = Path::new(name.as_str());
        let source_digest = Plugin::from_files(place, files.clone())?.source_digest()?;
        for file in files.iter_mut().filter(|file| file.path == LISTING) {
            let text = std::str::from_utf8(&file.bytes).expect("it was a text");
            let measured = ListingFile::read(text).expect("a test reads every template's");
            let listing = ListingFile { source_digest, ..measured };
            file.bytes = listing.write().into_bytes().into();
        }
        let plugin = Plugin::from_files(place, files.clone())?;
        let report = lint(&plugin, &Request { verified: true, ..Request::default() })?;
        if let Some(problem) = report.problems.first() {
            return Err(Untaken::Unfit {
                what: format!(
                    "no plugin from the template {} can be called `{}`: {} ({})",
                    template.name(),
                    name.as_str(),
                    problem.message,
                    problem.check.code
                ),
                other: name.as_str().to_owned(),
            });
        }
        let manifest = plugin.manifest().expect("nothing was found in it");
        if manifest.uses.get(name.as_str()).is_some() {
            return Err(Untaken::Unfit {
                what: format!(
                    "`{}` is what the connector is called that the template {} uses",
                    name.as_str(),
                    template.name()
                ),
                other: format!("{}-reports", name.as_str()),
            });
        }
        let starts = manifest.tools.iter().any(|(_, tool)| !tool.is_remote());
        Ok(Self { template, files, starts })
    }

    /// The template that it is from.
    pub fn template(&self) -> Template {
        self.template
    }

    /// Whether it has a server that is started on this machine.
    pub fn has_server(&self) -> bool {
        self.starts
    }

    /// The paths of what is written, from the plugin's root.
    pub fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.path.as_str()).collect()
    }

    /// Writes it into `folder`, which is made when it is not there: every file, or none.
    ///
    /// # Errors
    ///
    /// [`NewError::Refused`] when the folder holds something or is no folder, and [`NewError::Load`] when the system
    /// refuses; nothing is left of what was written until then.
    pub fn write(&self, folder: &Path) -> Result<(), NewError> {
        stage::write(folder, &self.files)
    }
}
