//! The fuzzer's corpus, replayed: what once was found stays mended, and the checks themselves run in every test run.

use std::fs;
use std::path::Path;

use crate::checks;

fn inputs() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/locks");
    fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_corpus_of_locks_gives_what_it_should() {
    let inputs = inputs();
    assert!(inputs.len() > 3);
    for input in inputs {
        checks::check(&input);
    }
}
