//! `--share` and `--share-read`: which folders of this machine a plugin's servers may use.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oz0_api::PluginName;
use oz0_node::NodeOptions;
use oz0_plugin::Plugin;
use oz0_server::{Protected, ShareAccess, Shares};

use crate::cli::NodeFlags;
use crate::config::Settings;
use crate::exit::WrongUsage;

/// What the flags and the configuration file share with each plugin. `folders` are those that the command runs in place.
pub(crate) fn by_plugin(
    flags: &NodeFlags,
    settings: &Settings,
    folders: &[PathBuf],
) -> Result<BTreeMap<PluginName, Shares>> {
    let mut given: BTreeMap<PluginName, Vec<(PathBuf, ShareAccess)>> = BTreeMap::new();
    for (name, path, access) in settings.shares() {
        given.entry(name.clone()).or_default().push((path.to_owned(), access));
    }
    let both = [
        ("--share", &flags.share, ShareAccess::Write),
        ("--share-read", &flags.share_read, ShareAccess::Read),
    ];
    for (flag, values, access) in both {
        for value in values {
            let (name, path) = match named(value) {
                Some(named) => named,
                None => (only(flag, value, folders)?, PathBuf::from(value)),
            };
            given.entry(name).or_default().push((path, access));
        }
    }
    if given.is_empty() {
        return Ok(BTreeMap::new());
    }
    let protected = protected(settings, folders)?;
    given.into_iter().map(|(name, folders)| Ok((name, Shares::new(folders, &protected)?))).collect()
}

/// The plugins that flags name.
pub(crate) fn named_plugins(flags: &NodeFlags, node: &NodeOptions) -> BTreeSet<PluginName> {
    let shared = flags.share.iter().chain(&flags.share_read);
    let shared = shared.filter_map(|value| named(value)).map(|(name, _)| name);
    shared.chain(node.secrets_of.keys().cloned()).collect()
}

/// What `plugin test` shares with the one plugin that it tests.
pub(crate) fn with_one(
    write: &[std::ffi::OsString],
    read: &[std::ffi::OsString],
    settings: &Settings,
    folder: &Path,
) -> Result<Shares> {
    let write = write.iter().map(|path| (PathBuf::from(path), ShareAccess::Write));
    let read = read.iter().map(|path| (PathBuf::from(path), ShareAccess::Read));
    let given: Vec<_> = write.chain(read).collect();
    if given.is_empty() {
        return Ok(Shares::none());
    }
    Ok(Shares::new(given, &protected(settings, &[folder.to_owned()])?)?)
}

/// `NAME=DIR`. A path that has a `=` behind what could be a name is written with a `/` before it, as `./a=b`.
fn named(value: &OsStr) -> Option<(PluginName, PathBuf)> {
    let at = value.as_bytes().iter().position(|byte| *byte == b'=')?;
    let (name, path) = value.as_bytes().split_at(at);
    let name = std::str::from_utf8(name).ok()?.parse().ok()?;
    Some((name, PathBuf::from(OsStr::from_bytes(&path[1..]))))
}

/// The name of the one plugin that a folder can be meant for.
fn only(flag: &str, value: &OsStr, folders: &[PathBuf]) -> Result<PluginName> {
    let [folder] = folders else {
        let which =
            format!("{flag} {0}: say whose servers may use it: {flag} NAME={0}", value.display());
        return Err(WrongUsage(which).into());
    };
    let plugin = Plugin::load(folder)?;
    let manifest = plugin.manifest().with_context(|| {
        format!("the manifest of {} has errors; `oz0 plugin inspect` shows them", folder.display())
    })?;
    Ok(manifest.name.as_str().parse()?)
}

/// What no server is given, whoever asks.
fn protected(settings: &Settings, folders: &[PathBuf]) -> Result<Vec<Protected>> {
    let mut protected = vec![Protected::secret(settings.data()?.root(), "oz0's data folder")];
    if let Some(config) = settings.config() {
        protected.push(Protected::secret(config, "oz0's settings and credentials"));
    }
    protected.push(Protected::fixed(settings.cache()?, "oz0's cache, from which servers are run"));
    let program = std::env::current_exe().context("cannot find oz0's own program")?;
    protected.push(Protected::fixed(program, "oz0's own program"));
    protected
        .extend(folders.iter().map(|folder| Protected::fixed(folder, "a plugin's own folder")));
    Ok(protected)
}
