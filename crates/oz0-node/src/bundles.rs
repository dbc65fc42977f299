//! The bundles that a node runs: fetched from its edge, checked, unpacked.
//!
//! What an assignment names is a digest, and nothing is run whose bytes do not have it, whoever sent them. A node keeps the
//! bundle itself beside what it unpacked of it, and each start of a server holds the one against the assigned digest and
//! the other against the bundle, file by file, with nothing more in the folder than in the bundle: files on a disk change for
//! many reasons, and a file that is added can do as much as one that is edited. What differs is unpacked anew, and a bundle that
//! is not the one is fetched anew: nothing is lost with either. A folder is unpacked beside its place and then given its name,
//! so it is whole or not there.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oz0_api::Client as Edge;
use oz0_api::plugin::{PluginDescription, Source};
use oz0_bundle::Bundle;
use oz0_listing::Digest;
use oz0_plugin::{CopyOptions, is_written};
use tokio::sync::Mutex as Turn;

/// The plugin's files, in a bundle's folder.
const FILES: &str = "plugin";
/// The bundle, in its folder.
const BUNDLE: &str = "bundle.oz0";

/// Where a node keeps what it unpacked.
#[derive(Debug)]
pub(crate) struct Bundles {
    folder: Option<PathBuf>,
    /// A plugin with several tools starts several servers at once, and is fetched once.
    turns: Mutex<HashMap<Digest, Arc<Turn<()>>>>,
}

impl Bundles {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, turns: Mutex::default() }
    }

    /// The folder that a version's servers are started from: its own in dev mode, else that of its bundle. The error is for
    /// people.
    pub(crate) async fn folder_of(
        &self,
        description: &PluginDescription,
        edge: &Edge,
    ) -> Result<PathBuf, String> {
        let digest = match &description.source {
            Source::Dev { folder } => return Ok(PathBuf::from(folder)),
            Source::Bundle => description.digest,
        };
        let Some(folder) = &self.folder else {
            return Err("this node has no folder for bundles".to_owned());
        };
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(digest).or_default())
        };
        let _turn = turn.lock().await;
        let place = folder.join(digest.hex());
        let files = place.join(FILES);
        let kept = blocking({
            let place = place.clone();
            move || Ok(restore(&place, digest))
        });
        if kept.await? {
            return Ok(files);
        }
        let bytes = edge
            .bundle(digest)
            .await
            .map_err(|error| format!("its bundle could not be fetched: {error}"))?;
        blocking(move || {
            let bundle = checked(&bytes, digest)?;
            unpack(&bundle, &bytes, &place)
        })
        .await?;
        Ok(files)
    }

    /// Lets go of the bundles that no assignment names. Blocks.
    pub(crate) fn forget_others(&self, assigned: &[Digest]) {
        let Some(folder) = &self.folder else { return };
        let names: Vec<String> = assigned.iter().map(Digest::hex).collect();
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_none_or(|name| !names.iter().any(|kept| kept == name))
            {
                // What cannot be removed now costs room, and is tried again at the next start.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// A bundle that has this digest.
fn checked(bytes: &[u8], digest: Digest) -> Result<Bundle, String> {
    let bundle = oz0_bundle::read(bytes, Path::new("its bundle"))
        .map_err(|error| format!("its bundle is none: {error}"))?;
    if bundle.digest != digest {
        return Err(format!(
            "what the edge sent is not its bundle: it has the digest {}",
            bundle.digest
        ));
    }
    Ok(bundle)
}

/// Whether the bundle that is kept here is the one, and what was unpacked of it is there as it was, or is again.
fn restore(place: &Path, digest: Digest) -> bool {
    let Ok(bytes) = fs::read(place.join(BUNDLE)) else { return false };
    let Ok(bundle) = checked(&bytes, digest) else { return false };
    is_as_packed(&place.join(FILES), &bundle) || unpack(&bundle, &bytes, place).is_ok()
}

/// Whether a folder holds the files of a bundle that servers run on, byte for byte, and nothing else.
fn is_as_packed(folder: &Path, bundle: &Bundle) -> bool {
    let mut left: BTreeSet<&str> = bundle
        .plugin
        .packed()
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| !is_written(path))
        .collect();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { return false };
        for entry in entries {
            let Ok(entry) = entry else { return false };
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                return false;
            };
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                open.push((entry.path(), format!("{path}/")));
                continue;
            }
            let same = kind.is_file()
                && left.remove(path.as_str())
                && bundle.plugin.file(&path).is_some_and(|file| {
                    let looks_so = entry.metadata().is_ok_and(|found| {
                        found.len() == file.len
                            && found.permissions().mode() & 0o777 == file.mode.bits()
                    });
                    let packed = bundle.plugin.read_file(file, file.len);
                    looks_so
                        && fs::read(entry.path())
                            .is_ok_and(|found| packed.is_ok_and(|packed| packed == found))
                });
            if !same {
                return false;
            }
        }
    }
    left.is_empty()
}

fn unpack(bundle: &Bundle, bytes: &[u8], place: &Path) -> Result<(), String> {
    let temporary = place.with_extension("new");
    let unpacked = || -> Result<(), String> {
        let failed = |operation: &'static str, path: &Path| {
            let shown = path.display().to_string();
            move |error: io::Error| format!("could not {operation} {shown}: {error}")
        };
        remove(&temporary).map_err(failed("remove", &temporary))?;
        fs::create_dir_all(&temporary).map_err(failed("make", &temporary))?;
        bundle
            .plugin
            .copy(&temporary.join(FILES), &CopyOptions::default())
            .map_err(|error| causes(&error))?;
        let kept = temporary.join(BUNDLE);
        fs::write(&kept, bytes).map_err(failed("write", &kept))?;
        remove(place).map_err(failed("remove", place))?;
        fs::rename(&temporary, place).map_err(failed("make", place))
    };
    unpacked().inspect_err(|_| {
        // What is left of it would keep the room that another bundle needs.
        let _ = remove(&temporary);
    })
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut last = error;
    while let Some(source) = last.source() {
        let said = source.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        last = source;
    }
    text
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
