//! The one way in which a bundle writes down a file: what tar leaves open is decided here, once.
//!
//! tar (POSIX.1-2001, pax) knows many ways to say one thing, and readers disagree about them; that is what most attacks
//! on archives live on. So there is one way. A file has a ustar header with its path, its mode and its length, and zeros
//! for owners, times and devices; where a path is not ASCII, or does not fit, a pax header with the single record `path`
//! stands before it. A reader makes the header of what it believes to have read and compares all 512 bytes, so whatever
//! is not written by these lines (a link, a device, a global header, a sparse file, an octal number with blanks, a
//! checksum of signed bytes) is no file of a bundle, without a list of what is forbidden.

use oz0_plugin::{Mode, limits};

/// The size of everything in tar.
pub(crate) const BLOCK: usize = 512;

/// A block of tar.
pub(crate) type Block = [u8; BLOCK];

/// What a bundle ends with: two blocks of zeros.
pub(crate) const END: u64 = 2 * BLOCK as u64;

/// The name in a header whose path stands in the pax header before it.
pub(crate) const ELSEWHERE: &str = "path-is-in-the-pax-header";

/// The name in a pax header, which names no file.
const PAX: &str = "pax-header";

const NAME: usize = 100;
const PREFIX: usize = 155;

/// A file as a header describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct File<'p> {
    pub(crate) path: &'p str,
    pub(crate) mode: Mode,
    pub(crate) len: u64,
}

impl File<'_> {
    /// Hands over the blocks that stand before the file's bytes, in their order.
    pub(crate) fn blocks(&self, mut take: impl FnMut(&Block)) {
        if let Some((prefix, name)) = split(self.path) {
            take(&ustar(prefix, name, self.mode, self.len, b'0'));
            return;
        }
        let record = record(self.path);
        take(&ustar("", PAX, Mode::Plain, record.len() as u64, b'x'));
        take(&padded(record.as_bytes()));
        take(&ustar("", ELSEWHERE, self.mode, self.len, b'0'));
    }

    /// How many bytes the file takes in the archive, its headers and what fills its last block included.
    pub(crate) fn size(&self) -> u64 {
        let mut headers = 0;
        self.blocks(|_| headers += BLOCK as u64);
        headers + self.len + padding(self.len) as u64
    }
}

/// How many zeros follow a file of this length.
pub(crate) fn padding(len: u64) -> usize {
    let rest = usize::try_from(len % BLOCK as u64).expect("it is less than a block");
    if rest == 0 { 0 } else { BLOCK - rest }
}

/// Where a path is cut into ustar's two fields, if it is one that they hold.
fn split(path: &str) -> Option<(&str, &str)> {
    if !path.is_ascii() {
        return None;
    }
    if path.len() <= NAME {
        return Some(("", path));
    }
    path.match_indices('/')
        .map(|(at, _)| (&path[..at], &path[at + 1..]))
        .find(|(prefix, name)| prefix.len() <= PREFIX && !name.is_empty() && name.len() <= NAME)
}

/// pax's record of a path: `LENGTH path=PATH LF`, in which the length counts its own digits.
fn record(path: &str) -> String {
    let rest = format!(" path={path}\n");
    let mut len = rest.len();
    loop {
        let record = format!("{len}{rest}");
        if record.len() == len {
            return record;
        }
        len = record.len();
    }
}

fn padded(bytes: &[u8]) -> Block {
    // A path is of 240 bytes at most, so that its record is one block; the limits are checked before.
    const { assert!(limits::PATH + 16 < BLOCK) };
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

fn ustar(prefix: &str, name: &str, mode: Mode, len: u64, kind: u8) -> Block {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{:07o}", mode.bits()).as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{len:011o}").as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(329, b"0000000");
    put(337, b"0000000");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}

/// What a header seems to say, to be held against the header that a file of that kind has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// A file with its path.
    File { path: String, mode: Mode, len: u64 },
    /// A pax header of so many bytes; the path is in it.
    Pax { len: u64 },
    /// A file whose path stood in the pax header before.
    Elsewhere { mode: Mode, len: u64 },
}

/// Reads what a header seems to say. Whether it says it in the one way is left to [`File::blocks`].
pub(crate) fn claim(block: &Block) -> Option<Claim> {
    let len = octal(&block[124..135])?;
    let mode = match octal(&block[100..107])? {
        0o644 => Mode::Plain,
        0o755 => Mode::Executable,
        _ => return None,
    };
    let (prefix, name) = (text(&block[345..500])?, text(&block[..100])?);
    match block[156] {
        b'x' => Some(Claim::Pax { len }),
        b'0' if name == ELSEWHERE && prefix.is_empty() => Some(Claim::Elsewhere { mode, len }),
        b'0' if prefix.is_empty() => Some(Claim::File { path: name.to_owned(), mode, len }),
        b'0' => Some(Claim::File { path: format!("{prefix}/{name}"), mode, len }),
        _ => None,
    }
}

/// The path in the block of a pax header that has the record `path` first.
pub(crate) fn pax_path(block: &Block, len: u64) -> Option<&str> {
    let bytes = block.get(..usize::try_from(len).ok()?)?;
    let (_, path) = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split_once(" path=")?;
    Some(path)
}

fn octal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// The text up to the first zero.
fn text(field: &[u8]) -> Option<&str> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    std::str::from_utf8(&field[..end]).ok()
}
