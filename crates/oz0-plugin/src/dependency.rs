//! The dependency files of a plugin: what its servers are installed from.
//!
//! What a server imports must be what was tested, so only files that fix every byte count: a lockfile with its project,
//! or requirements in which every line has a hash. What is there and does not count is said, not passed over. They are
//! read as every file of the plugin is, so no link is followed and nothing that `.oz0ignore` names is used, and an
//! installer gets what was parsed, never the author's text.

mod closure;
mod marker;
mod npm;
mod problem;
mod requirements;
mod uv;

use std::sync::Arc;

use oz0_diagnostic::{Level, SourceFile, Span};
use oz0_listing::ToolId;
use serde_json::Value;

pub use closure::{Closure, LockedHash, LockedPackage, LockedScope};
pub use npm::PackageLock;
pub use problem::DependencyProblem;
pub use requirements::{Requirement, Requirements, normal_name};
pub use uv::UvLock;

use crate::{LoadError, Plugin};

/// How long a dependency file may be: 16 MiB.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What the plugin's `mcp:` servers need installed. All files stand at the plugin's root.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Dependencies {
    /// Python's.
    pub python: Option<PythonDependencies>,
    /// Node.js's: `package-lock.json`, with its `package.json`.
    pub node: Option<PackageLock>,
    /// What is wrong with files that nothing is installed from.
    pub unusable: Vec<DependencyProblem>,
}

/// How Python dependencies are fixed.
#[derive(Debug, Clone)]
pub enum PythonDependencies {
    /// `uv.lock`, with its `pyproject.toml`.
    UvLock(UvLock),
    /// A `requirements.txt` whose every line has a hash.
    Requirements(Requirements),
}

impl Plugin {
    /// The dependency files of the plugin's own servers.
    ///
    /// # Errors
    ///
    /// [`LoadError`] when a file cannot be read, or is no longer what it was when the plugin was loaded. What is wrong
    /// in a file is in [`Dependencies::unusable`].
    pub fn dependencies(&self) -> Result<Dependencies, LoadError> {
        let mut found = Dependencies::default();
        let mut wrong = Vec::new();
        let mut read = |path: &str| -> Result<Option<Arc<SourceFile>>, LoadError> {
            Ok(self.dependency_file(path)?.unwrap_or_else(|problem| {
                wrong.push(problem);
                None
            }))
        };
        let project = read("pyproject.toml")?;
        let uv_lock = read("uv.lock")?;
        let requirements = read("requirements.txt")?;
        let manifest = read("package.json")?;
        let package_lock = read("package-lock.json")?;
        found.unusable = wrong;
        // A file that is there and cannot be read was said already, and what goes with it is not missing.
        let nothing_said = found.unusable.is_empty();

        match (&uv_lock, &project) {
            (Some(lock), Some(project)) => match UvLock::read(lock, project) {
                Ok(lock) => found.python = Some(PythonDependencies::UvLock(lock)),
                Err(problem) => found.unusable.push(problem),
            },
            (Some(lock), None) if nothing_said => found.unusable.push(DependencyProblem::error(
                Span::start_of(lock),
                "there is no pyproject.toml beside it",
                "add the pyproject.toml that it was locked from",
            )),
            _ => {}
        }
        if let (None, Some(source)) = (&found.python, &requirements) {
            match Requirements::read(source) {
                Ok(requirements) if requirements.is_empty() => {}
                Ok(requirements) => {
                    found.python = Some(PythonDependencies::Requirements(requirements));
                }
                Err(problem) => found.unusable.push(problem),
            }
        }
        match (&package_lock, &manifest) {
            (Some(lock), Some(manifest)) => match PackageLock::read(lock, manifest) {
                Ok(lock) => found.node = Some(lock),
                Err(problem) => found.unusable.push(problem),
            },
            (Some(lock), None) if nothing_said => found.unusable.push(DependencyProblem::error(
                Span::start_of(lock),
                "there is no package.json beside it",
                "add the package.json that it was locked from",
            )),
            _ => {}
        }
        // Nothing is installed from these, which is no problem of a plugin that needs nothing installed.
        if found.unusable.is_empty() {
            if let (None, None, Some(project)) = (&found.python, &requirements, &project) {
                found.unusable.extend(unlocked_project(project));
            }
            if let (None, Some(manifest)) = (&found.node, &manifest) {
                found.unusable.extend(unlocked_manifest(manifest));
            }
        }
        Ok(found)
    }

    /// The text of a package tool's lock, `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`LoadError`] as for [`Plugin::dependencies`]; and a problem where a lock is there that is no packed file.
    pub fn lock_text(
        &self,
        tool: &ToolId,
    ) -> Result<Result<Option<Arc<SourceFile>>, DependencyProblem>, LoadError> {
        self.dependency_file(&format!("locks/{tool}.lock"))
    }

    fn dependency_file(
        &self,
        path: &str,
    ) -> Result<Result<Option<Arc<SourceFile>>, DependencyProblem>, LoadError> {
        let Some(file) = self.file(path) else {
            return Ok(self.not_packed(path).map_or(Ok(None), Err));
        };
        let bytes = self.read_file(file, LIMIT)?;
        if bytes.len() as u64 > LIMIT {
            let message = format!("it is longer than {} MiB", LIMIT / 1024 / 1024);
            return Ok(Err(DependencyProblem::of_file(path, message, "lock fewer packages")));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(SourceFile::new(path, text))),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let source = SourceFile::new(path, String::from_utf8_lossy(error.as_bytes()));
                let span = Span::new(&source, at..at + 1);
                Err(DependencyProblem::error(span, "it is not UTF-8", "write it as UTF-8"))
            }
        })
    }

    /// What to say of a file that is there, but is no part of the plugin.
    fn not_packed(&self, path: &str) -> Option<DependencyProblem> {
        let unpackable = self.unpackable().iter().find(|found| {
            path.strip_prefix(found.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if let Some(found) = unpackable {
            let message = if found.path == path {
                format!("it is {}, which is not followed", found.reason)
            } else {
                format!("{} is {}, which is not followed", found.path, found.reason)
            };
            let help = "put a file in its place, or remove it";
            return Some(DependencyProblem::of_file(path, message, help));
        }
        if !self.is_folder() {
            return None;
        }
        let meta = self.root().join(path).symlink_metadata().ok()?;
        let message = if meta.is_dir() {
            "it is a folder"
        } else {
            "it is no part of the plugin, so nothing is installed from it"
        };
        let help = "take it out of .oz0ignore, or remove it";
        Some(DependencyProblem::of_file(path, message, help))
    }
}

fn warning(source: &Arc<SourceFile>, member: &str, lock: &str, help: &str) -> DependencyProblem {
    let at = source.text().find(member).unwrap_or(0);
    let span = Span::new(source, at..at + member.len());
    let message = format!("there is no {lock} for these dependencies, so none is installed");
    DependencyProblem { level: Level::Warning, ..DependencyProblem::error(span, message, help) }
}

/// A `pyproject.toml` with dependencies and no lock.
fn unlocked_project(source: &Arc<SourceFile>) -> Option<DependencyProblem> {
    let table: toml::Table = source.text().parse().ok()?;
    let dependencies = table.get("project")?.get("dependencies")?.as_array()?;
    (!dependencies.is_empty())
        .then(|| warning(source, "dependencies", "uv.lock", "lock them with: uv lock"))
}

/// A `package.json` with dependencies and no lock.
fn unlocked_manifest(source: &Arc<SourceFile>) -> Option<DependencyProblem> {
    let manifest: Value = serde_json::from_str(source.text()).ok()?;
    let dependencies = manifest.get("dependencies")?.as_object()?;
    (!dependencies.is_empty()).then(|| {
        let help = "lock them with: npm install --package-lock-only";
        warning(source, "\"dependencies\"", "package-lock.json", help)
    })
}
