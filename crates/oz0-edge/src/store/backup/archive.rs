//! The file that a backup is: a tar, whose last file holds the hash of the others.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use oz0_listing::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{StoreError, open_file, private};

/// The last file of a backup.
const END: &str = "end.json";

#[derive(Serialize, Deserialize)]
struct End {
    files: u64,
    /// Over each file before this one: its name, NUL, its length in decimal, LF, its bytes.
    sha256: String,
}

/// The hash of everything so far.
#[derive(Default)]
struct Hash {
    hasher: Sha256,
    files: u64,
}

impl Hash {
    fn begin(&mut self, name: &str, length: u64) {
        self.files += 1;
        self.hasher.update(name.as_bytes());
        self.hasher.update(format!("\0{length}\n").as_bytes());
    }

    fn end(self) -> End {
        let hash: [u8; 32] = self.hasher.finalize().into();
        End { files: self.files, sha256: Digest::from_bytes(hash).hex() }
    }
}

/// Passes bytes on, and hashes them.
struct Hashed<'a, R> {
    inner: R,
    hash: &'a mut Hash,
}

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.hasher.update(&buffer[..read]);
        Ok(read)
    }
}

/// A backup that is written. It has its name when it is whole.
pub(super) struct Writer {
    tar: Option<tar::Builder<BufWriter<File>>>,
    hash: Hash,
    path: PathBuf,
    temporary: PathBuf,
}

/// Rows on their way into a backup: a file of the tar begins with its length.
pub(super) struct Spool(pub(super) BufWriter<File>);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        let _ = fs::remove_file(self.spool_path());
    }
}

impl Writer {
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        let failed =
            |source| StoreError::Folder { operation: "make", path: path.to_owned(), source };
        if path.symlink_metadata().is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = private(&temporary).map_err(failed)?;
        Ok(Self {
            tar: Some(tar::Builder::new(BufWriter::new(file))),
            hash: Hash::default(),
            path: path.to_owned(),
            temporary,
        })
    }

    fn spool_path(&self) -> PathBuf {
        self.temporary.with_extension("rows")
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Folder { operation: "write", path: self.path.clone(), source }
    }

    pub(super) fn file(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.append(name, bytes.len() as u64, bytes)
    }

    pub(super) fn spool(&self) -> Result<Spool, StoreError> {
        let path = self.spool_path();
        let _ = fs::remove_file(&path);
        Ok(Spool(BufWriter::new(private(&path).map_err(|source| self.failed(source))?)))
    }

    pub(super) fn spooled(&mut self, name: &str, spool: Spool) -> Result<(), StoreError> {
        let rewound = || {
            let mut file = spool.0.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            let length = file.metadata()?.len();
            Ok((file, length))
        };
        let (file, length) = rewound().map_err(|source| self.failed(source))?;
        self.append(name, length, BufReader::new(file))
    }

    fn append(&mut self, name: &str, length: u64, bytes: impl Read) -> Result<(), StoreError> {
        let appended = match &mut self.tar {
            Some(tar) => {
                self.hash.begin(name, length);
                append(tar, name, length, Hashed { inner: bytes, hash: &mut self.hash })
            }
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        appended.map_err(|source| self.failed(source))
    }

    /// Makes it whole, and then gives it its name.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        let end = super::super::to_json(&std::mem::take(&mut self.hash).end())?;
        let Some(mut tar) = self.tar.take() else { return Ok(()) };
        let finished = || -> io::Result<()> {
            append(&mut tar, END, end.len() as u64, end.as_bytes())?;
            let mut file = tar.into_inner()?;
            file.flush()?;
            file.get_ref().sync_all()?;
            // Not over a file that came meanwhile.
            fs::hard_link(&self.temporary, &self.path)?;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
        };
        finished().map_err(|source| self.failed(source))
    }
}

fn append(
    tar: &mut tar::Builder<BufWriter<File>>,
    name: &str,
    length: u64,
    bytes: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(length);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, bytes)
}

/// A backup that is read.
pub(super) struct Reader {
    tar: tar::Archive<BufReader<File>>,
    path: PathBuf,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = BufReader::new(open_file(path)?);
        Ok(Self { tar: tar::Archive::new(file), path: path.to_owned() })
    }

    /// Reads every file, and gives the bytes of the one that is asked for. That nothing is missing, added or changed is known
    /// when this returns.
    pub(super) fn read_all(
        &mut self,
        mut wants: impl FnMut(&str, u64) -> Result<bool, StoreError>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let no = {
            let path = self.path.clone();
            move |what: String| StoreError::Backup { path: path.clone(), what }
        };
        let mut found = None;
        let mut hash = Hash::default();
        let mut entries = self.entries()?;
        while let Some(mut entry) = entries.next()? {
            let (name, length) = (entry.name().to_owned(), entry.length());
            if name == END {
                let mut text = String::new();
                entry.read_to_string(&mut text).map_err(|error| no(error.to_string()))?;
                let end: Option<End> = serde_json::from_str(&text).ok();
                let own = hash.end();
                if end.is_some_and(|end| end.sha256 == own.sha256 && end.files == own.files)
                    && entries.next()?.is_none()
                {
                    return Ok(found);
                }
                return Err(no("it was changed, or damaged".to_owned()));
            }
            hash.begin(&name, length);
            let wanted = wants(&name, length)?;
            let mut hashed = Hashed { inner: &mut entry, hash: &mut hash };
            let read = if wanted {
                let mut bytes = Vec::new();
                let read = hashed.read_to_end(&mut bytes);
                found = Some(bytes);
                read.map(|_| ())
            } else {
                io::copy(&mut hashed, &mut io::sink()).map(drop)
            };
            read.map_err(|error| no(error.to_string()))?;
        }
        Err(no("it is cut short, or no backup of an edge".to_owned()))
    }

    pub(super) fn entries(&mut self) -> Result<Entries<'_>, StoreError> {
        let path = self.path.clone();
        match self.tar.entries() {
            Ok(entries) => Ok(Entries { entries, path }),
            Err(error) => Err(StoreError::Backup { path, what: error.to_string() }),
        }
    }
}

/// The files of a backup, in their order.
pub(super) struct Entries<'a> {
    entries: tar::Entries<'a, BufReader<File>>,
    path: PathBuf,
}

/// A file of a backup.
pub(super) struct Entry<'a> {
    file: BufReader<tar::Entry<'a, BufReader<File>>>,
    name: String,
    length: u64,
}

impl<'a> Entries<'a> {
    pub(super) fn next(&mut self) -> Result<Option<Entry<'a>>, StoreError> {
        let read = self.entries.next().transpose().and_then(|entry| {
            let Some(entry) = entry else { return Ok(None) };
            let name = entry.path()?.to_str().map(str::to_owned);
            let name = name.ok_or_else(|| io::Error::other("a file without a name"))?;
            let length = entry.size();
            Ok(Some(Entry { file: BufReader::new(entry), name, length }))
        });
        read.map_err(|error| {
            // What tar says of a file that is none may repeat some of it.
            let what = oz0_listing::escape::line_within(&error.to_string(), 200).into_owned();
            StoreError::Backup { path: self.path.clone(), what }
        })
    }
}

impl Entry<'_> {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.length
    }

    /// The next line; none at the end.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        Ok((self.file.read_line(&mut line)? > 0).then_some(line))
    }
}

impl Read for Entry<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}
