//! Any bytes as a bundle, and as the tar in one: never a panic, and what is read can be written down in one way only.
//!
//! The first byte says which of the two. A tar is put into a frame as a bundle has it, since no mutation would find its
//! way through zstd's checksum.

#![no_main]

use std::io::Write as _;
use std::path::Path;

use libfuzzer_sys::fuzz_target;

fn frame(tar: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("a level of zstd's");
    encoder.set_pledged_src_size(Some(tar.len() as u64)).expect("nothing was written yet");
    encoder.include_checksum(true).expect("nothing was written yet");
    encoder.write_all(tar).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let bundle = if first % 2 == 0 { frame(rest) } else { rest.to_vec() };
    let Ok(read) = oz0_bundle::read(bundle.as_slice(), Path::new("a.oz0")) else { return };
    let mut again = Vec::new();
    if let Ok(packed) = oz0_bundle::pack(&read.plugin, &mut again) {
        assert_eq!(packed.digest, read.digest);
    }
});
