//! The source digest: one SHA-256 that changes with every path, byte and executable bit of the plugin, and with nothing
//! else.
//!
//! For each packed file, in the order of its path's bytes: `path NUL mode NUL sha256-hex LF`, mode `644` or `755`. The
//! digest is SHA-256 over these lines. No path holds a NUL or a line break, so no two plugins have the same lines.

use std::io::Read as _;
use std::path::Path;

use oz0_listing::Digest;
use sha2::{Digest as _, Sha256};

use super::{Opened, PackedFile};
use crate::LoadError;

/// What oz0 writes from the other files, and what therefore cannot be part of their digest.
const WRITTEN: [&str; 3] = ["tools.listing.json", "tools.amplification.json", "sbom.cdx.json"];

pub(crate) fn digest(root: &Path, packed: &[PackedFile]) -> Result<Digest, LoadError> {
    let mut lines = Vec::with_capacity(packed.len() * 120);
    let mut buffer = vec![0; 64 * 1024];
    for file in packed.iter().filter(|file| !WRITTEN.contains(&file.path.as_str())) {
        lines.extend_from_slice(file.path.as_bytes());
        lines.push(0);
        lines.extend_from_slice(file.mode.as_str().as_bytes());
        lines.push(0);
        push_hex(&mut lines, &hash(root, file, &mut buffer)?);
        lines.push(b'\n');
    }
    Ok(Digest::of(&lines))
}

fn hash(root: &Path, packed: &PackedFile, buffer: &mut [u8]) -> Result<[u8; 32], LoadError> {
    let mut opened = Opened::open(root, packed)?;
    let mut hasher = Sha256::new();
    let mut len = 0_u64;
    loop {
        let read = match opened.file.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(LoadError::io("read", opened.path)(error)),
        };
        hasher.update(&buffer[..read]);
        len += read as u64;
        // A file that grows as fast as it is read would never end.
        if len > packed.len {
            break;
        }
    }
    opened.finish(len)?;
    Ok(hasher.finalize().into())
}

fn push_hex(text: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}
