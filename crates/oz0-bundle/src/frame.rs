//! What the first bytes of a bundle say about its frame (RFC 8878, section 3.1.1.1), before anything is decompressed.

use oz0_plugin::limits;

use crate::error::Fault;
use crate::header::{BLOCK, END};
use crate::{COMPILED_LIMIT, WINDOW_LOG};

/// The longest header of a frame.
pub(crate) const LONGEST: usize = 18;

/// `0xFD2FB528`, little-endian.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The largest tar that a bundle holds: every file with three blocks of headers and one that is not full.
const LARGEST: u64 =
    limits::BYTES + COMPILED_LIMIT + (limits::FILES as u64 + 1) * 4 * BLOCK as u64 + END;

/// Checks the frame's header: one whose length is said, with a checksum, without a dictionary, and with a window that
/// every decoder has.
pub(crate) fn check(head: &[u8]) -> Result<(), Fault> {
    let Some((magic, rest)) = head.split_at_checked(MAGIC.len()) else {
        return Err(Fault::NotABundle);
    };
    if magic != MAGIC {
        return Err(Fault::NotABundle);
    }
    let (&descriptor, mut rest) = rest.split_first().ok_or(Fault::Truncated)?;
    let (size_flag, single) = (descriptor >> 6, descriptor & 0x20 != 0);
    if descriptor & 0x18 != 0 {
        return Err(Fault::Frame("has a bit set that means nothing"));
    }
    if descriptor & 0x04 == 0 {
        return Err(Fault::Frame("has no checksum"));
    }
    if descriptor & 0x03 != 0 {
        return Err(Fault::Frame("needs a dictionary"));
    }
    let mut window = 0;
    if !single {
        let (&byte, after) = rest.split_first().ok_or(Fault::Truncated)?;
        let base = 1_u64 << (10 + (byte >> 3));
        window = base + base / 8 * u64::from(byte & 7);
        rest = after;
    }
    let width = match (size_flag, single) {
        (0, false) => return Err(Fault::Frame("does not say how long its content is")),
        (0, true) => 1,
        (1, _) => 2,
        (2, _) => 4,
        _ => 8,
    };
    let field = rest.get(..width).ok_or(Fault::Truncated)?;
    let mut size = [0; 8];
    size[..width].copy_from_slice(field);
    let size = u64::from_le_bytes(size).saturating_add(if width == 2 { 256 } else { 0 });
    if size > LARGEST {
        return Err(Fault::UnpackedTooLarge);
    }
    if window.max(if single { size } else { 0 }) > 1 << WINDOW_LOG {
        return Err(Fault::Frame("has a window of more than 8 MiB"));
    }
    Ok(())
}
