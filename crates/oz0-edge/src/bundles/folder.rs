//! Bundles in a folder. Each is on the disk before it has its name.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream;

use super::{Parts, boxed};
use crate::small::open_regular;
use crate::store::StoreError;

/// How much is read at once to be sent, in bytes.
const PART: usize = 256 * 1024;

/// The folder of bundles.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder where it is not there.
    pub(super) fn make(path: &Path) -> Result<Self, StoreError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(path).map_err(failed("make", path))?;
        Ok(Self(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes files of other names that are older than that. Blocks.
    pub(super) fn sweep(
        &self,
        names: &BTreeSet<String>,
        older: Duration,
    ) -> Result<(), StoreError> {
        for entry in fs::read_dir(&self.0).map_err(failed("read", &self.0))? {
            let entry = entry.map_err(failed("read", &self.0))?;
            let is_known = entry.file_name().to_str().is_some_and(|name| names.contains(name));
            let is_old = || {
                let written = entry.metadata().and_then(|metadata| metadata.modified());
                older.is_zero() || written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > older))
            };
            if !is_known && entry.file_type().is_ok_and(|kind| kind.is_file()) && is_old() {
                fs::remove_file(entry.path()).map_err(failed("remove", &entry.path()))?;
            }
        }
        Ok(())
    }

    /// Blocks.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // Two that bring one bundle at once write two files, and the last has the name.
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let temporary = self.0.join(format!("{}.new", u64::from_ne_bytes(random)));
        let written = || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt as _;
                options.mode(0o600);
            }
            let mut file = options.open(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, self.0.join(name))?;
            File::open(&self.0)?.sync_all()
        };
        written().inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }

    pub(super) async fn open(&self, name: &str) -> io::Result<Parts> {
        let path = self.0.join(name);
        let file = tokio::task::spawn_blocking(move || open_regular(&path))
            .await
            .map_err(io::Error::other)??;
        Ok(boxed(stream::try_unfold(file, |file| async {
            tokio::task::spawn_blocking(|| part(file)).await.map_err(io::Error::other)?
        })))
    }
}

/// The next part of a file that is sent; none at its end. Blocks.
fn part(mut file: File) -> io::Result<Option<(Bytes, File)>> {
    let mut part = Vec::with_capacity(PART);
    (&mut file).take(PART as u64).read_to_end(&mut part)?;
    Ok((!part.is_empty()).then(|| (Bytes::from(part), file)))
}

fn failed(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Folder { operation, path, source }
}
