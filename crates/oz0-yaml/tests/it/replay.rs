//! The corpora of the fuzz targets, as ordinary tests.

use std::path::Path;

use crate::checks;

fn corpus(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        check(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "{} is empty", folder.display());
}

#[test]
fn every_file_of_the_parse_corpus_is_read() {
    corpus("yaml_parse", checks::read);
}

#[test]
fn every_file_of_the_edit_corpus_is_edited_or_refused() {
    corpus("yaml_edit", checks::edit);
}
