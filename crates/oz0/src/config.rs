//! Settings: flags first, then `OZ0_*`, then `config.toml`.
//!
//! The file is `$XDG_CONFIG_HOME/oz0/config.toml`, or `~/.config/oz0/config.toml`. An unknown key is an error: a setting that
//! is silently ignored is worse than none.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::{Color, Global};

/// What holds for this run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) color: Color,
    /// Where locked environments are kept.
    pub(crate) cache: PathBuf,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    color: Option<Color>,
    cache: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn read(flags: &Global) -> Result<Self> {
        let file = match folder("XDG_CONFIG_HOME", ".config") {
            Some(folder) => read_file(&folder.join("config.toml"))?,
            None => File::default(),
        };
        let color = flags.color.or(file.color).unwrap_or(Color::Auto);
        let cache = flags
            .cache
            .clone()
            .or(file.cache)
            .or_else(|| folder("XDG_CACHE_HOME", ".cache"))
            .context(
                "no place for locked environments is known: set HOME, or name one with --cache",
            )?;
        Ok(Self { color, cache })
    }
}

fn read_file(path: &Path) -> Result<File> {
    match fs::read_to_string(path) {
        Ok(text) => {
            toml::from_str(&text).with_context(|| format!("{} does not decode", path.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(File::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// oz0's folder below an XDG base folder. The XDG base directory specification has relative paths ignored.
fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)))
        .map(|base| base.join("oz0"))
}
