//! Small files of the data folder, read so that nothing in their place can hold the reader up.
//!
//! Opening a named pipe waits for its other end, and reading a device may never end: a process that
//! does so with a lock held, or while it is told to stop, stands still for whoever put it there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Opens a regular file to read it; anything else is an error, at once.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        options.custom_flags(flags);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

/// The bytes of a regular file of at most 64 KiB; anything else is an error.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 64 KiB"));
    }
    Ok(bytes)
}
