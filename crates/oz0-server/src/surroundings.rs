//! The surroundings that every start of a server gets, on every machine.
//!
//! A server whose listing depends on where and when it starts would be refused for ever once its
//! listing is pinned, so there is one set of surroundings, made here and nowhere else. The other
//! set ([`Variation::Other`]) differs in each of the ways that servers are known to look at:
//! it exists to find out which functions do look, before a user's machine does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Which set of surroundings a server is started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// What every node, gate and first look of a test uses.
    #[default]
    Standard,
    /// Another time zone, hash seed, home, scratch and plugin folder, for the look that finds
    /// functions bound to their surroundings.
    Other,
}

/// Where a server finds things. In the sandbox's first tier these paths are fixed; in tier 0 they
/// are wherever the machine has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The plugin's folder, which is also the working directory.
    pub folder: PathBuf,
    /// `HOME`, empty and writable at every start.
    pub home: PathBuf,
    /// `TMPDIR`, empty and writable at every start.
    pub scratch: PathBuf,
    /// Directories of programs, searched in this order before the system's own.
    pub programs: Vec<PathBuf>,
}

/// The system's own program directories, last on every server's `PATH`.
pub const SYSTEM_PROGRAMS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Where the sandbox's first tier puts the locked Python environment.
pub const PYTHON_ENVIRONMENT: &str = "/oz0/environment/python";
/// Where the sandbox's first tier puts the locked Node.js environment.
pub const NODE_ENVIRONMENT: &str = "/oz0/environment/node";
/// Where the sandbox's first tier links the interpreters that the host's `PATH` names.
pub const INTERPRETERS: &str = "/oz0/bin";

impl Places {
    /// The places inside the sandbox's first tier: the same on every machine, and the same
    /// whether or not the plugin has an environment (a `PATH` entry that is no directory is
    /// skipped by everyone).
    pub fn fixed(variation: Variation) -> Self {
        let (folder, home, scratch) = match variation {
            Variation::Standard => ("/oz0/plugin", "/oz0/home", "/tmp"),
            Variation::Other => ("/srv/elsewhere/plugin", "/home/somebody", "/scratch/elsewhere"),
        };
        let python = Path::new(PYTHON_ENVIRONMENT);
        let node = Path::new(NODE_ENVIRONMENT);
        Self {
            folder: folder.into(),
            home: home.into(),
            scratch: scratch.into(),
            programs: vec![python.join("bin"), node.join("node_modules/.bin"), INTERPRETERS.into()],
        }
    }

    /// The value of `PATH`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for directory in self
            .programs
            .iter()
            .map(|path| path.to_string_lossy())
            .chain(SYSTEM_PROGRAMS.map(Into::into))
        {
            if !path.is_empty() {
                path.push(':');
            }
            path.push_str(&directory);
        }
        path
    }
}

impl Variation {
    /// `TZ`.
    pub fn zone(self) -> &'static str {
        match self {
            Self::Standard => "UTC",
            Self::Other => "Asia/Kathmandu",
        }
    }

    /// `PYTHONHASHSEED`.
    pub fn hash_seed(self) -> &'static str {
        match self {
            Self::Standard => "0",
            Self::Other => "4242",
        }
    }

    /// The complete environment of a server: these variables and the declared ones, nothing from
    /// the process that starts it. A declared variable wins over one of ours, since whoever wrote
    /// it down said so for every machine.
    pub fn environment(
        self,
        places: &Places,
        declared: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let (zone, seed) = (self.zone(), self.hash_seed());
        let mut variables = BTreeMap::from([
            ("TZ".to_owned(), zone.to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("PYTHONHASHSEED".to_owned(), seed.to_owned()),
            ("PATH".to_owned(), places.path()),
            ("HOME".to_owned(), places.home.to_string_lossy().into_owned()),
            ("TMPDIR".to_owned(), places.scratch.to_string_lossy().into_owned()),
        ]);
        variables.extend(declared.iter().map(|(name, value)| (name.clone(), value.clone())));
        variables
    }
}
