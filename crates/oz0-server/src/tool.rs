//! From a manifest's tool to what its server is started with: the one way, for a test node as for a node.
//!
//! A listing is pinned, so the server that is measured must be the server that is run: from the same environment, with
//! the same arguments, variables and network. Where the two differ on purpose (a copy or the folder itself, a secret or
//! what stands for it), the caller says so, and nothing else differs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use oz0_listing::ToolId;
use oz0_plugin::manifest::{Backend, Manifest, PackageRef, Tool};
use oz0_plugin::{DependencyProblem, LoadError, Plugin, Spanned};

use crate::environment::{Environments, PackageTool, PrepareError, Prepared, Registry};
use crate::launch::LaunchSpec;

/// Why a tool's server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The plugin's files could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its environment could not be made, or what it names cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

impl From<DependencyProblem> for ToolError {
    fn from(problem: DependencyProblem) -> Self {
        Self::Prepare(problem.into())
    }
}

/// What to do about the lock of a `package:` tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Install from it, and make it where there is none.
    Use,
    /// Make it anew.
    Renew,
    /// Install from it, and nothing where there is none.
    Only,
}

/// A tool's package: one release of an ecosystem that is run.
struct Release<'t> {
    registry: Registry,
    /// With its extras.
    name: String,
    version: &'t str,
    args: Vec<String>,
}

impl<'t> Release<'t> {
    fn of(
        key: &Spanned<ToolId>,
        tool: &'t Tool,
        package: &'t PackageRef,
    ) -> Result<Self, DependencyProblem> {
        let problem =
            |message: String, help: &str| DependencyProblem::error(key.span.clone(), message, help);
        let (registry, name) = match package {
            PackageRef::Pypi { name, extras, .. } if extras.is_empty() => {
                (Registry::Pypi, name.clone())
            }
            PackageRef::Pypi { name, extras, .. } => {
                (Registry::Pypi, format!("{name}[{}]", extras.join(",")))
            }
            PackageRef::Npm { name, .. } => (Registry::Npm, name.clone()),
            PackageRef::Oci { .. } => {
                return Err(problem(
                    "container images are not run yet".to_owned(),
                    "name a pypi: or npm: package, or start a server of the plugin's own with mcp:",
                ));
            }
        };
        let Some(version) = package.exact() else {
            return Err(problem(
                format!("{name} is not pinned to one version, so there is nothing to lock"),
                "name one version: pypi:NAME==VERSION or npm:NAME@VERSION",
            ));
        };
        let args = tool.args.iter().map(|argument| argument.as_str().to_owned()).collect();
        Ok(Self { registry, name, version, args })
    }

    fn tool<'r>(&'r self, key: &'r Spanned<ToolId>) -> PackageTool<'r> {
        PackageTool {
            tool: key.as_ref(),
            registry: self.registry,
            name: &self.name,
            version: self.version,
            args: &self.args,
        }
    }
}

/// The `package:` tools of a plugin that have no lock.
pub fn unlocked<'m>(
    plugin: &Plugin,
    manifest: &'m Manifest,
) -> Result<Vec<(&'m Spanned<ToolId>, &'m Tool)>, ToolError> {
    let mut unlocked = Vec::new();
    for (key, tool) in &manifest.tools {
        if matches!(tool.backend(), Backend::Package(_)) && plugin.lock_text(key)??.is_none() {
            unlocked.push((key, &**tool));
        }
    }
    Ok(unlocked)
}

impl Environments {
    /// Makes the lock of each `package:` tool that has none, in the plugin's folder: the versions that its registry has today,
    /// resolved once, without running a package's code, and from then on those. Nothing is installed. Blocks. Says which were
    /// written.
    pub fn lock_tools(
        &self,
        plugin: &Plugin,
        manifest: &Manifest,
    ) -> Result<Vec<String>, ToolError> {
        let mut written = Vec::new();
        for (key, tool) in unlocked(plugin, manifest)? {
            let Backend::Package(package) = tool.backend() else { continue };
            let release = Release::of(key, tool, package)?;
            written.push(self.write_lock(plugin.root(), &release.tool(key))?);
        }
        Ok(written)
    }

    /// Makes the environment of a tool's server. Blocks. A remote tool has no server to start, which is said like any
    /// other thing that cannot be run.
    pub fn prepare_tool(
        &self,
        plugin: &Plugin,
        key: &Spanned<ToolId>,
        tool: &Tool,
        lock: Lock,
    ) -> Result<Prepared, ToolError> {
        let problem = |message: String, help: &str| {
            DependencyProblem::error(key.span.clone(), message, help).into()
        };
        let package = match tool.backend() {
            Backend::Mcp(mcp) => {
                let argv: Vec<String> = mcp.argv().into_iter().map(str::to_owned).collect();
                return Ok(self.prepare_command(&plugin.dependencies()?, &argv)?);
            }
            Backend::Package(package) => package,
            Backend::Url(_) => {
                return Err(problem(
                    format!("`{}` is a remote server, which nobody starts here", key.value),
                    "give the tool mcp: or package: instead of url:",
                ));
            }
        };
        let release = Release::of(key, tool, package)?;
        let text = plugin.lock_text(key)??.filter(|_| lock != Lock::Renew);
        if text.is_none() && lock == Lock::Only {
            return Err(problem(
                format!(
                    "there is no lock of {} {}, and nothing is installed without; `oz0 plugin install` makes one",
                    release.name, release.version
                ),
                "install the plugin again with `oz0 plugin install`",
            ));
        }
        Ok(self.prepare_package(plugin.root(), &release.tool(key), text.as_ref())?)
    }
}

impl Prepared {
    /// A launch of it from a folder of the plugin, with these variables beside the fixed ones, and the network that
    /// the manifest asks for.
    pub fn launch_of(
        &self,
        manifest: &Manifest,
        folder: impl Into<PathBuf>,
        declared: BTreeMap<String, String>,
    ) -> LaunchSpec {
        LaunchSpec { declared, network: !manifest.egress.is_empty(), ..self.launch(folder) }
    }
}

/// The variables that a manifest declares, and the required secrets that nobody gave a value for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// Those with a value.
    pub variables: BTreeMap<String, String>,
    /// Required secrets without one.
    pub missing: BTreeSet<String>,
}

impl Declared {
    /// The secrets of a plugin, which its tests get as well.
    pub fn secrets(manifest: &Manifest, values: &BTreeMap<String, String>) -> Self {
        let mut declared = Self::default();
        let Some(requires) = &manifest.requires else { return declared };
        let needed = requires.secrets.iter().map(|name| (name.as_str(), true));
        let optional = requires.optional_secrets.iter().map(|name| (name.as_str(), false));
        for (name, is_required) in needed.chain(optional) {
            match values.get(name) {
                Some(value) => {
                    declared.variables.insert(name.to_owned(), value.clone());
                }
                None if is_required => {
                    declared.missing.insert(name.to_owned());
                }
                None => {}
            }
        }
        declared
    }

    /// Those of one tool's server: the plugin's secrets, and what its `env:` sets.
    pub fn of_tool(manifest: &Manifest, tool: &Tool, values: &BTreeMap<String, String>) -> Self {
        let mut declared = Self::secrets(manifest, values);
        let own = tool.variables().map(|(name, value)| (name.to_owned(), value.to_owned()));
        declared.variables.extend(own);
        declared
    }

    /// The variables with `placeholder` for each secret that is missing.
    #[must_use]
    pub fn or(self, placeholder: &str) -> BTreeMap<String, String> {
        let Self { mut variables, missing } = self;
        for name in missing {
            variables.entry(name).or_insert_with(|| placeholder.to_owned());
        }
        variables
    }
}
