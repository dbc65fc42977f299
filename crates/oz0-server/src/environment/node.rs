//! Node.js environments: folders that `npm ci` fills from a lock.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{SourceFile, Span};
use oz0_plugin::{Dependencies, DependencyProblem, PackageLock};
use serde_json::{Value, json};

use super::error::{EnvironmentError, PrepareError};
use super::installer::{Installer, on_path};
use super::python::{platform, read, write};
use super::{Environments, cache};
use crate::interpreter;

const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";

impl Environments {
    /// The environment of a plugin whose `mcp:` servers declare Node.js dependencies, by
    /// `package.json` and `package-lock.json`. `None` where it declares none.
    pub(crate) fn node_project(
        &self,
        dependencies: &Dependencies,
    ) -> Result<Option<PathBuf>, PrepareError> {
        let Some(lock) = &dependencies.node else { return Ok(None) };
        self.install_package_lock(lock, "the plugin's package-lock.json").map(Some)
    }

    /// The environment of a lock.
    pub(crate) fn install_package_lock(
        &self,
        lock: &PackageLock,
        what: &str,
    ) -> Result<PathBuf, PrepareError> {
        let node = self.interpreters().find("node").ok_or_else(|| EnvironmentError::Missing {
            program: "node",
            purpose: format!("installing {what}"),
        })?;
        let (manifest, lock_text) = (lock.manifest_text(), lock.lock_text());
        let state = interpreter::stamp(&node.program).unwrap_or_default();
        let program = node.program.to_string_lossy();
        let name =
            format!("node-{}", cache::key([&manifest, &lock_text, &*program, &state, &platform()]));
        self.environments().folder(
            &name,
            || self.say(&format!("waiting for another oz0 that installs {what}")),
            |folder| {
                self.say(&format!("installing {what}"));
                write(&folder.join(MANIFEST), &manifest)?;
                write(&folder.join(LOCK), &lock_text)?;
                self.npm(&format!("install {what}"), folder, &["ci", "--omit=dev"]).map_err(
                    |error| {
                        error.or_problem(|said| {
                            lock.named_in(said).unwrap_or_else(|| Span::start_of(lock.source()))
                        })
                    },
                )?;
                unhashed_bundle(folder, lock)
            },
        )
    }

    fn npm(
        &self,
        operation: &str,
        folder: &Path,
        arguments: &[&str],
    ) -> Result<(), EnvironmentError> {
        let npm = on_path("npm").ok_or_else(|| EnvironmentError::Missing {
            program: "npm",
            purpose: format!("to {operation}"),
        })?;
        let always = [
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--loglevel=error",
            "--prefer-offline",
            "--fetch-retries=1",
        ];
        Installer {
            oz0: self.oz0(),
            program: &npm,
            arguments: arguments[..1]
                .iter()
                .chain(&always)
                .chain(&arguments[1..])
                .map(AsRef::as_ref)
                .collect(),
            folder,
            environment: vec![
                ("npm_config_cache", self.downloads("npm").into()),
                // What has to be fetched from anywhere but a registry has to be built as well, and
                // npm builds it whatever it was told of scripts. Versions without these settings
                // are kept from it by having no git.
                ("npm_config_allow_git", "none".into()),
                ("npm_config_allow_remote", "none".into()),
                ("npm_config_allow_file", "none".into()),
                ("npm_config_allow_directory", "none".into()),
                ("npm_config_git", "oz0-starts-no-git".into()),
            ],
            operation: operation.to_owned(),
        }
        .run()
        .map(drop)
    }

    /// The closure of one package of npm, as the text of a `package-lock.json`.
    pub(crate) fn lock_npm(&self, name: &str, version: &str) -> Result<String, EnvironmentError> {
        let what = format!("{name}@{version}");
        self.say(&format!("locking {what}"));
        self.resolve(&format!("lock {what}"), name, version, &[])
    }

    /// The version of a package of npm that a range or a tag stands for today, and that resolves with all that it needs.
    pub(crate) fn newest_npm(&self, name: &str, range: &str) -> Result<String, EnvironmentError> {
        let what = format!("{name}@{range}");
        let operation = format!("find a version of {what}");
        self.say(&format!("asking for the version of {what}"));
        // What a tag stood for when it was last asked is not what it stands for.
        let lock = self.resolve(&operation, name, range, &["--prefer-offline=false"])?;
        let lock: Value = serde_json::from_str(&lock).unwrap_or_default();
        lock["packages"][format!("node_modules/{name}")]["version"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| EnvironmentError::Unexpected {
                operation,
                program: "npm",
                what: format!("{name} is not in what it found"),
            })
    }

    fn resolve(
        &self,
        operation: &str,
        name: &str,
        version: &str,
        more: &[&str],
    ) -> Result<String, EnvironmentError> {
        let folder = tempfile::Builder::new().prefix("oz0-lock-").tempdir().map_err(|source| {
            EnvironmentError::Cache { operation: "create", path: std::env::temp_dir(), source }
        })?;
        write(&folder.path().join(MANIFEST), &tool_manifest(name, version))?;
        let mut arguments =
            vec!["install", "--package-lock-only", "--omit-lockfile-registry-resolved"];
        arguments.extend(more);
        self.npm(operation, folder.path(), &arguments)?;
        fs::read_to_string(folder.path().join(LOCK)).map_err(|error| EnvironmentError::Unexpected {
            operation: operation.to_owned(),
            program: "npm",
            what: format!("there is no lock: {error}"),
        })
    }

    /// The program that starts a package: the `bin` of its name, else the only one.
    pub(crate) fn package_bin(
        environment: &Path,
        lock: &Arc<SourceFile>,
        name: &str,
    ) -> Result<String, PrepareError> {
        let path = environment.join("node_modules").join(name).join(MANIFEST);
        let manifest: Value =
            serde_json::from_str(&read(&path)?).map_err(|error| EnvironmentError::Unexpected {
                operation: format!("install {name}"),
                program: "npm",
                what: format!("its package.json cannot be read: {error}"),
            })?;
        let short = name.rsplit('/').next().unwrap_or(name);
        let programs = match &manifest["bin"] {
            Value::String(_) => vec![short.to_owned()],
            Value::Object(programs) => programs.keys().cloned().collect(),
            _ => Vec::new(),
        };
        super::choose("program", "npm", lock, name, programs)
    }
}

/// The manifest that a tool's lock is one of.
pub(crate) fn tool_manifest(name: &str, version: &str) -> String {
    let manifest = json!({
        "name": "oz0-tool",
        "version": "0.0.0",
        "private": true,
        "dependencies": BTreeMap::from([(name, version)]),
    });
    format!("{manifest:#}\n")
}

/// npm fetches what a bundle is said to hold and does not, by its name and version and without a hash: such an
/// environment is not kept. What was fetched has a hash in npm's own record of the folder.
fn unhashed_bundle(folder: &Path, lock: &PackageLock) -> Result<(), PrepareError> {
    let path = folder.join("node_modules/.package-lock.json");
    let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
    let record: Value = serde_json::from_str(&text).unwrap_or_default();
    for (place, entry) in record["packages"].as_object().into_iter().flatten() {
        let fetched = entry.get("resolved").is_some() || entry.get("integrity").is_some();
        if entry["inBundle"] == true && fetched {
            let span = lock.span_at(place);
            return Err(DependencyProblem::error(
                span,
                "it is said to lie in a package that bundles it, and does not",
                "have npm write the lock anew: npm install --package-lock-only",
            )
            .into());
        }
    }
    Ok(())
}
