//! Settings: flags first, then `OZ0_*`, then `config.toml`.
//!
//! The file is `$XDG_CONFIG_HOME/oz0/config.toml`, or `~/.config/oz0/config.toml`. An unknown key is an error: a setting that
//! is silently ignored is worse than none.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use crate::cli::{Color, Global};

/// What holds for this run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) color: Color,
    cache: Option<PathBuf>,
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
        let color = match flags.color {
            Some(color) => Some(color),
            None => variable("OZ0_COLOR")?.map(|text| color_of(&text)).transpose()?,
        };
        let cache = match &flags.cache {
            Some(cache) => Some(cache.clone()),
            None => env::var_os("OZ0_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from),
        };
        Ok(Self {
            color: color.or(file.color).unwrap_or(Color::Auto),
            cache: cache.or(file.cache).or_else(|| folder("XDG_CACHE_HOME", ".cache")),
        })
    }

    /// Where locked environments are kept.
    pub(crate) fn cache(&self) -> Result<&Path> {
        self.cache.as_deref().context(
            "no place for locked environments is known: set HOME, or name one with --cache",
        )
    }
}

fn color_of(text: &str) -> Result<Color> {
    Color::from_str(text, false)
        .map_err(|_| anyhow!("OZ0_COLOR is `{text}`: it is one of auto, always and never"))
}

/// A variable that is set to something: an empty one counts as unset, as CI systems set many.
fn variable(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => bail!("{name} is not UTF-8"),
    }
}

fn read_file(path: &Path) -> Result<File> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut file: File =
        toml::from_str(&text).with_context(|| format!("{} does not decode", path.display()))?;
    if let Some(cache) = &mut file.cache {
        // A shell would have made this of it.
        if let (Ok(below), Some(home)) = (cache.strip_prefix("~"), env::var_os("HOME")) {
            *cache = PathBuf::from(home).join(below);
        }
        if !cache.is_absolute() {
            bail!(
                "{}: `cache` is {}, which is not an absolute path",
                path.display(),
                cache.display()
            );
        }
    }
    Ok(file)
}

/// oz0's folder below an XDG base folder. The XDG base directory specification has relative paths ignored.
fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)))
        .map(|base| base.join("oz0"))
}
