//! What is read: a folder or files in memory, the bounds, the question and the answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::walk::{self, Disk, Failure};
use crate::{Format, Mention, Unread, Wanted};

/// Where the files are.
#[derive(Debug, Clone, Copy)]
pub enum Tree<'a> {
    /// In a folder.
    Folder(&'a Path),
    /// In memory, such as a bundle's: paths from the root with `/`, and bytes.
    Files(&'a BTreeMap<String, &'a [u8]>),
    /// In a folder, as it is once an editor has written these files: paths from the root with `/`, and bytes. One that is not
    /// there yet counts as being there, in a folder that is.
    Unsaved {
        /// The folder.
        folder: &'a Path,
        /// What an editor holds of its files.
        files: &'a BTreeMap<String, &'a [u8]>,
    },
}

impl<'a> Tree<'a> {
    /// What an editor holds of a file of the folder.
    pub(crate) fn unsaved(&self, path: &str) -> Option<&'a [u8]> {
        match self {
            Self::Unsaved { files, .. } => files.get(path).copied(),
            Self::Folder(_) | Self::Files(_) => None,
        }
    }

    /// The bytes of the file at `path`, from the root and without `.` and `..`, for a file that another one includes. Links are
    /// followed while they stay in the tree. `None` when there is no such file; an error is in words that follow the path: "leads
    /// out of the folder".
    pub(crate) fn include(
        &self,
        path: &str,
        limits: &Limits,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        let too_large = || Failure::too_large(limits.file_bytes).to_string();
        match self {
            Self::Files(files) => match files.get(path) {
                Some(bytes) if bytes.len() as u64 > limits.file_bytes => Err(too_large()),
                Some(bytes) => Ok(Some(Cow::Borrowed(*bytes))),
                None => Ok(None),
            },
            Self::Unsaved { files, .. } if files.contains_key(path) => {
                Tree::Files(files).include(path, limits)
            }
            Self::Unsaved { folder, .. } | Self::Folder(folder) => {
                let disk = Disk::open(folder).map_err(|failure| failure.to_string())?;
                let mut bytes = Vec::new();
                match disk.include(path, limits.file_bytes, &mut bytes) {
                    Ok(()) => Ok(Some(Cow::Owned(bytes))),
                    Err(Failure::Gone) => Ok(None),
                    Err(failure) => Err(failure.to_string()),
                }
            }
        }
    }
}

/// How much a tree may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest file that is read, in bytes.
    pub file_bytes: u64,
    /// How many files are read, and in how many folders.
    pub files: usize,
    /// How many folders may lie in each other.
    pub folders_deep: usize,
    /// How many bytes the texts have together that something was found in. They are kept, for their lines are shown.
    pub found_bytes: usize,
    /// How many collections may lie in each other in a decoded file.
    pub depth: usize,
    /// How many files the requirements files may include together, beginning with one.
    pub includes: usize,
}

impl Default for Limits {
    /// 16 MiB, 200,000 files, 1,024 folders, 64 MiB, 64 levels, 256 includes.
    fn default() -> Self {
        Self {
            file_bytes: 16 * 1024 * 1024,
            files: 200_000,
            folders_deep: 1024,
            found_bytes: 64 * 1024 * 1024,
            depth: 64,
            includes: 256,
        }
    }
}

/// What is asked of a reading.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What is looked for.
    pub wanted: &'a Wanted,
    /// Files whose format the caller knows and their names do not tell, by path.
    pub formats: BTreeMap<String, Format>,
    /// The paths of the links that a bundle would hold, if bundles held links: one of these that leads outside is unread, any
    /// other is counted. `None`: every link.
    pub packed_links: Option<BTreeSet<String>>,
    /// The bounds.
    pub limits: Limits,
    /// How many threads read. `None`: as many as there are processors, at most eight.
    pub threads: Option<usize>,
}

impl<'a> Request<'a> {
    /// Looks for these packages, within the default limits.
    pub fn new(wanted: &'a Wanted) -> Self {
        Self {
            wanted,
            formats: BTreeMap::new(),
            packed_links: None,
            limits: Limits::default(),
            threads: None,
        }
    }
}

/// What was read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reading {
    /// What was found, by path, then by place.
    pub mentions: Vec<Mention>,
    /// What could not be read, in the same order.
    pub unread: Vec<Unread>,
    /// What is above the bound of a file and is none that would be read were it smaller: a library, a picture. In the same order.
    pub large: Vec<Unread>,
    /// How many files were looked at.
    pub files: usize,
    /// How many links lead out of the tree and were not followed, in folders that no bundle holds.
    pub links_out: usize,
    /// How many sources were left alone because they are a copy's own: it is a mention at its folder, and of course its files import
    /// it.
    pub in_copies: usize,
}

/// Reads a tree. What is wrong with the tree is in the answer; nothing makes it fail.
///
/// The answer is the same whatever the number of threads and their order.
pub fn read(tree: &Tree<'_>, request: &Request<'_>) -> Reading {
    walk::walk(tree, request)
}
