//! What a node remembers from one life to the next: the plugin set that it had, and the era that each server spoke.
//!
//! None of it is ever trusted. What is run, and what is accepted, comes from the edge alone, each time anew; the era
//! spares a legacy server the probe that it does not answer, and where it is wrong the server is probed. So a file that
//! is missing, cut short, overwritten or of another time costs a probe, and nothing else.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oz0_api::{PluginName, PluginVersion};
use oz0_listing::ToolId;
use oz0_mcp::Era;
use serde::{Deserialize, Serialize};

/// The longest file that is read.
const LONGEST: u64 = 1 << 20;

/// The file, and what is in it.
#[derive(Debug)]
pub(crate) struct Memory {
    path: Option<PathBuf>,
    held: Mutex<Held>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    plugins: BTreeMap<PluginName, Version>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    version: PluginVersion,
    eras: BTreeMap<ToolId, Spoken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Spoken {
    Legacy,
    Modern,
}

impl Memory {
    /// What the file at `path` holds; without one, only what is learned from now on.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let held = path.as_deref().and_then(|path| read(path).ok()).unwrap_or_default();
        Self { path, held: Mutex::new(held) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The era in which this tool's server was last spoken to.
    pub(crate) fn era(
        &self,
        plugin: &PluginName,
        version: &PluginVersion,
        tool: &ToolId,
    ) -> Option<Era> {
        let held = self.held();
        let known = held.plugins.get(plugin).filter(|known| known.version == *version)?;
        Some(match known.eras.get(tool)? {
            Spoken::Legacy => Era::Legacy,
            Spoken::Modern => Era::Modern,
        })
    }

    /// A version is run from now on.
    pub(crate) fn assign(&self, plugin: &PluginName, version: &PluginVersion) {
        let mut held = self.held();
        if held.plugins.get(plugin).is_none_or(|known| known.version != *version) {
            let version = Version { version: version.clone(), eras: BTreeMap::new() };
            held.plugins.insert(plugin.clone(), version);
            self.write(&held);
        }
    }

    /// A plugin is no longer run.
    pub(crate) fn unassign(&self, plugin: &PluginName) {
        let mut held = self.held();
        if held.plugins.remove(plugin).is_some() {
            self.write(&held);
        }
    }

    /// A server speaks this era.
    pub(crate) fn agree(
        &self,
        plugin: &PluginName,
        version: &PluginVersion,
        tool: &ToolId,
        era: Era,
    ) {
        let spoken = match era {
            Era::Legacy => Spoken::Legacy,
            Era::Modern => Spoken::Modern,
        };
        let mut held = self.held();
        let Some(known) = held.plugins.get_mut(plugin).filter(|known| known.version == *version)
        else {
            return;
        };
        if known.eras.insert(tool.clone(), spoken) != Some(spoken) {
            self.write(&held);
        }
    }

    /// Nothing depends on the file, so nothing fails with it.
    fn write(&self, held: &Held) {
        let Some(path) = &self.path else { return };
        if let Ok(text) = serde_json::to_string_pretty(held) {
            let _ = replace(path, &(text + "\n"));
        }
    }
}

fn read(path: &Path) -> io::Result<Held> {
    let mut text = String::new();
    fs::File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("new");
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(&temporary)?.write_all(text.as_bytes())?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> (PluginName, PluginVersion, ToolId) {
        let tool = ToolId::try_from("team").unwrap();
        ("team".parse().unwrap(), "1.0.0".parse().unwrap(), tool)
    }

    #[test]
    fn what_was_agreed_is_there_in_the_next_life() {
        let folder = std::env::temp_dir().join(format!("oz0-memory-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state.json");
        let (plugin, version, tool) = names();
        let memory = Memory::open(Some(path.clone()));
        memory.agree(&plugin, &version, &tool, Era::Legacy);
        assert_eq!(memory.era(&plugin, &version, &tool), None, "it is not run");
        memory.assign(&plugin, &version);
        memory.agree(&plugin, &version, &tool, Era::Legacy);
        let again = Memory::open(Some(path.clone()));
        assert_eq!(again.era(&plugin, &version, &tool), Some(Era::Legacy));
        assert_eq!(again.era(&plugin, &"1.0.1".parse().unwrap(), &tool), None);

        // Whatever the file becomes, it is at worst forgotten.
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let known = Memory::open(Some(path.clone())).era(&plugin, &version, &tool);
            let only_its_line_end = cut + 1 == whole.len();
            assert!(known.is_none() || only_its_line_end, "{known:?} out of {cut} bytes");
            let mut wrong = whole.clone();
            wrong[cut] ^= 0x55;
            fs::write(&path, &wrong).unwrap();
            let memory = Memory::open(Some(path.clone()));
            memory.assign(&plugin, &version);
            memory.agree(&plugin, &version, &tool, Era::Modern);
            let again = Memory::open(Some(path.clone()));
            assert_eq!(again.era(&plugin, &version, &tool), Some(Era::Modern));
        }
        memory.unassign(&plugin);
        assert_eq!(Memory::open(Some(path)).era(&plugin, &version, &tool), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
