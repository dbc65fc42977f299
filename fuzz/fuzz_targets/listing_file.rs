//! The two files that hold listings: nothing panics, errors point into the file, and what is read
//! is written and read again as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oz0_listing::file::{FileError, ListingFile, SnapshotFile};

fn check(text: &str, error: &FileError) {
    assert!(text.is_char_boundary(error.offset));
    assert_eq!(error.line, text[..error.offset].matches('\n').count() + 1);
}

fuzz_target!(|text: &str| {
    match ListingFile::read(text) {
        Ok(file) => assert_eq!(ListingFile::read(&file.write()).expect("what is written reads"), file),
        Err(error) => check(text, &error),
    }
    match SnapshotFile::read(text) {
        Ok(file) => assert_eq!(SnapshotFile::read(&file.write()).expect("what is written reads"), file),
        Err(error) => check(text, &error),
    }
});
