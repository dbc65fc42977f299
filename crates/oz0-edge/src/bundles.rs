//! The bundles that the edge keeps, for its nodes to fetch: a folder with one file a digest.
//!
//! A bundle is taken after it was read by the strict reader, so that what is kept is one, and under the digest of its own
//! bytes, so that no name decides what a file holds. Nodes check it again: they believe the digest that the store says, and not
//! the file. A file is whole or not there, whenever the process ends.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use oz0_api::plugin::PluginDescription;
use oz0_api::{Code, Problem};
use oz0_bundle::ReadError;
use oz0_listing::{Digest, escape};
use serde::Deserialize;

use crate::small::open_regular;
use crate::store::StoreError;

/// How much is read at once to be sent, in bytes.
const PART: usize = 256 * 1024;

/// The folder of bundles.
#[derive(Debug)]
pub(crate) struct Bundles {
    folder: PathBuf,
}

/// What a bundle says of itself in front.
#[derive(Deserialize)]
struct Compiled {
    name: String,
    version: String,
}

impl Bundles {
    /// Opens or makes the folder in a data folder, and lets go of what no version is known by: bundles that came and were
    /// never installed, and halves.
    pub(crate) fn open(data: &Path, known: &BTreeSet<Digest>) -> Result<Self, StoreError> {
        let folder = data.join("bundles");
        let failed = |operation, path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { operation, path, source }
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(&folder).map_err(failed("make", &folder))?;
        let names: BTreeSet<String> = known.iter().map(file_name).collect();
        for entry in fs::read_dir(&folder).map_err(failed("read", &folder))? {
            let entry = entry.map_err(failed("read", &folder))?;
            let is_known = entry.file_name().to_str().is_some_and(|name| names.contains(name));
            if !is_known && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::remove_file(entry.path()).map_err(failed("remove", &entry.path()))?;
            }
        }
        Ok(Self { folder })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(file_name(digest))
    }

    /// Takes a bundle that is to have this digest. Blocks.
    pub(crate) fn keep(&self, digest: &Digest, bytes: &Bytes) -> Result<(), Problem> {
        let bundle = oz0_bundle::read(&bytes[..], Path::new("the bundle")).map_err(|error| {
            let what = match error {
                ReadError::Findings(_) => "its manifest does not decode".to_owned(),
                error => error.to_string(),
            };
            Problem::new(
                Code::Malformed,
                format!("this is no bundle: {}", escape::line_within(&what, 400)),
            )
            .hint("make it anew with: oz0 plugin pack DIR")
        })?;
        if bundle.digest != *digest {
            let what = format!("the bundle's digest is {}, and not {digest}", bundle.digest);
            return Err(Problem::new(Code::Malformed, what));
        }
        self.write(digest, bytes).map_err(|error| {
            let full = error.kind() == io::ErrorKind::StorageFull;
            let code = if full { Code::Unavailable } else { Code::Internal };
            Problem::new(code, format!("the edge could not write the bundle down: {error}"))
        })
    }

    fn write(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(digest);
        // Two that bring one bundle at once write two files, and the last has the name.
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let temporary = self.folder.join(format!("{}.new", u64::from_ne_bytes(random)));
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
            fs::rename(&temporary, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        written().inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }

    /// That the bundle that a description is of is here, and is of that plugin and version. Blocks.
    pub(crate) fn check(&self, description: &PluginDescription) -> Result<(), Problem> {
        let (name, version) = (&description.name, &description.version);
        let file = self.open_bundle(&description.digest)?;
        let reader = oz0_bundle::Reader::new(BufReader::new(file)).map_err(|error| {
            Problem::new(
                Code::Internal,
                format!("the bundle that is kept here is damaged: {error}"),
            )
        })?;
        let is_it = serde_json::from_str::<Compiled>(reader.compiled_manifest())
            .is_ok_and(|found| found.name == name.as_str() && found.version == version.as_str());
        if is_it {
            return Ok(());
        }
        let what = format!("the bundle {} is not that of {name} {version}", description.digest);
        Err(Problem::new(Code::Malformed, what))
    }

    /// A bundle's file.
    pub(crate) fn open_bundle(&self, digest: &Digest) -> Result<File, Problem> {
        open_regular(&self.path(digest)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Problem::new(Code::NotFound, format!("the edge keeps no bundle {digest}"))
                    .hint("install the plugin again: oz0 plugin install BUNDLE")
            }
            _ => {
                Problem::new(Code::Internal, format!("the bundle {digest} cannot be read: {error}"))
            }
        })
    }
}

/// The next part of a file that is sent; none at its end. Blocks.
pub(crate) fn part(mut file: File) -> io::Result<Option<(Bytes, File)>> {
    use io::Read as _;
    let mut part = Vec::with_capacity(PART);
    (&mut file).take(PART as u64).read_to_end(&mut part)?;
    Ok((!part.is_empty()).then(|| (Bytes::from(part), file)))
}

fn file_name(digest: &Digest) -> String {
    format!("{}.oz0", digest.hex())
}
