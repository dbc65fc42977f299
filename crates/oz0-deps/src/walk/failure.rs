//! Why a file or folder was not read.

use std::fmt;

use rustix::io::Errno;

/// Why a file or folder was not read, in words that follow its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not there (any more).
    Gone,
    /// It is a link that leads out of the tree.
    Outside,
    /// It is a link that leads to itself.
    Loop,
    /// It is above the bound, which is a number of bytes.
    TooLarge(u64),
    /// It is no file, but this.
    Special(&'static str),
    /// It is another now than it was a moment before.
    Changed,
    /// The system said so.
    System(Errno),
}

impl Failure {
    pub(crate) fn too_large(limit: u64) -> Self {
        Self::TooLarge(limit)
    }

    /// What to do.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            Self::Gone | Self::Changed => Some("run it again when nothing changes the folder"),
            Self::Outside => Some("put a copy of what it leads to in its place, or take it out"),
            Self::Loop | Self::Special(_) => Some("take it out"),
            Self::TooLarge(_) => Some("take it out, or divide it"),
            Self::System(Errno::ACCESS | Errno::PERM) => Some("give yourself the right to read it"),
            Self::System(_) => None,
        }
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Gone,
            Errno::LOOP => Self::Changed,
            Errno::XDEV => Self::Outside,
            // What opening a socket, or a device without a driver, gives.
            Errno::NXIO | Errno::NODEV => Self::Special("a socket or a device"),
            errno => Self::System(errno),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("is not there any more"),
            Self::Outside => f.write_str("is a link that leads out of the folder"),
            Self::Loop => f.write_str("is a link that leads to itself"),
            Self::TooLarge(limit) => write!(f, "is larger than {}", size(*limit)),
            Self::Special(kind) => write!(f, "is {kind}, which cannot be read"),
            Self::Changed => f.write_str("changed while it was read"),
            Self::System(errno) => write!(f, "cannot be read: {}", std::io::Error::from(*errno)),
        }
    }
}

/// A number of bytes, in MiB where that is a whole number.
pub(super) fn size(bytes: u64) -> String {
    if bytes > 0 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}
