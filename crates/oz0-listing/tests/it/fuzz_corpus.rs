//! The fuzz targets' corpora, replayed, so that what fuzzing taught is checked at every run.

use std::path::PathBuf;

use oz0_listing::file::{ListingFile, SnapshotFile};
use oz0_listing::{Listing, diff, json};

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus of {target} is empty");
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_corpus_of_listing_holds() {
    let mut listed = 0;
    for (path, bytes) in corpus("listing") {
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        if let Ok(listing) = Listing::read(text, &[]) {
            listed += 1;
            let again = Listing::read(listing.canonical(), &[]).unwrap();
            assert_eq!(again.canonical(), listing.canonical(), "{}", path.display());
            assert!(diff::compare(&listing, &again).labels.is_empty(), "{}", path.display());
        }
        if let Ok(value) = json::parse(text) {
            let oracle: serde_json::Value = serde_json::from_str(text).unwrap();
            let oracle = serde_json_canonicalizer::to_string(&oracle).unwrap();
            assert_eq!(value.canonical(), oracle, "{}", path.display());
        }
    }
    assert!(listed > 0);
}

#[test]
fn the_corpus_of_listing_file_holds() {
    let mut read = 0;
    for (path, bytes) in corpus("listing_file") {
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        if let Ok(file) = ListingFile::read(text) {
            read += 1;
            assert_eq!(ListingFile::read(&file.write()).unwrap(), file, "{}", path.display());
        }
        if let Ok(file) = SnapshotFile::read(text) {
            read += 1;
            assert_eq!(SnapshotFile::read(&file.write()).unwrap(), file, "{}", path.display());
        }
    }
    assert!(read >= 2);
}
