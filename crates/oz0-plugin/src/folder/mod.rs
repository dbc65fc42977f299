//! The plugin's folder: which files belong to the plugin, their digest, and copies of them.
//!
//! One walk decides what is packed, and nothing of the machine has a say in it: no global ignore file, no repository's,
//! no umask, no order of directory entries. What cannot be packed (a link, a device, a path that is not UTF-8) is never
//! followed, opened or silently skipped: it is listed with the reason.

mod copy;
mod digest;
mod ignore;
mod limits;
mod memory;
mod name;
mod temporary;
mod unsaved;
mod walk;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use copy::CopyOptions;
pub(crate) use copy::copy;
pub(crate) use digest::digest;
pub use limits::{BYTES, FILES, PACKED, PATH};
pub(crate) use limits::{bundle_too_large, too_large};
pub use memory::PluginFile;
pub(crate) use memory::of_files;
pub use name::{PathFault, Spellings, check_path};
pub(crate) use temporary::{builder as temporary, sweep};
pub use unsaved::Unsaved;
pub(crate) use walk::{Folder, unpackable_kind, walk};

use crate::LoadError;

/// What oz0 writes from the other files, and what therefore cannot be part of their digest.
const WRITTEN: [&str; 3] = [crate::LISTING, "tools.amplification.json", "sbom.cdx.json"];

/// Whether a packed file is one that oz0 writes from the others: outside the source digest, and not in the copy that servers
/// run on.
pub fn is_written(path: &str) -> bool {
    WRITTEN.contains(&path)
}

/// A packed file's mode: only whether its owner may execute it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// 644.
    Plain,
    /// 755.
    Executable,
}

impl Mode {
    fn of(metadata: &Metadata) -> Self {
        if metadata.mode() & 0o100 == 0 { Self::Plain } else { Self::Executable }
    }

    /// The permission bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Plain => 0o644,
            Self::Executable => 0o755,
        }
    }

    /// The permission bits in octal, as the source digest and archives write them.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "644",
            Self::Executable => "755",
        }
    }
}

/// A file that belongs to the plugin.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PackedFile {
    /// Its path from the plugin's root, with `/`.
    pub path: String,
    /// Its mode.
    pub mode: Mode,
    /// Its length in bytes.
    pub len: u64,
    contents: Contents,
}

impl PackedFile {
    /// Its bytes, where they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&[u8]> {
        match &self.contents {
            Contents::Memory(bytes) => Some(bytes),
            Contents::Folder(_) => None,
        }
    }
}

/// Where a packed file's bytes are.
#[derive(Debug, Clone)]
enum Contents {
    /// In the folder, as long as it is the same file.
    Folder(Stamp),
    /// Here.
    Memory(Arc<[u8]>),
}

/// Something in the folder that would belong to the plugin and cannot be packed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unpackable {
    /// Its path from the plugin's root, with `/`; what is not UTF-8 in it stands as U+FFFD.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

impl Unpackable {
    /// Whether `path` leads to it or through it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        path.strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Why something cannot be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A symbolic link, wherever it leads.
    Link,
    /// A block or character device.
    Device,
    /// A socket.
    Socket,
    /// A named pipe.
    Pipe,
    /// A path that is not UTF-8.
    NotUtf8,
    /// A path with a line break or another control character, which the source digest's lines could not tell apart.
    ControlCharacter,
}

impl Reason {
    /// The reason as a noun phrase that follows "is".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "a link",
            Self::Device => "a device",
            Self::Socket => "a socket",
            Self::Pipe => "a named pipe",
            Self::NotUtf8 => "a path that is not UTF-8",
            Self::ControlCharacter => "a path with a control character",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a file was when the folder was walked. A file with another stamp is another file, or has other bytes.
///
/// The time of the last change (ctime) cannot be set back by a program, so an edit that restores length and mtime still
/// shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            mode: metadata.mode(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Opens a file without following a link at its end and without waiting for the other end of a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// A packed file that is being read, and is checked to be the same file from its first byte to its last.
struct Opened<'f> {
    packed: &'f PackedFile,
    path: PathBuf,
    bytes: Bytes<'f>,
}

/// The bytes of a file that is being read.
enum Bytes<'f> {
    Folder(File, Stamp),
    Memory(&'f [u8]),
}

impl<'f> Opened<'f> {
    fn open(root: &Path, packed: &'f PackedFile) -> Result<Self, LoadError> {
        let path = root.join(&packed.path);
        let bytes = match &packed.contents {
            Contents::Memory(bytes) => Bytes::Memory(bytes),
            Contents::Folder(stamp) => match open(&path) {
                Ok(file) => Bytes::Folder(file, *stamp),
                // Gone, or a link now.
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound
                        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) =>
                {
                    return Err(LoadError::Changed { path });
                }
                Err(error) => return Err(LoadError::io("read", path)(error)),
            },
        };
        let opened = Self { packed, path, bytes };
        opened.check()?;
        Ok(opened)
    }

    fn check(&self) -> Result<(), LoadError> {
        let Bytes::Folder(file, stamp) = &self.bytes else { return Ok(()) };
        let metadata = file.metadata().map_err(LoadError::io("read", &self.path))?;
        if metadata.is_file() && Stamp::of(&metadata) == *stamp {
            Ok(())
        } else {
            Err(LoadError::Changed { path: self.path.clone() })
        }
    }

    /// Checks that `len` bytes were all of it, and that it is still what it was.
    fn finish(&self, len: u64) -> Result<(), LoadError> {
        if len != self.packed.len {
            return Err(LoadError::Changed { path: self.path.clone() });
        }
        self.check()
    }
}

impl io::Read for Opened<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Bytes::Folder(file, _) => file.read(buffer),
            Bytes::Memory(bytes) => bytes.read(buffer),
        }
    }
}

/// The bytes of a packed file, at most `limit` and one more.
pub(crate) fn read(root: &Path, packed: &PackedFile, limit: u64) -> Result<Vec<u8>, LoadError> {
    let mut opened = Opened::open(root, packed)?;
    let mut bytes = Vec::new();
    (&mut opened)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(LoadError::io("read", &opened.path))?;
    let len = bytes.len() as u64;
    opened.finish(if len > limit { packed.len } else { len })?;
    Ok(bytes)
}

/// Hands the bytes of a packed file to `take`, part by part through `buffer`, and says whether they were all of it.
///
/// What `take` fails with ends it. It gets no byte beyond the file's length as it was walked.
pub(crate) fn stream<E>(
    root: &Path,
    packed: &PackedFile,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Result<(), E>, LoadError> {
    let mut opened = Opened::open(root, packed)?;
    let mut len = 0_u64;
    // One more than there should be is asked for, so that a file that grew shows, and the end needs no read of its own.
    loop {
        let read = match opened.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(LoadError::io("read", opened.path)(error)),
        };
        len += read as u64;
        if len > packed.len {
            break;
        }
        if let Err(error) = take(&buffer[..read]) {
            return Ok(Err(error));
        }
        if len == packed.len && read < buffer.len() {
            // A short read at the walked length; that it is the end, the metadata says.
            break;
        }
    }
    opened.finish(len)?;
    Ok(Ok(()))
}
