//! The source digest: one SHA-256 that changes with every path, byte and executable bit of the plugin, and with nothing
//! else.
//!
//! For each packed file, in the order of its path's bytes: `path NUL mode NUL sha256-hex LF`, mode `644` or `755`. The
//! digest is SHA-256 over these lines. No path holds a NUL or a line break, so no two plugins have the same lines.

use std::convert::Infallible;
use std::path::Path;

use oz0_listing::Digest;
use sha2::{Digest as _, Sha256};

use super::{PackedFile, is_written, stream};
use crate::LoadError;

pub(crate) fn digest(root: &Path, packed: &[PackedFile]) -> Result<Digest, LoadError> {
    let mut lines = Vec::with_capacity(packed.len() * 120);
    let mut buffer = vec![0; 64 * 1024];
    for file in packed.iter().filter(|file| !is_written(&file.path)) {
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
    let mut hasher = Sha256::new();
    match stream::<Infallible>(root, packed, buffer, |bytes| {
        hasher.update(bytes);
        Ok(())
    })? {
        Ok(()) => Ok(hasher.finalize().into()),
        Err(never) => match never {},
    }
}

fn push_hex(text: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}
