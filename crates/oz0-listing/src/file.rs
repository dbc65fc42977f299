//! The two files that hold listings: `tools.listing.json`, what `plugin test` measured
//! (`oz0.tool-listing.v1`), and `snapshots/<tool>.json`, what a plugin's author expects of a remote
//! tool (`oz0.tool-snapshot.v1`).
//!
//! Written, a file has one form: functions in the order of their IDs, members sorted, two spaces a
//! level, a newline at the end. So a second run on the same plugin gives the same bytes, and a
//! version-control diff shows what changed and nothing else.
//!
//! Read, a file is believed in nothing that can be checked: every hash must be its listing's, every
//! listing must be in its final form, and whatever is unknown, repeated or out of order is an error
//! with its line and column. Whitespace is free.
//!
//! Beside `name`, `hash` and `listing`, a function has two members where there is something to say:
//! `unstable`, the sorted pointers that its plugin declares unstable and that are cut from the
//! listing, and `uncallable`, why its calls are refused. The second cannot be computed from the
//! listing, in which `\u{AD}` may be a soft hyphen or the text of those six characters.

mod read;
mod write;

use std::fmt;

use crate::{Digest, Function, LeftOut, ToolId};

/// The measured listing of a plugin: `tools.listing.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingFile {
    /// The digest of the plugin's files that it was measured from.
    pub source_digest: Digest,
    /// What is listed, in the order of the IDs.
    pub functions: Vec<Function>,
    /// What is left out, sorted.
    pub left_out: Vec<LeftOut>,
}

/// The committed snapshot of a remote tool: `snapshots/<tool>.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The tool.
    pub tool: ToolId,
    /// Where its author read what the server lists, in words.
    pub listed_from: Option<String>,
    /// The server's URL as the manifest writes it, placeholders and all.
    pub url: Option<String>,
    /// What the server is expected to list, in the order of the IDs.
    pub functions: Vec<Function>,
}

/// The `format` of a [`ListingFile`].
pub const LISTING_FORMAT: &str = "oz0.tool-listing.v1";
/// The `format` of a [`SnapshotFile`].
pub const SNAPSHOT_FORMAT: &str = "oz0.tool-snapshot.v1";

/// What is wrong in a file, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in Unicode scalar values.
    pub column: usize,
    /// The same place in bytes from the start of the text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}
