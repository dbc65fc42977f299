//! Writing a bundle.

use std::io::{self, Write};

use oz0_diagnostic::{Diagnostic, Level, Span};
use oz0_listing::Digest;
use oz0_plugin::manifest::Manifest;
use oz0_plugin::{COMPILED_MANIFEST, Mode, Plugin, check, limits};
use sha2::{Digest as _, Sha256};
use zstd::stream::write::Encoder;

use crate::error::PackError;
use crate::header::{BLOCK, Block, END, File, padding};
use crate::{COMPILED_LIMIT, LEVEL};

/// What was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packed {
    /// SHA-256 over the tar: the bundle's digest.
    pub digest: Digest,
    /// How many files, the compiled manifest not counted.
    pub files: usize,
    /// How many bytes they have together.
    pub unpacked: u64,
    /// How many bytes the bundle has.
    pub packed: u64,
}

/// How a plugin's bundle is called: `NAME-VERSION.oz0`.
pub fn file_name(manifest: &Manifest) -> String {
    format!("{}-{}.oz0", manifest.name.as_str(), manifest.version.value)
}

/// Packs a plugin into `to`, with as much memory as a few windows of zstd, and two threads.
///
/// It reads each file once. The compressed bytes do not depend on when threads run: zstd cuts its jobs by length.
///
/// # Errors
///
/// [`PackError::Findings`] when the loader has something against the plugin, and when the bundle would have more than
/// 64 MiB; [`PackError::Load`] when a file is not what it was when the plugin was loaded; [`PackError::Write`] when `to`
/// fails. What was written to `to` is then no bundle.
pub fn pack<W: Write>(plugin: &Plugin, to: W) -> Result<Packed, PackError> {
    let mut findings = plugin.diagnostics().to_vec();
    findings.extend(plugin.publishing_findings()?);
    let compiled = plugin.compiled_manifest().unwrap_or_default();
    if compiled.len() as u64 > COMPILED_LIMIT {
        findings.push(compiled_too_large(plugin));
    }
    if findings.iter().any(|finding| finding.level == Level::Error) {
        return Err(PackError::Findings(findings));
    }
    match write(plugin, &compiled, to) {
        Err(PackError::Write(error)) if is_too_large(&error) => {
            Err(PackError::Findings(vec![plugin.bundle_too_large()]))
        }
        result => result,
    }
}

fn compiled_too_large(plugin: &Plugin) -> Diagnostic {
    let message = format!("the compiled manifest has more than {} MiB", COMPILED_LIMIT >> 20);
    Diagnostic::new(&check::OZ_L021, Span::start_of(plugin.source()), message)
        .help("an alias (`*name`) writes out all that it stands for: name fewer, or shorter ones")
}

fn write<W: Write>(plugin: &Plugin, compiled: &str, to: W) -> Result<Packed, PackError> {
    let first = File { path: COMPILED_MANIFEST, mode: Mode::Plain, len: compiled.len() as u64 };
    let files = plugin.packed().iter().map(|file| File {
        path: &file.path,
        mode: file.mode,
        len: file.len,
    });
    let size = files.clone().chain([first]).map(|file| file.size()).sum::<u64>() + END;

    let mut tar = Tar::new(to, size).map_err(PackError::Write)?;
    tar.file(&first).map_err(PackError::Write)?;
    tar.bytes(compiled.as_bytes()).map_err(PackError::Write)?;
    tar.fill(first.len).map_err(PackError::Write)?;
    let mut buffer = vec![0; 256 * 1024];
    for (file, packed) in files.clone().zip(plugin.packed()) {
        tar.file(&file).map_err(PackError::Write)?;
        plugin
            .stream_file(packed, &mut buffer, |bytes| tar.bytes(bytes))?
            .map_err(PackError::Write)?;
        tar.fill(file.len).map_err(PackError::Write)?;
    }
    let (digest, packed) = tar.finish().map_err(PackError::Write)?;
    Ok(Packed {
        digest,
        files: plugin.packed().len(),
        unpacked: files.map(|file| file.len).sum(),
        packed,
    })
}

/// A tar that is hashed and compressed as it is written.
struct Tar<W: Write> {
    /// What is still to be hashed and compressed: headers are small, and so are most files.
    open: Vec<u8>,
    hasher: Sha256,
    encoder: Encoder<'static, Limited<W>>,
}

/// So much is gathered before it is hashed and compressed.
const GATHERED: usize = 256 * 1024;

impl<W: Write> Tar<W> {
    fn new(to: W, size: u64) -> io::Result<Self> {
        let mut encoder = Encoder::new(Limited { inner: to, written: 0 }, LEVEL)?;
        encoder.set_pledged_src_size(Some(size))?;
        encoder.include_contentsize(true)?;
        encoder.include_checksum(true)?;
        // One worker compresses while this thread reads and hashes. More would give the same bytes, and none others.
        encoder.multithread(1)?;
        Ok(Self { open: Vec::with_capacity(2 * GATHERED), hasher: Sha256::new(), encoder })
    }

    fn file(&mut self, file: &File<'_>) -> io::Result<()> {
        file.blocks(|block: &Block| self.open.extend_from_slice(block));
        self.pass_on(GATHERED)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.extend_from_slice(bytes);
        self.pass_on(GATHERED)
    }

    /// Fills the last block of a file of this length.
    fn fill(&mut self, len: u64) -> io::Result<()> {
        self.bytes(&[0; BLOCK][..padding(len)])
    }

    fn pass_on(&mut self, least: usize) -> io::Result<()> {
        if self.open.len() >= least {
            self.hasher.update(&self.open);
            self.encoder.write_all(&self.open)?;
            self.open.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<(Digest, u64)> {
        self.bytes(&[0; 2 * BLOCK])?;
        self.pass_on(1)?;
        let mut limited = self.encoder.finish()?;
        limited.inner.flush()?;
        Ok((Digest::from_bytes(self.hasher.finalize().into()), limited.written))
    }
}

/// A writer that takes no more than a bundle may have.
struct Limited<W> {
    inner: W,
    written: u64,
}

/// That a bundle would have more than 64 MiB.
#[derive(Debug, thiserror::Error)]
#[error("a bundle has at most {} MiB", limits::PACKED >> 20)]
struct TooLarge;

fn is_too_large(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<TooLarge>()).is_some()
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written + bytes.len() as u64 > limits::PACKED {
            return Err(io::Error::other(TooLarge));
        }
        let written = self.inner.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
