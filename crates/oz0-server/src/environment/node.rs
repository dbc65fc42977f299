//! Node.js environments: folders that `npm ci` fills from a lock.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::{DependencyProblem, EnvironmentError, PrepareError};
use super::installer::{Installer, on_path};
use super::python::{platform, read, write};
use super::{Environments, cache, lock};
use crate::interpreter;

const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";

impl Environments {
    /// The environment of a plugin whose `mcp:` servers declare Node.js dependencies, by
    /// `package.json` and `package-lock.json`. `None` where it declares none.
    pub fn node_project(&self, folder: &Path) -> Result<Option<PathBuf>, PrepareError> {
        let (manifest, lock_path) = (folder.join(MANIFEST), folder.join(LOCK));
        if !manifest.is_file() || !lock_path.is_file() {
            return Ok(None);
        }
        let (manifest, lock_text) = (read(&manifest)?, read(&lock_path)?);
        lock::package_lock(LOCK, &lock_text)?;
        let manifest: Value =
            serde_json::from_str(&manifest).map_err(|error| DependencyProblem {
                file: MANIFEST.to_owned(),
                line: Some(error.line().max(1)),
                message: format!("this is no package.json: {error}"),
                help: "write a JSON object with the dependencies".to_owned(),
            })?;
        Ok(Some(self.install_package_lock(
            &dependencies_of(&manifest).to_string(),
            &lock_text,
            "the plugin's package-lock.json",
        )?))
    }

    /// The environment of a lock, whose packages were checked.
    pub(crate) fn install_package_lock(
        &self,
        manifest: &str,
        lock_text: &str,
        what: &str,
    ) -> Result<PathBuf, EnvironmentError> {
        let node = self.interpreters().find("node").ok_or_else(|| EnvironmentError::Missing {
            program: "node",
            purpose: format!("installing {what}"),
        })?;
        let state = interpreter::stamp(&node.program).unwrap_or_default();
        let program = node.program.to_string_lossy();
        let name =
            format!("node-{}", cache::key([manifest, lock_text, &program, &state, &platform()]));
        self.environments().folder(
            &name,
            || self.say(&format!("waiting for another oz0 that installs {what}")),
            |folder| {
                self.say(&format!("installing {what}"));
                write(&folder.join(MANIFEST), manifest)?;
                write(&folder.join(LOCK), lock_text)?;
                self.npm(
                    &format!("install {what}"),
                    folder,
                    &["ci", "--omit=dev"],
                )
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
            arguments: arguments.iter().chain(&always).map(AsRef::as_ref).collect(),
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
        let folder = tempfile::Builder::new().prefix("oz0-lock-").tempdir().map_err(|source| {
            EnvironmentError::Cache { operation: "create", path: std::env::temp_dir(), source }
        })?;
        write(&folder.path().join(MANIFEST), &tool_manifest(name, version))?;
        let operation = format!("lock {what}");
        self.npm(
            &operation,
            folder.path(),
            &[
                "install",
                "--package-lock-only",
                "--omit-lockfile-registry-resolved",
            ],
        )?;
        fs::read_to_string(folder.path().join(LOCK)).map_err(|error| EnvironmentError::Unexpected {
            operation,
            program: "npm",
            what: format!("there is no lock: {error}"),
        })
    }

    /// The program that starts a package: the `bin` of its name, else the only one.
    pub(crate) fn package_bin(
        environment: &Path,
        file: &str,
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
        super::choose("program", "npm", file, name, programs)
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

/// The members of a plugin's own `package.json` that say what to install: not its scripts, and
/// nothing that would make two plugins with the same dependencies differ.
fn dependencies_of(manifest: &Value) -> Value {
    let kept = [
        "name",
        "version",
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
        "peerDependenciesMeta",
        "bundleDependencies",
        "bundledDependencies",
        "overrides",
        "engines",
    ];
    let members = manifest.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| kept.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
