//! A folder on disk, opened once: everything in it is reached from its descriptor, and no link is followed on the way, so that
//! whoever swaps a folder for a link while it is read does not lead the reader out of it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat};
use rustix::io::Errno;

use super::checkout;
use super::failure::Failure;
use super::listing::{Kind, Listing};

/// Bytes of a folder's entries that the kernel gives at once.
const ENTRIES: usize = 32 * 1024;
/// The longest path that one call is given: below the kernel's 4,096.
const PATH: usize = 4000;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Does not wait for the other end of a pipe, and makes no terminal ours.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder on disk.
#[derive(Debug)]
pub(crate) struct Disk {
    root: OwnedFd,
    /// Its real path.
    path: PathBuf,
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To this path from the root, of a file or a folder.
    Inside(Vec<u8>, Kind),
    Outside,
    /// Nowhere, in the tree.
    Nothing,
}

impl Disk {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())?;
        let path = path.canonicalize().map_err(|error| from_io(&error))?;
        Ok(Self { root, path })
    }

    /// The folder at `path` from the root.
    pub(super) fn folder(&self, path: &[u8]) -> Result<OwnedFd, Failure> {
        self.beneath(path, FOLDER)
    }

    /// Opens `path` from the root without following a link anywhere in it.
    fn beneath(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Failure> {
        let mut rest = if path.is_empty() { b"." } else { path };
        let mut at: Option<OwnedFd> = None;
        while rest.len() > PATH {
            let cut = rest[..PATH].iter().rposition(|byte| *byte == b'/');
            let cut = cut.ok_or(Failure::System(Errno::NAMETOOLONG))?;
            at = Some(self.step(at.as_ref(), &rest[..cut], FOLDER)?);
            rest = &rest[cut + 1..];
        }
        self.step(at.as_ref(), rest, flags)
    }

    fn step(&self, at: Option<&OwnedFd>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Failure> {
        let at = at.unwrap_or(&self.root);
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(at, path, flags, Mode::empty(), resolve) {
            // A kernel before 5.6, or a sandbox that does not know the call: one component after the other.
            Err(Errno::NOSYS | Errno::PERM) => {
                let mut parts = path.split(|byte| *byte == b'/').peekable();
                let mut opened: Option<OwnedFd> = None;
                while let Some(part) = parts.next() {
                    let flags = if parts.peek().is_some() { FOLDER } else { flags };
                    let from = opened.as_ref().unwrap_or(at);
                    let next =
                        rustix::fs::openat(from, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
                    opened = Some(next);
                }
                opened.ok_or(Failure::Gone)
            }
            Err(Errno::AGAIN) => Err(Failure::Changed),
            opened => Ok(opened?),
        }
    }

    /// Puts what is in the folder into `listing`.
    pub(super) fn list(folder: &OwnedFd, listing: &mut Listing) -> Result<(), Failure> {
        let mut buffer = Vec::with_capacity(ENTRIES);
        let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno.into()),
                }
            }
            listing.push(name.to_bytes(), kind_of(kind));
        }
        Ok(())
    }

    /// The length of a file that is not read.
    pub(super) fn len(folder: &OwnedFd, name: &[u8]) -> Result<u64, Failure> {
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(len_of(&stat))
    }

    /// Opens a file of a folder.
    pub(super) fn file(folder: &OwnedFd, name: &[u8]) -> Result<Opened, Failure> {
        let flags = FILE | OFlags::NOFOLLOW;
        Opened::new(rustix::fs::openat(folder, name, flags, Mode::empty())?)
    }

    /// Opens the file at a path from the root, no link in it.
    pub(super) fn file_at(&self, path: &[u8]) -> Result<Opened, Failure> {
        Opened::new(self.beneath(path, FILE | OFlags::NOFOLLOW)?)
    }

    /// Reads the file at a path from the root, links that stay in the tree followed.
    pub(crate) fn include(
        &self,
        path: &str,
        limit: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let opened = match self.beneath(path.as_bytes(), FILE | OFlags::NOFOLLOW) {
            // There is a link in it.
            Err(Failure::Changed) => match self.target(path.as_bytes())? {
                Target::Inside(path, _) => self.beneath(&path, FILE | OFlags::NOFOLLOW)?,
                Target::Outside => return Err(Failure::Outside),
                Target::Nothing => return Err(Failure::Gone),
            },
            opened => opened?,
        };
        Opened::new(opened)?.read(limit, bytes)
    }

    /// Whether the folder at `path` is a repository's, as git sees it.
    pub(super) fn is_checkout(&self, path: &[u8]) -> bool {
        let Ok(folder) = self.folder(path) else { return false };
        let is_folder = |name: &str| {
            rustix::fs::statat(&folder, name, AtFlags::empty())
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
        };
        let is_head = || match Self::file(&folder, b"HEAD") {
            Ok(head) => {
                let mut bytes = Vec::new();
                head.head(checkout::HEAD, &mut bytes).is_ok() && checkout::is_head(&bytes)
            }
            // Long ago it was a link.
            Err(_) => rustix::fs::readlinkat(&folder, "HEAD", Vec::new())
                .is_ok_and(|target| target.to_bytes().starts_with(b"refs/")),
        };
        is_folder("objects") && is_folder("refs") && is_head()
    }

    /// Where the link at `path` leads.
    pub(super) fn target(&self, path: &[u8]) -> Result<Target, Failure> {
        let link = self.path.join(OsStr::from_bytes(path));
        match link.canonicalize() {
            Ok(real) => {
                let Ok(inside) = real.strip_prefix(&self.path) else { return Ok(Target::Outside) };
                let inside = inside.to_owned().into_os_string().into_vec();
                // Not by the path once more: what it leads to may have changed.
                let opened = match self
                    .beneath(&inside, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)
                {
                    Err(Failure::Gone) => return Ok(Target::Nothing),
                    opened => opened?,
                };
                let kind = kind_of(FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode));
                Ok(Target::Inside(inside, kind))
            }
            Err(error) => match from_io(&error) {
                Failure::Changed => Err(Failure::Loop),
                Failure::Gone => Ok(self.dangling(&link)),
                // A folder outside that is not ours to look into.
                failure => match self.dangling(&link) {
                    Target::Outside => Ok(Target::Outside),
                    _ => Err(failure),
                },
            },
        }
    }

    /// Where a link would lead whose end is not there: link after link, as far as there is something.
    fn dangling(&self, link: &Path) -> Target {
        let mut at = link.to_owned();
        for _ in 0..40 {
            let folder = at.parent().unwrap_or(Path::new("/"));
            // The folder of a dangling link may itself not be there.
            let folder = folder.canonicalize().unwrap_or_else(|_| plain(folder));
            if !folder.starts_with(&self.path) {
                return Target::Outside;
            }
            let Some(name) = at.file_name() else { return Target::Outside };
            let Ok(next) = std::fs::read_link(folder.join(name)) else { return Target::Nothing };
            at = plain(&folder.join(next));
        }
        Target::Nothing
    }
}

/// A path without `.` and `..`, by its words alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A file that is open.
#[derive(Debug)]
pub(super) struct Opened {
    file: OwnedFd,
    stat: Stat,
}

impl Opened {
    fn new(file: OwnedFd) -> Result<Self, Failure> {
        let stat = rustix::fs::fstat(&file)?;
        match kind_of(FileType::from_raw_mode(stat.st_mode)) {
            Kind::File => Ok(Self { file, stat }),
            Kind::Special(kind) => Err(Failure::Special(kind)),
            Kind::Folder | Kind::Link => Err(Failure::Changed),
        }
    }

    pub(super) fn len(&self) -> u64 {
        len_of(&self.stat)
    }

    /// Its first bytes, as many as there are up to `most`.
    pub(super) fn head(&self, most: usize, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        bytes.clear();
        bytes.resize(most, 0);
        let len = rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, &mut *bytes, 0))?;
        bytes.truncate(len);
        Ok(())
    }

    /// All of it, which is the same from its first byte to its last.
    pub(super) fn read(&self, limit: u64, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        bytes.clear();
        if self.len() > limit {
            return Err(Failure::TooLarge(limit));
        }
        let expected = usize::try_from(self.len()).map_err(|_| Failure::TooLarge(limit))?;
        bytes.reserve(expected + 1);
        // A file of the kernel's own has no length before it is read.
        while self.fill(bytes)? > 0 {
            if bytes.len() as u64 > limit {
                return Err(Failure::TooLarge(limit));
            }
            bytes.reserve(1);
        }
        let now = rustix::fs::fstat(&self.file)?;
        let same = stamp(&now) == stamp(&self.stat) && (expected == bytes.len() || expected == 0);
        if same { Ok(()) } else { Err(Failure::Changed) }
    }

    fn fill(&self, bytes: &mut Vec<u8>) -> Result<usize, Errno> {
        rustix::io::retry_on_intr(|| rustix::io::read(self.file(), spare_capacity(&mut *bytes)))
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What another content changes. The time of the last change (ctime) cannot be set back by a program.
fn stamp(stat: &Stat) -> impl PartialEq {
    (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec)
}

fn len_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Special("a named pipe"),
        FileType::Socket => Kind::Special("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Special("a device"),
        FileType::Unknown => Kind::Special("of a kind that the system does not tell"),
    }
}

fn from_io(error: &std::io::Error) -> Failure {
    error.raw_os_error().map_or(Failure::Gone, |code| Errno::from_raw_os_error(code).into())
}
