//! Plugins to pack, and archives that nobody should have made.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use oz0_bundle::{Bundle, Fault, Packed, ReadError};
use oz0_plugin::Plugin;
use tempfile::TempDir;

pub(crate) const MANIFEST: &str = "\
name: notes
version: 1.2.0
description: Keeps notes.
license: 0BSD
tools:
  notes: {mcp: {command: [python3, server.py]}}
";

/// The licence as SPDX has it, which a plugin of that licence carries.
pub(crate) fn licence() -> &'static str {
    spdx::license_id("0BSD").expect("it is on the list").text()
}

/// A folder with these files beside the manifest, the README and the licence.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let usual: [(&str, &[u8]); 4] = [
        ("oz0-plugin.yaml", MANIFEST.as_bytes()),
        ("README.md", b"# Notes\n"),
        ("LICENSE", licence().as_bytes()),
        ("server.py", b"print()\n"),
    ];
    for (path, bytes) in usual.iter().chain(files) {
        put(folder.path(), path, bytes);
    }
    folder
}

pub(crate) fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(crate) fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn pack(folder: &Path) -> (Vec<u8>, Packed) {
    let plugin = Plugin::load(folder).unwrap();
    let mut bytes = Vec::new();
    let packed = oz0_bundle::pack(&plugin, &mut bytes).unwrap();
    (bytes, packed)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Bundle, ReadError> {
    oz0_bundle::read(bytes, Path::new("a.oz0"))
}

/// Why some bytes are refused.
pub(crate) fn fault(bytes: &[u8]) -> Fault {
    match read(bytes) {
        Err(ReadError::Refused(fault)) => fault,
        Err(error) => panic!("another error: {error:?}"),
        Ok(bundle) => panic!("it was read: {} files", bundle.plugin.packed().len()),
    }
}

/// The tar of a bundle.
pub(crate) fn untar(bundle: &[u8]) -> Vec<u8> {
    zstd::decode_all(bundle).unwrap()
}

/// A tar as a bundle's frame holds it.
pub(crate) fn frame(tar: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.set_pledged_src_size(Some(tar.len() as u64)).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(tar).unwrap();
    encoder.finish().unwrap()
}

/// A tar that a bundle could be, made by another's hand: headers as a bundle has them, whatever the paths say.
#[derive(Default)]
pub(crate) struct Archive(Vec<u8>);

impl Archive {
    /// With the compiled manifest of [`MANIFEST`].
    pub(crate) fn begun() -> Self {
        let files = folder(&[]);
        let compiled = Plugin::load(files.path()).unwrap().compiled_manifest().unwrap();
        Self::default().file("oz0-plugin.json", compiled.as_bytes())
    }

    /// A file, with a header as a bundle has it.
    pub(crate) fn file(self, path: &str, bytes: &[u8]) -> Self {
        self.entry(path, bytes, |_| {})
    }

    /// A file whose header is changed before its checksum is computed.
    pub(crate) fn entry(
        mut self,
        path: &str,
        bytes: &[u8],
        change: impl FnOnce(&mut [u8; 512]),
    ) -> Self {
        let mut header = [0; 512];
        header[..path.len()].copy_from_slice(path.as_bytes());
        for (at, text) in [
            (100, "0000644"),
            (108, "0000000"),
            (116, "0000000"),
            (136, "00000000000"),
            (156, "0"),
            (257, "ustar\x0000"),
            (329, "0000000"),
            (337, "0000000"),
        ] {
            header[at..at + text.len()].copy_from_slice(text.as_bytes());
        }
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        change(&mut header);
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        self.0.extend_from_slice(&header);
        self.bytes(bytes)
    }

    /// Bytes, with the zeros that fill their last block.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// The files that every plugin has and whose paths come before `until`.
    pub(crate) fn tar(mut self) -> Vec<u8> {
        self.0.extend_from_slice(&[0; 1024]);
        self.0
    }

    pub(crate) fn bundle(self) -> Vec<u8> {
        frame(&self.tar())
    }
}
