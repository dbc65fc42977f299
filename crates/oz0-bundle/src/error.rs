//! Why a bundle was not written, and why one was not read.

use std::io;

use oz0_diagnostic::Diagnostic;
use oz0_listing::escape;
use oz0_plugin::{LoadError, PathFault, limits};

use crate::COMPILED_LIMIT;

/// A plugin was not packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// Something is wrong with the plugin: the loader's findings, among which is an error.
    #[error("the plugin is not packed")]
    Findings(Vec<Diagnostic>),
    /// A file could not be read, or changed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The bundle that was written does not read: a mistake of oz0's, or of the disk.
    #[error("the bundle that was written does not read as one")]
    Unreadable(#[source] ReadError),
    /// The bundle could not be written.
    #[error("could not write the bundle")]
    Write(#[source] io::Error),
}

/// A bundle was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refused its bytes.
    #[error("could not read the bundle")]
    Io(#[source] io::Error),
    /// It is none, or not one that is taken.
    #[error("{0}")]
    Refused(Fault),
    /// What is wrong with the manifest in it.
    #[error("its manifest does not decode")]
    Findings(Vec<Diagnostic>),
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

/// What is wrong with a bundle, as a clause. Paths in it are escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It does not begin as a file of zstd.
    #[error("it is no bundle: a bundle is one frame of zstd")]
    NotABundle,
    /// The frame has something that the frame of a bundle has not, or lacks something.
    #[error("its zstd frame {0}")]
    Frame(&'static str),
    /// zstd says that the bytes are not what was written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It ends in the middle.
    #[error("it ends too early")]
    Truncated,
    /// There is something behind its end.
    #[error("there is something behind its end")]
    Trailing,
    /// It is larger than a bundle may be.
    #[error("it has more than {} MiB, and that is the most", limits::PACKED >> 20)]
    PackedTooLarge,
    /// Its files are larger than a plugin's may be.
    #[error("its files have more than {} MiB, and that is the most", limits::BYTES >> 20)]
    UnpackedTooLarge,
    /// It has more files than a plugin may have.
    #[error("it has more than {} files, and that is the most", limits::FILES)]
    TooManyFiles,
    /// A header is not written as a bundle's headers are: a link, a device, or another way to write a file.
    #[error("the header after {} is not one of a bundle's, which has plain files only", shown(.0))]
    Header(String),
    /// What fills a block after a file is not zeros.
    #[error("something is hidden behind {}", shown(.0))]
    Padding(String),
    /// A path is longer than a plugin's may be.
    #[error("the path {} is longer than {} bytes", shown(.0), limits::PATH)]
    LongPath(String),
    /// A path that leaves the plugin, or that some system cannot hold.
    #[error("the path {} is not taken: {}", shown(.0), .1)]
    Path(String, PathFault),
    /// Two paths that some system takes for one.
    #[error("{} and {} are one path where names ignore case or Unicode's forms", shown(.0), shown(.1))]
    Clash(String, String),
    /// A file that does not stand in the order of the paths' bytes.
    #[error("{} does not stand in its place in the order of paths", shown(.0))]
    Order(String),
    /// The first file is not the compiled manifest.
    #[error("it does not begin with its compiled manifest")]
    NoCompiledManifest,
    /// The compiled manifest is larger than any is.
    #[error("its compiled manifest has more than {} MiB", COMPILED_LIMIT >> 20)]
    CompiledTooLarge,
    /// The compiled manifest is not the manifest's.
    #[error("its compiled manifest is not what its manifest says")]
    CompiledDiffers,
    /// There is no manifest.
    #[error("it has no manifest")]
    NoManifest,
    /// A file that no walk of the unpacked folder would find.
    #[error("it has {}, which every walk of the plugin's folder leaves out", shown(.0))]
    Stray(String),
}

fn shown(path: &str) -> String {
    escape::line_within(path, 120).into_owned()
}
