//! A plugin's bundle: what is handed on, held, and run.
//!
//! A bundle is `NAME-VERSION.oz0`: the plugin's packed files in one tar, compressed with zstd, with the compiled
//! manifest in front. Two packs of equal files give equal bytes, wherever, whenever and by whomever they are made: the
//! order is that of the paths' bytes, and no time, owner, umask or thread has a say. The bundle's digest is SHA-256 over
//! the *tar*, since another version of zstd may write the same tar in other bytes.
//!
//! [`read`] is strict, because what it reads comes from strangers and is approved by people. There is one way to write
//! each plugin down (`header.rs` says which), and a byte that was not written that way refuses the bundle. So what one
//! reader sees is what every reader sees, and what people were shown is what runs: the compiled manifest must be the one
//! that the manifest compiles to, and no file may stand in a bundle that a walk of its unpacked folder would not find.
//! Every limit of OZ-L021 is checked before the bytes that would exceed it are kept, and a bundle is read as a stream: a
//! [`Reader`] never holds more than a window of zstd (8 MiB, which RFC 8878 recommends as the least that every decoder
//! supports), one block and the names.

mod draft;
mod error;
mod frame;
mod header;
mod pack;
mod read;
mod sbom;

pub use draft::{Draft, draft};
pub use error::{Fault, PackError, ReadError};
pub use pack::{Packed, file_name, pack};
pub use read::{Bundle, Entry, Reader, read};
pub use sbom::{SBOM, sbom};

/// The path of the compiled manifest, the first file of every bundle. No plugin has a file of its own there.
pub use oz0_plugin::COMPILED_MANIFEST;

/// The largest compiled manifest, in bytes: 4 MiB, four times the largest manifest.
pub const COMPILED_LIMIT: u64 = 4 * 1024 * 1024;

/// The level of zstd's compression: its own default, fast enough that reading the files takes the time.
const LEVEL: i32 = 3;

/// The largest window of zstd, as a power of two: 8 MiB (RFC 8878, section 3.1.1.1.2).
const WINDOW_LOG: u32 = 23;
