//! Reading a bundle, strictly.

use std::io::{self, BufRead as _, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use oz0_listing::Digest;
use oz0_plugin::{
    COMPILED_MANIFEST, LoadError, Mode, Plugin, PluginFile, Spellings, check_path, limits,
};
use sha2::{Digest as _, Sha256};
use zstd::stream::read::Decoder;

use crate::error::{Fault, ReadError};
use crate::frame;
use crate::header::{self, BLOCK, Block, Claim, File, padding};
use crate::{COMPILED_LIMIT, WINDOW_LOG};

/// A bundle, read whole.
#[derive(Debug)]
#[non_exhaustive]
pub struct Bundle {
    /// The plugin, whose files are in memory: at most 256 MiB.
    pub plugin: Plugin,
    /// SHA-256 over the tar.
    pub digest: Digest,
    /// The compiled manifest.
    pub compiled: String,
    /// How many bytes the bundle has.
    pub packed: u64,
}

/// Reads a bundle; `place` is what messages call it, such as its path.
///
/// # Errors
///
/// [`ReadError::Refused`] with the first thing that no bundle has, [`ReadError::Findings`] when its manifest does not
/// decode, and [`ReadError::Io`] when the system refuses the bytes. No input panics, and none makes it keep more than
/// the limits of OZ-L021 allow.
pub fn read(source: impl Read, place: &Path) -> Result<Bundle, ReadError> {
    let mut reader = Reader::new(source)?;
    let mut files = Vec::new();
    while let Some(entry) = reader.next_file()? {
        let bytes = reader.read_rest()?;
        files.push(PluginFile { path: entry.path, mode: entry.mode, bytes: Arc::from(bytes) });
    }
    let compiled = std::mem::take(&mut reader.compiled);
    let (digest, packed) = reader.finish()?;
    let plugin = Plugin::from_files(place, files).map_err(|error| match error {
        LoadError::Stray { path } => {
            let path = path.strip_prefix(place).unwrap_or(&path).to_string_lossy().into_owned();
            ReadError::Refused(Fault::Stray(path))
        }
        LoadError::NoManifest { .. } => ReadError::Refused(Fault::NoManifest),
        error => ReadError::Io(io::Error::other(error)),
    })?;
    match plugin.compiled_manifest() {
        None => return Err(ReadError::Findings(plugin.diagnostics().to_vec())),
        Some(expected) if expected != compiled => return Err(Fault::CompiledDiffers.into()),
        Some(_) => {}
    }
    Ok(Bundle { plugin, digest, compiled, packed })
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its path from the plugin's root, with `/`.
    pub path: String,
    /// Its mode.
    pub mode: Mode,
    /// Its length in bytes.
    pub len: u64,
}

/// The compressed bytes: counted, limited, and told apart from what zstd has against them.
struct Source<R> {
    inner: R,
    taken: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(read) => {
                self.taken += read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
        }
    }
}

type Compressed<R> = Chain<Cursor<Vec<u8>>, BufReader<Source<R>>>;

/// A bundle's files as a stream, in their order.
///
/// It checks everything that can be checked without the files' bytes; that the compiled manifest is the manifest's own,
/// and that no file is one that a walk would leave out, [`read`] checks.
pub struct Reader<R: Read> {
    decoder: Decoder<'static, Compressed<R>>,
    hasher: Sha256,
    compiled: String,
    spellings: Spellings,
    /// The file before: its path, and how much of it was not read yet.
    last: String,
    left: u64,
    padding: usize,
    files: usize,
    bytes: u64,
    ended: bool,
    /// Why it was refused, once it was: whoever goes on gets the same answer.
    fault: Option<Fault>,
}

impl<R: Read> Reader<R> {
    /// Begins to read a bundle, up to its compiled manifest.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn new(source: R) -> Result<Self, ReadError> {
        let source = Source { inner: source, taken: 0, failed: None };
        let mut source = BufReader::with_capacity(128 * 1024, source);
        let mut head = Vec::with_capacity(frame::LONGEST);
        (&mut source)
            .take(frame::LONGEST as u64)
            .read_to_end(&mut head)
            .map_err(|error| ReadError::Io(source.get_mut().failed.take().unwrap_or(error)))?;
        frame::check(&head)?;
        let mut decoder = Decoder::with_buffer(Cursor::new(head).chain(source))
            .map_err(ReadError::Io)?
            .single_frame();
        decoder.window_log_max(WINDOW_LOG).map_err(ReadError::Io)?;
        let mut reader = Self {
            decoder,
            hasher: Sha256::new(),
            compiled: String::new(),
            spellings: Spellings::default(),
            last: String::new(),
            left: 0,
            padding: 0,
            files: 0,
            bytes: 0,
            ended: false,
            fault: None,
        };
        reader.read_compiled()?;
        Ok(reader)
    }

    /// The compiled manifest: JSON.
    pub fn compiled_manifest(&self) -> &str {
        &self.compiled
    }

    fn read_compiled(&mut self) -> Result<(), ReadError> {
        match self.read_header()? {
            Some(Entry { path, mode: Mode::Plain, len }) if path == COMPILED_MANIFEST => {
                if len > COMPILED_LIMIT {
                    return Err(Fault::CompiledTooLarge.into());
                }
                self.begin(path.clone(), len);
                // No file may take its place on any system.
                self.spellings.add(&path).map_err(|_| Fault::NoCompiledManifest)?;
                let bytes = self.read_rest()?;
                self.last.clear();
                self.compiled = String::from_utf8(bytes).map_err(|_| Fault::CompiledDiffers)?;
                Ok(())
            }
            _ => Err(Fault::NoCompiledManifest.into()),
        }
    }

    fn begin(&mut self, path: String, len: u64) {
        self.last = path;
        self.left = len;
        self.padding = padding(len);
    }

    /// The next file, whose bytes [`Reader::read_part`] gives; what of the file before was not read is passed over.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn next_file(&mut self) -> Result<Option<Entry>, ReadError> {
        self.unless_refused(Self::next_entry)
    }

    fn unless_refused<T>(
        &mut self,
        go_on: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone().into());
        }
        let done = go_on(self);
        if let Err(error) = &done {
            self.fault = Some(match error {
                ReadError::Refused(fault) => fault.clone(),
                ReadError::Io(_) | ReadError::Findings(_) => Fault::Truncated,
            });
        }
        done
    }

    fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let mut buffer = [0; 16 * 1024];
        while self.read_some(&mut buffer)? > 0 {}
        let Some(entry) = self.read_header()? else {
            self.ended = true;
            return Ok(None);
        };
        self.check(&entry)?;
        self.begin(entry.path.clone(), entry.len);
        Ok(Some(entry))
    }

    fn check(&mut self, entry: &Entry) -> Result<(), Fault> {
        let path = || entry.path.clone();
        self.files += 1;
        self.bytes = self.bytes.saturating_add(entry.len);
        if self.files > limits::FILES {
            return Err(Fault::TooManyFiles);
        }
        if self.bytes > limits::BYTES {
            return Err(Fault::UnpackedTooLarge);
        }
        check_path(&entry.path).map_err(|fault| Fault::Path(path(), fault))?;
        if entry.path.as_bytes() <= self.last.as_bytes() {
            return Err(Fault::Order(path()));
        }
        self.spellings.add(&entry.path).map_err(|(path, other)| Fault::Clash(path, other))
    }

    /// More bytes of the file, none at its end.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read_part(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        self.unless_refused(|reader| reader.read_some(buffer))
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most > 0 {
            let read = self.fill(&mut buffer[..most])?;
            self.left -= read as u64;
            return Ok(read);
        }
        if self.left == 0 && self.padding > 0 {
            let mut zeros = [0; BLOCK];
            let len = std::mem::take(&mut self.padding);
            self.fill(&mut zeros[..len])?;
            if zeros.iter().any(|byte| *byte != 0) {
                return Err(Fault::Padding(self.last.clone()).into());
            }
        }
        Ok(0)
    }

    /// The rest of the file.
    fn read_rest(&mut self) -> Result<Vec<u8>, ReadError> {
        // What a header says costs nothing; memory is taken as the bytes come.
        let mut bytes = Vec::with_capacity(usize::try_from(self.left.min(64 * 1024)).unwrap_or(0));
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.read_part(&mut buffer)? {
                0 => return Ok(bytes),
                read => bytes.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Reads to the end of the bundle, and gives its digest and length.
    ///
    /// # Errors
    ///
    /// As [`read`]; also when something follows the end.
    pub fn finish(mut self) -> Result<(Digest, u64), ReadError> {
        while self.next_file()?.is_some() {}
        let mut one = [0];
        match self.decoder.read(&mut one) {
            Ok(0) => {}
            Ok(_) => return Err(Fault::Trailing.into()),
            Err(error) => return Err(self.explain(&error)),
        }
        if let Err(error) = self.decoder.finish_frame() {
            return Err(self.explain(&error));
        }
        let (mut head, mut source) = self.decoder.into_inner().into_inner();
        let rest = source.fill_buf().map(<[u8]>::is_empty);
        let at_end =
            rest.map_err(|error| ReadError::Io(source.get_mut().failed.take().unwrap_or(error)))?;
        if !at_end || head.fill_buf().is_ok_and(|rest| !rest.is_empty()) {
            return Err(Fault::Trailing.into());
        }
        if source.get_ref().taken > limits::PACKED {
            return Err(Fault::PackedTooLarge.into());
        }
        let digest = Digest::from_bytes(self.hasher.finalize().into());
        Ok((digest, source.get_ref().taken))
    }

    /// The next header, held against the one way to write it; `None` at the end of the archive.
    fn read_header(&mut self) -> Result<Option<Entry>, ReadError> {
        let strange = |last: &str| {
            let last = if last.is_empty() { "the compiled manifest" } else { last };
            ReadError::Refused(Fault::Header(last.to_owned()))
        };
        let mut blocks = vec![self.read_block()?];
        if blocks[0] == [0; BLOCK] {
            if self.read_block()? == [0; BLOCK] {
                return Ok(None);
            }
            return Err(strange(&self.last));
        }
        let entry = match header::claim(&blocks[0]) {
            None => return Err(strange(&self.last)),
            Some(Claim::File { path, mode, len }) => Entry { path, mode, len },
            Some(Claim::Elsewhere { mode, len }) => {
                Entry { path: header::ELSEWHERE.to_owned(), mode, len }
            }
            Some(Claim::Pax { len }) => {
                blocks.push(self.read_block()?);
                let path = header::pax_path(&blocks[1], len).map(str::to_owned);
                blocks.push(self.read_block()?);
                match (path, header::claim(&blocks[2])) {
                    (Some(path), Some(Claim::Elsewhere { mode, len })) => Entry { path, mode, len },
                    _ => return Err(strange(&self.last)),
                }
            }
        };
        if entry.path.len() > limits::PATH {
            return Err(Fault::LongPath(entry.path).into());
        }
        let mut expected = blocks.iter();
        let mut same = true;
        let file = File { path: &entry.path, mode: entry.mode, len: entry.len };
        file.blocks(|block| same &= expected.next() == Some(block));
        if !same || expected.next().is_some() {
            return Err(strange(&self.last));
        }
        Ok(Some(entry))
    }

    fn read_block(&mut self) -> Result<Block, ReadError> {
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        Ok(block)
    }

    /// Fills `buffer` with bytes of the archive, all of it.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.decoder.read(&mut buffer[filled..]) {
                Ok(0) => return Err(Fault::Truncated.into()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.explain(&error)),
            }
        }
        self.hasher.update(&*buffer);
        if self.source().taken > limits::PACKED {
            return Err(Fault::PackedTooLarge.into());
        }
        Ok(filled)
    }

    fn source(&mut self) -> &mut Source<R> {
        self.decoder.get_mut().get_mut().1.get_mut()
    }

    /// Whether the system refused the bytes, or zstd did.
    fn explain(&mut self, error: &io::Error) -> ReadError {
        if let Some(error) = self.source().failed.take() {
            return ReadError::Io(error);
        }
        ReadError::Refused(match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Truncated,
            _ => Fault::Damaged(error.to_string()),
        })
    }
}

impl<R: Read> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("last", &self.last)
            .field("left", &self.left)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}
