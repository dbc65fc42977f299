//! The names of files that oz0 is still writing: told from every file of an author's, and never packed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

const PREFIX: &str = ".oz0-writing-";
const SUFFIX: &str = ".tmp";
const RANDOM: usize = 16;

/// How old a file must be before nobody can still be writing it.
const STALE: Duration = Duration::from_hours(1);

/// What names a new file that will be renamed when it is whole.
pub(crate) fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
    builder
}

/// Whether a name is one that [`builder`] makes: `.oz0-writing-`, 16 letters and digits, `.tmp`.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    name.as_bytes()
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()))
        .is_some_and(|random| {
            random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric)
        })
}

/// Removes what writers that were killed left in `folder`.
///
/// Nothing depends on it, since no such file is packed: what cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    let now = SystemTime::now();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_stale = |metadata: fs::Metadata| {
            metadata.is_file()
                && metadata
                    .modified()
                    .is_ok_and(|then| now.duration_since(then).is_ok_and(|age| age > STALE))
        };
        // The entry's own metadata: a link is not followed.
        if is_temporary(&entry.file_name()) && entry.metadata().is_ok_and(is_stale) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
