//! The bundles that the edge keeps, for its nodes to fetch: one file a digest, in a folder or a bucket.
//!
//! A bundle is taken after it was read by the strict reader, so that what is kept is one, and under the digest of its own
//! bytes, so that no name decides what a file holds. Nodes check it again: they believe the digest that the store says, and not
//! the file. A file is whole or not there, whenever the process ends.

mod bucket;
mod folder;

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Cursor};
use std::path::Path;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
use oz0_api::plugin::PluginDescription;
use oz0_api::{Code, Problem};
use oz0_bundle::ReadError;
use oz0_listing::{Digest, escape};
use serde::Deserialize;

use self::bucket::Bucket;
use self::folder::Folder;
use crate::place::BundlesAt;
use crate::store::StoreError;

/// Where others bring bundles as well, one that no version is known by is let go of when it is so old: it may be one that
/// is being installed at another edge.
const UNKNOWN_FOR: Duration = Duration::from_hours(24);

/// Where bundles are.
pub(crate) enum Bundles {
    Folder(Folder),
    Bucket(Bucket),
}

impl fmt::Display for Bundles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.path().display()),
            Self::Bucket(bucket) => write!(f, "{bucket}"),
        }
    }
}

/// A bundle's bytes, as they are read.
pub(crate) type Parts = BoxStream<'static, io::Result<Bytes>>;

/// What a bundle says of itself in front.
#[derive(Deserialize)]
struct Compiled {
    name: String,
    version: String,
}

impl Bundles {
    /// Finds the place, and makes it where it is a folder. Takes nothing away.
    pub(crate) fn at(at: &BundlesAt, data: &Path) -> Result<Self, StoreError> {
        Ok(match at {
            BundlesAt::Data => Self::Folder(Folder::make(&data.join("bundles"))?),
            BundlesAt::Folder(path) => Self::Folder(Folder::make(path)?),
            BundlesAt::S3 { bucket, prefix } => Self::Bucket(Bucket::new(bucket, prefix)?),
        })
    }

    /// Lets go of what no version is known by: bundles that came and were never installed, and halves. `shared` says whether
    /// other edges keep theirs here as well.
    pub(crate) async fn sweep(
        &self,
        known: &BTreeSet<Digest>,
        shared: bool,
    ) -> Result<(), StoreError> {
        let names: BTreeSet<String> = known.iter().map(file_name).collect();
        let older = if shared { UNKNOWN_FOR } else { Duration::ZERO };
        match self {
            Self::Folder(folder) => folder.sweep(&names, older),
            Self::Bucket(bucket) => bucket.sweep(&names, UNKNOWN_FOR).await,
        }
    }

    /// Takes a bundle that is to have this digest.
    pub(crate) async fn keep(&self, digest: &Digest, bytes: Bytes) -> Result<(), Problem> {
        let (read, digest) = (bytes.clone(), *digest);
        blocking(move || check_digest(&digest, &read)).await?;
        self.put(&digest, bytes).await.map_err(|error| {
            let full = error.kind() == io::ErrorKind::StorageFull;
            let code = if full || self.is_remote() { Code::Unavailable } else { Code::Internal };
            Problem::new(code, format!("the edge could not write the bundle down: {error}"))
        })
    }

    async fn put(&self, digest: &Digest, bytes: Bytes) -> io::Result<()> {
        let name = file_name(digest);
        match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                tokio::task::spawn_blocking(move || folder.write(&name, &bytes))
                    .await
                    .map_err(io::Error::other)?
            }
            Self::Bucket(bucket) => bucket.put(&name, bytes).await,
        }
    }

    /// That the bundle that a description is of is here, and is of that plugin and version.
    pub(crate) async fn check(&self, description: &PluginDescription) -> Result<(), Problem> {
        let (name, version) = (description.name.clone(), description.version.clone());
        let digest = description.digest;
        let bytes = self.whole(&digest).await?;
        blocking(move || {
            let reader = oz0_bundle::Reader::new(Cursor::new(bytes)).map_err(|error| {
                Problem::new(
                    Code::Internal,
                    format!("the bundle that is kept here is damaged: {error}"),
                )
            })?;
            let is_it =
                serde_json::from_str::<Compiled>(reader.compiled_manifest()).is_ok_and(|found| {
                    found.name == name.as_str() && found.version == version.as_str()
                });
            if is_it {
                return Ok(());
            }
            let what = format!("the bundle {digest} is not that of {name} {version}");
            Err(Problem::new(Code::Malformed, what))
        })
        .await
    }

    /// A bundle, in parts.
    pub(crate) async fn open_bundle(&self, digest: &Digest) -> Result<Parts, Problem> {
        let name = file_name(digest);
        let opened = match self {
            Self::Folder(folder) => folder.open(&name).await,
            Self::Bucket(bucket) => bucket.open(&name).await,
        };
        opened.map_err(|error| self.unread(digest, &error))
    }

    /// A bundle, whole.
    pub(crate) async fn whole(&self, digest: &Digest) -> Result<Bytes, Problem> {
        let parts = self.open_bundle(digest).await?;
        let whole = parts.try_fold(Vec::new(), |mut whole, part| async move {
            whole.extend_from_slice(&part);
            Ok(whole)
        });
        Ok(whole.await.map_err(|error| self.unread(digest, &error))?.into())
    }

    fn unread(&self, digest: &Digest, error: &io::Error) -> Problem {
        if error.kind() == io::ErrorKind::NotFound {
            return Problem::new(Code::NotFound, format!("the edge keeps no bundle {digest}"))
                .hint("install the plugin again: oz0 plugin install BUNDLE");
        }
        let code = if self.is_remote() { Code::Unavailable } else { Code::Internal };
        Problem::new(code, format!("the bundle {digest} cannot be read: {error}"))
    }

    /// What is in another machine's hands may be there again a little later.
    fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket(_))
    }
}

/// That bytes are a bundle, of this digest. Blocks.
pub(crate) fn check_digest(digest: &Digest, bytes: &[u8]) -> Result<(), Problem> {
    let bundle = oz0_bundle::read(bytes, Path::new("the bundle")).map_err(|error| {
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
    Ok(())
}

/// Reading a bundle through takes a while.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Problem::new(Code::Internal, format!("the edge failed: {error}")))
    })
}

fn boxed(parts: impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static) -> Parts {
    parts.boxed()
}

/// The name of a bundle's file.
pub(crate) fn file_name(digest: &Digest) -> String {
    format!("{}.oz0", digest.hex())
}
