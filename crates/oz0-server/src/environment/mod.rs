//! Locks, and the frozen environments that are installed from them.
//!
//! Three of seventeen published servers list differently with an older dependency from inside
//! their own range, so a version pins nothing: a `package:` tool runs from a lock of its whole
//! closure with hashes, and an `mcp:` server from the lock beside its manifest. Neither resolving
//! nor installing runs a package's code (`--only-binary`, `--ignore-scripts`): it runs for the
//! first time in its sandbox.
//!
//! An environment depends on its lock, the interpreter and the platform, and is kept in the cache
//! under a hash of these. Where it is there, nothing is started and nothing is asked of a network.

pub(crate) mod cache;
mod contract;
mod error;
mod installer;
mod lock_file;
mod node;
mod python;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::{EnvironmentError, PrepareError};
use oz0_diagnostic::{SourceFile, Span};
use oz0_plugin::{Dependencies, DependencyProblem, PackageLock, Requirements, normal_name};
use oz0_policy::forbidden;

use crate::interpreter::Interpreters;
use crate::launch::LaunchSpec;
use cache::Cache;

/// Who is told what takes long, in a line without a full stop.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Makes environments, and keeps them in a cache. Cheap to clone. Its functions block: call them
/// from a thread that may.
#[derive(Clone)]
pub struct Environments {
    shared: Arc<Shared>,
}

struct Shared {
    oz0: PathBuf,
    environments: Cache,
    tools: Cache,
    downloads: PathBuf,
    interpreters: Interpreters,
    progress: Progress,
}

impl fmt::Debug for Environments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environments").field("cache", &self.shared.environments).finish()
    }
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Registry {
    /// `pypi:NAME==VERSION`.
    Pypi,
    /// `npm:NAME@VERSION`.
    Npm,
}

/// A `package:` tool, as its manifest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageTool<'a> {
    /// The tool's ID, which names its lock.
    pub tool: &'a str,
    /// Where from.
    pub registry: Registry,
    /// The package; for `PyPI` with its extras in brackets where it has some: `name[extra]`.
    pub name: &'a str,
    /// Its exact version.
    pub version: &'a str,
    /// The arguments that the manifest adds.
    pub args: &'a [String],
}

impl PackageTool<'_> {
    /// The lock's path in the plugin's folder.
    pub fn lock_file(&self) -> String {
        format!("locks/{}.lock", self.tool)
    }
}

/// What a server is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The Python environment, on the host.
    pub python_environment: Option<PathBuf>,
    /// The Node.js environment, on the host.
    pub node_environment: Option<PathBuf>,
}

impl Prepared {
    /// A launch of it from a folder, in the standard surroundings.
    pub fn launch(&self, folder: impl Into<PathBuf>) -> LaunchSpec {
        LaunchSpec {
            python_environment: self.python_environment.clone(),
            node_environment: self.node_environment.clone(),
            ..LaunchSpec::new(folder, self.argv.clone())
        }
    }
}

impl Environments {
    /// Environments in the folder `cache` (see [`cache_folder`]). `oz0` is the program that runs
    /// installers attached to this process, as in [`crate::Launcher::new`].
    pub fn new(oz0: impl Into<PathBuf>, cache: &Path, progress: Progress) -> Self {
        let shared = Shared {
            oz0: oz0.into(),
            environments: Cache::new(cache.join("environments")),
            tools: Cache::new(cache.join("tools")),
            downloads: cache.join("downloads"),
            interpreters: Interpreters::of_host(cache.join("interpreters")),
            progress,
        };
        Self { shared: Arc::new(shared) }
    }

    fn oz0(&self) -> &Path {
        &self.shared.oz0
    }

    fn environments(&self) -> &Cache {
        &self.shared.environments
    }

    fn tools(&self) -> &Cache {
        &self.shared.tools
    }

    /// The folder where an installer keeps what it downloaded.
    fn downloads(&self, installer: &str) -> PathBuf {
        self.shared.downloads.join(installer)
    }

    fn interpreters(&self) -> &Interpreters {
        &self.shared.interpreters
    }

    fn say(&self, line: &str) {
        (self.shared.progress)(line);
    }

    /// An `mcp:` server: its command, and the environments that the plugin's folder declares.
    pub fn prepare_command(
        &self,
        dependencies: &Dependencies,
        argv: &[String],
    ) -> Result<Prepared, PrepareError> {
        Ok(Prepared {
            argv: argv.to_vec(),
            python_environment: self.python_project(dependencies)?,
            node_environment: self.node_project(dependencies)?,
        })
    }

    /// A `package:` tool: installed from its lock, which must be one of exactly the manifest's
    /// package and version. Without a lock, a new one is made, and written to the plugin's `folder`
    /// once it is installed.
    pub fn prepare_package(
        &self,
        folder: &Path,
        tool: &PackageTool<'_>,
        lock: Option<&Arc<SourceFile>>,
    ) -> Result<Prepared, PrepareError> {
        let file = tool.lock_file();
        let source = match lock {
            Some(lock) => Arc::clone(lock),
            None => {
                lock_file::check(folder)?;
                SourceFile::new(file.clone(), self.lock(tool)?)
            }
        };
        let PackageTool { registry, name, version, .. } = *tool;
        let what = format!("{name} {version}");
        let prepared = match registry {
            Registry::Pypi => {
                let found = Requirements::read(&source).map_err(relocked)?;
                names_pypi(&found, name, version)?;
                allowed_pypi(&found)?;
                let environment = self.install_requirements(&found, &what)?;
                let program = Self::console_script(&environment, &source, name)?;
                Prepared {
                    argv: vec![program],
                    python_environment: Some(environment),
                    node_environment: None,
                }
            }
            Registry::Npm => {
                let found = PackageLock::read_tool(&source, name, version).map_err(relocked)?;
                allowed_npm(&found)?;
                let environment = self.install_package_lock(&found, &what)?;
                let program = Self::package_bin(&environment, &source, name)?;
                Prepared {
                    argv: vec![program],
                    python_environment: None,
                    node_environment: Some(environment),
                }
            }
        };
        // Only a lock that installs is kept.
        if lock.is_none() {
            lock_file::write(folder, &format!("{}.lock", tool.tool), source.text())?;
            self.say(&format!("wrote {file}"));
        }
        let mut argv = prepared.argv;
        argv.extend(tool.args.iter().cloned());
        Ok(Prepared { argv, ..prepared })
    }

    /// Makes a lock, and writes it to the plugin's `folder`; says where.
    pub(crate) fn write_lock(
        &self,
        folder: &Path,
        tool: &PackageTool<'_>,
    ) -> Result<String, PrepareError> {
        lock_file::check(folder)?;
        let text = self.lock(tool)?;
        let source = SourceFile::new(tool.lock_file(), text.clone());
        match tool.registry {
            Registry::Pypi => allowed_pypi(&Requirements::read(&source)?)?,
            Registry::Npm => {
                allowed_npm(&PackageLock::read_tool(&source, tool.name, tool.version)?)?
            }
        }
        lock_file::write(folder, &format!("{}.lock", tool.tool), &text)?;
        Ok(tool.lock_file())
    }

    /// The text of a new lock of a package, resolved without running a package's code. A package
    /// that cannot be locked is a problem of the manifest that names it, said of the lock's file.
    pub fn lock(&self, tool: &PackageTool<'_>) -> Result<String, PrepareError> {
        let locked = match tool.registry {
            Registry::Pypi => self.lock_pypi(tool.name, tool.version),
            Registry::Npm => self.lock_npm(tool.name, tool.version),
        };
        let file = SourceFile::new(tool.lock_file(), "");
        locked.map_err(|error| error.or_problem(|_| Span::start_of(&file)))
    }

    /// The version of a package that its registry has today, and that can be locked: the one that `range` stands for, or
    /// the newest where it is empty. No package's code is run.
    pub fn newest(
        &self,
        registry: Registry,
        name: &str,
        range: &str,
    ) -> Result<String, EnvironmentError> {
        match registry {
            Registry::Pypi => self.newest_pypi(name, range),
            Registry::Npm if range.is_empty() => self.newest_npm(name, "latest"),
            Registry::Npm => self.newest_npm(name, range),
        }
    }

    /// The files that make Python packages, each a line of PEP 508, dependencies of a plugin's own server: their paths in
    /// its folder, and their texts.
    pub fn python_files(
        &self,
        requirements: &[String],
    ) -> Result<Vec<(&'static str, String)>, EnvironmentError> {
        let lock = self.lock_requirements(requirements)?;
        let input = requirements.join("\n") + "\n";
        Ok(vec![("requirements.in", input), ("requirements.txt", lock)])
    }

    /// The same for one package of npm, of an exact version.
    pub fn node_files(
        &self,
        name: &str,
        version: &str,
    ) -> Result<Vec<(&'static str, String)>, EnvironmentError> {
        let lock = self.lock_npm(name, version)?;
        Ok(vec![("package.json", node::tool_manifest(name, version)), ("package-lock.json", lock)])
    }
}

/// oz0 wrote the lock, so it is oz0 that writes it anew.
fn relocked(problem: DependencyProblem) -> DependencyProblem {
    let help = "lock it anew with: oz0 plugin test --relock".to_owned();
    DependencyProblem { help, ..problem }
}

/// `name[extra]` without the brackets.
fn without_extras(name: &str) -> &str {
    name.split('[').next().unwrap_or_default()
}

/// Checks that a requirements lock holds exactly the version that the manifest names.
fn names_pypi(found: &Requirements, name: &str, version: &str) -> Result<(), DependencyProblem> {
    // A lock names the package without its extras, whose packages it lists like any other.
    let bare = normal_name(without_extras(name));
    let mut mine = found.iter().filter(|requirement| requirement.name() == bare);
    let (span, message) = match (mine.next(), mine.next()) {
        (Some(one), None) if one.version() == version => return Ok(()),
        (None, _) => {
            (Span::start_of(found.source()), format!("the lock does not hold {name}=={version}"))
        }
        (Some(one), _) => (
            one.span().clone(),
            format!(
                "the lock holds {bare}=={}, and the manifest names {version}",
                oz0_listing::escape::line_within(one.version(), 80)
            ),
        ),
    };
    Err(DependencyProblem::error(span, message, "lock it anew with: oz0 plugin test --relock"))
}

/// Checks that a lock brings in nothing that no plugin may have, whoever pulls it in: OZ-S012 holds where a package's lock is made
/// and where it is installed from, also for who never runs the linter.
fn allowed_pypi(found: &Requirements) -> Result<(), DependencyProblem> {
    let mut all = found.iter();
    let forbidden = all.find(|requirement| forbidden::PYPI.contains(&requirement.name()));
    forbidden.map_or(Ok(()), |one| Err(brings(one.name(), one.version(), one.span().clone())))
}

/// The same of npm's lock.
fn allowed_npm(found: &PackageLock) -> Result<(), DependencyProblem> {
    let all = found.closure().packages;
    let forbidden = all.into_iter().find(|package| forbidden::NPM.contains(&&*package.name));
    forbidden.map_or(Ok(()), |one| {
        let place = format!("node_modules/{}", one.name);
        Err(brings(&one.name, &one.version, found.span_at(&place)))
    })
}

fn brings(name: &str, version: &str, span: Span) -> DependencyProblem {
    let version = oz0_listing::escape::line_within(version, 80);
    DependencyProblem::error(
        span,
        format!("the lock brings in {name} {version}, which no plugin may have (OZ-S012)"),
        "name a package, or a version of it, that does without; `oz0 plugin explain OZ-S012` says why",
    )
}

/// The program of its package's name, else the only one.
fn choose(
    kind: &str,
    registry: &str,
    lock: &Arc<SourceFile>,
    name: &str,
    mut found: Vec<String>,
) -> Result<String, PrepareError> {
    // Its author chose them, and they become a command.
    found.retain(|name| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    });
    let short = name.rsplit('/').next().unwrap_or(name);
    if let Some(same) = found.iter().position(|found| normal_name(found) == normal_name(short)) {
        return Ok(found.swap_remove(same));
    }
    if found.len() == 1 {
        return Ok(found.swap_remove(0));
    }
    found.sort();
    let (message, help) = if found.is_empty() {
        (
            format!("{registry}:{name} has no {kind}, so there is nothing to start"),
            "name a package that brings a server, or start its module with mcp: and a lock",
        )
    } else {
        (
            format!(
                "{registry}:{name} has several {kind}s and none of its own name: {}",
                found.join(", ")
            ),
            "start the one you mean with mcp: {command: […]} and a lock of your own",
        )
    };
    Err(DependencyProblem::error(Span::start_of(lock), message, help).into())
}

/// Where oz0 keeps what it can make again: `OZ0_CACHE`, else `oz0` in `XDG_CACHE_HOME` (which the
/// XDG base directory specification wants absolute), else `~/.cache/oz0`. `None` where the user
/// has no home.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    set("OZ0_CACHE")
        .and_then(|path| std::path::absolute(path).ok())
        .or_else(|| Some(set("XDG_CACHE_HOME").filter(|path| path.is_absolute())?.join("oz0")))
        .or_else(|| Some(std::env::home_dir()?.join(".cache/oz0")))
}
