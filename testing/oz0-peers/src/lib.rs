//! Where the pinned third-party servers and tools that tests run are installed.
//!
//! `cargo xtask setup` installs what the two locks in `tests/servers/` name, and tests run it. Both must agree on
//! the folder without talking to each other, so both ask this crate, and the folder's name is the hash of its lock:
//! a checkout with another lock looks elsewhere and never meets half of the old set. What speed is measured against has
//! a third lock, which no test needs: `cargo xtask setup --bench` installs it.
//!
//! A folder counts only when its ready marker is there. The marker is written last, so an installation that was cut
//! short is no installation. (A temporary folder that is renamed would not do: a Python environment's scripts carry
//! the absolute path they were installed at.)

pub mod postgres;

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The file that says a folder was installed to the end.
const READY: &str = ".ready";

/// The folder inside a Python environment that holds the tools and nothing else. The environment's own `bin` must
/// never go on a PATH: its `python3` has every test package, so a plugin that forgot its own would not be noticed.
const TOOLS: &str = "tools";

/// Why the pinned programs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeersError {
    /// The lock is not where the checkout has it.
    #[error("reading {path}: {source}")]
    Lock {
        /// The lock.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Neither `OZ0_TEST_CACHE` nor `HOME` is set.
    #[error("no folder for test programs: set OZ0_TEST_CACHE or HOME")]
    NoCache,
    /// The folder has no ready marker.
    #[error("{0} is not installed\nhint: cargo xtask setup")]
    NotInstalled(PathBuf),
    /// The folder of the programs that speed is measured against has no ready marker.
    #[error("{0} is not installed\nhint: cargo xtask setup --bench")]
    BenchNotInstalled(PathBuf),
}

/// One installed lock: a folder whose name is the lock's hash.
#[derive(Debug, Clone)]
pub struct Installation {
    root: PathBuf,
    lock: PathBuf,
}

impl Installation {
    fn of(lock: PathBuf) -> Result<Self, PeersError> {
        let text = std::fs::read(&lock)
            .map_err(|source| PeersError::Lock { path: lock.clone(), source })?;
        let mut name = String::with_capacity(16);
        for byte in &Sha256::digest(&text)[..8] {
            // Writing into a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        Ok(Self { root: cache()?.join(name), lock })
    }

    /// The folder, whether installed or not.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The lock that names what is installed here.
    pub fn lock(&self) -> &Path {
        &self.lock
    }

    /// The ready marker, whether it is there or not.
    pub fn marker(&self) -> PathBuf {
        self.root.join(READY)
    }

    /// Whether the folder was installed to the end.
    pub fn is_ready(&self) -> bool {
        self.marker().is_file()
    }

    fn ready(self) -> Result<Self, PeersError> {
        if self.is_ready() { Ok(self) } else { Err(PeersError::NotInstalled(self.root)) }
    }
}

/// The folder that holds every installation: `OZ0_TEST_CACHE`, else `~/.cache/oz0-tests`.
pub fn cache() -> Result<PathBuf, PeersError> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("OZ0_TEST_CACHE")
        .or_else(|| Some(set("HOME")?.join(".cache/oz0-tests")))
        .ok_or(PeersError::NoCache)
}

/// The checkout that this crate was built in.
pub fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// The Python environment of `tests/servers/requirements.txt`, installed or not.
pub fn python() -> Result<Installation, PeersError> {
    Installation::of(workspace().join("tests/servers/requirements.txt"))
}

/// The npm folder of `tests/servers/package-lock.json`, installed or not.
pub fn npm() -> Result<Installation, PeersError> {
    Installation::of(workspace().join("tests/servers/package-lock.json"))
}

/// The Python environment of `tests/servers/bench-requirements.txt`, installed or not.
pub fn bench() -> Result<Installation, PeersError> {
    Installation::of(workspace().join("tests/servers/bench-requirements.txt"))
}

/// The folder to link a Python environment's tools into.
pub fn tools_folder(python: &Installation) -> PathBuf {
    python.root.join(TOOLS)
}

/// The pinned programs, all installed.
#[derive(Debug, Clone)]
pub struct Peers {
    python: Installation,
    npm: Installation,
}

impl Peers {
    /// Finds both installations; an error says which is missing and how to install it.
    pub fn find() -> Result<Self, PeersError> {
        Ok(Self { python: python()?.ready()?, npm: npm()?.ready()? })
    }

    /// The interpreter that can import every pinned Python package, the MCP SDK among them.
    pub fn python(&self) -> PathBuf {
        self.python.root.join("bin/python")
    }

    /// A program of a Python package, such as `mcp-server-time`, `ruff` or `uv`.
    pub fn python_program(&self, name: &str) -> PathBuf {
        self.python.root.join("bin").join(name)
    }

    /// The folder that holds every npm package, for scripts that import one.
    pub fn npm_packages(&self) -> PathBuf {
        self.npm.root.join("node_modules")
    }

    /// A program of an npm package, such as `mcp-server-everything`.
    pub fn npm_program(&self, name: &str) -> PathBuf {
        self.npm.root.join("node_modules/.bin").join(name)
    }

    /// This process's PATH with the pinned tools (`uv` among them) first, and no pinned `python3` on it.
    pub fn path(&self) -> OsString {
        path_with(&tools_folder(&self.python))
    }
}

/// The programs that speed is measured against, installed.
#[derive(Debug, Clone)]
pub struct Bench(Installation);

impl Bench {
    /// Finds the installation; an error says how to install it.
    pub fn find() -> Result<Self, PeersError> {
        let bench = bench()?;
        if bench.is_ready() {
            Ok(Self(bench))
        } else {
            Err(PeersError::BenchNotInstalled(bench.root))
        }
    }

    /// A program of this environment, such as `python` or `vex-mcp`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.0.root.join("bin").join(name)
    }
}

/// This process's PATH with one folder put first.
pub fn path_with(first: &Path) -> OsString {
    let mut path = OsString::from(first);
    if let Some(rest) = env::var_os("PATH").filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(lock: &Path, text: &str) -> Installation {
        std::fs::write(lock, text).unwrap();
        Installation::of(lock.to_owned()).unwrap()
    }

    #[test]
    fn another_lock_is_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lock");
        let first = install(&lock, "a==1");
        let second = install(&lock, "a==2");
        assert_ne!(first.root(), second.root());
        assert_eq!(first.root(), install(&lock, "a==1").root());
        // The first 8 bytes of SHA-256("a==1"), as `printf 'a==1' | sha256sum` prints them.
        assert!(first.root().ends_with("4259374dfcb3b234"), "{}", first.root().display());
    }

    #[test]
    fn a_folder_without_its_marker_is_not_installed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("half");
        std::fs::create_dir(&root).unwrap();
        let half = Installation { root, lock: folder.path().join("lock") };
        let error = half.clone().ready().unwrap_err().to_string();
        assert!(error.contains("cargo xtask setup"), "{error}");
        std::fs::write(half.marker(), "").unwrap();
        assert!(half.ready().is_ok());
    }
}
