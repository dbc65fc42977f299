//! The files that hold listings, as the plugin has them: the measured one, and the snapshots of remote tools.

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_listing::Digest;
use oz0_listing::file::{FileError, ListingFile, SnapshotFile};

use crate::check::OZ_L001;

/// The measured listing's file name, at the plugin's root.
pub const LISTING: &str = "tools.listing.json";

/// The largest listing file that is read, in bytes.
pub(crate) const LIMIT: u64 = 64 * 1024 * 1024;

/// What is known of the plugin's measured listing.
#[derive(Debug)]
pub enum ListingState {
    /// The plugin has none.
    Missing,
    /// It was measured from the plugin's files as they are.
    Fresh(ListingFile),
    /// It was measured from other files than the plugin's now.
    Stale {
        /// The listing.
        listing: ListingFile,
        /// The source digest of the files now.
        now: Digest,
    },
    /// There is a file that does not decode.
    Unreadable(Box<Diagnostic>),
}

impl ListingState {
    /// The listing, fresh or stale.
    pub fn listing(&self) -> Option<&ListingFile> {
        match self {
            Self::Fresh(listing) | Self::Stale { listing, .. } => Some(listing),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

/// What is known of a remote tool's committed snapshot.
#[derive(Debug)]
pub enum SnapshotState {
    /// The plugin has none.
    Missing,
    /// What its author expects the server to list.
    Present(SnapshotFile),
    /// There is a file that does not decode, or one of another tool.
    Unreadable(Box<Diagnostic>),
}

/// The text of a file, or why it has none.
pub(crate) fn text(path: &str, bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.len() as u64 > LIMIT {
        let source = SourceFile::new(path, "");
        let message = format!("the file is larger than {} MiB", LIMIT / 1024 / 1024);
        return Err(Box::new(Diagnostic::new(&OZ_L001, Span::start_of(&source), message)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let source = SourceFile::new(path, String::from_utf8_lossy(error.as_bytes()));
        let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
        Box::new(Diagnostic::new(&OZ_L001, span, format!("byte {at} of the file is not UTF-8")))
    })
}

/// A file's error as a diagnostic.
pub(crate) fn unreadable(path: &str, text: String, error: FileError) -> Box<Diagnostic> {
    let source = SourceFile::new(path, text);
    let span = Span::new(&source, error.offset..error.offset.saturating_add(1));
    Box::new(Diagnostic::new(&OZ_L001, span, error.message).help(error.help))
}

/// What stands where a file should, as a diagnostic.
pub(crate) fn not_a_file(path: &str, kind: &str) -> Box<Diagnostic> {
    let source = SourceFile::new(path, "");
    let message = format!("it is {kind}, which is not read");
    Box::new(
        Diagnostic::new(&OZ_L001, Span::start_of(&source), message).help("put a file in its place"),
    )
}
