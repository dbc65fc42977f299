//! What a plugin is installed with: a bundle in which every `package:` tool has its lock.
//!
//! A version alone does not say what a server lists, so nodes install from a lock and from nothing else. One that the author left
//! out is made once, by whoever installs: what is looked at, linted and agreed to is what every node runs from then on.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use oz0_bundle::Bundle;
use oz0_plugin::{CopyOptions, Plugin};
use oz0_server::{Environments, PrepareError, ToolError, unlocked};

use super::install::{DONE, bytes, unpacked};
use super::pack::refused;
use crate::config::Settings;
use crate::output::Output;
use crate::progress::Progress;

/// The bundle to install. A lock that is missing is made here and now: in the folder, or, of a bundle's files, in a bundle like
/// it that has the lock as well. None where something is wrong, which was said then.
pub(super) fn locked(
    path: &Path,
    settings: &Settings,
    output: Output,
) -> Result<Option<(Vec<u8>, Bundle)>> {
    if path.is_dir() && !lock(path, settings, output)? {
        return Ok(None);
    }
    let Some(first) = bytes(path, output)? else { return Ok(None) };
    let Some(bundle) = unpacked(&first, path, output)? else { return Ok(None) };
    let missing = match bundle.plugin.manifest() {
        Some(manifest) => unlocked(&bundle.plugin, manifest)?.len(),
        None => 0,
    };
    if missing == 0 {
        return Ok(Some((first, bundle)));
    }
    let folder = tempfile::tempdir().context("could not make a folder to lock in")?;
    let all = CopyOptions { written: true, ..CopyOptions::default() };
    bundle.plugin.copy(folder.path(), &all)?;
    if !lock(folder.path(), settings, output)? {
        return Ok(None);
    }
    let Some(bytes) = bytes(folder.path(), output)? else { return Ok(None) };
    let Some(bundle) = unpacked(&bytes, path, output)? else { return Ok(None) };
    output.say("the bundle has no such lock, so what is installed is another one, with it");
    Ok(Some((bytes, bundle)))
}

/// Locks what is not locked in a plugin's folder. Whether nothing is wrong with it; what is, was said.
fn lock(folder: &Path, settings: &Settings, output: Output) -> Result<bool> {
    let plugin = Plugin::load(folder)?;
    let Some(manifest) = plugin.manifest() else {
        return Ok(!refused(plugin.diagnostics(), DONE, output));
    };
    if unlocked(&plugin, manifest)?.is_empty() {
        return Ok(true);
    }
    let oz0 = std::env::current_exe().context("cannot find oz0's own program")?;
    let progress = Progress::new(output);
    let say = progress.clone();
    let say = Arc::new(move |line: &str| say.now(line.to_owned()));
    let written = Environments::new(oz0, settings.cache()?, say).lock_tools(&plugin, manifest);
    progress.finish();
    match written {
        Ok(written) => {
            for lock in written {
                output.say(&format!("wrote {lock}"));
            }
            Ok(true)
        }
        Err(ToolError::Prepare(PrepareError::Plugin(problem))) => {
            Ok(!refused(&[oz0_measure::of_unusable(&problem)], DONE, output))
        }
        Err(error) => Err(error.into()),
    }
}
