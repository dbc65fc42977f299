//! Any bytes as a requirements or constraints file: never a panic, and what is found stands in the file.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use oz0_deps::{Ecosystem, Package, Request, Tree, Wanted, read};

/// What the first byte chooses from.
const PATHS: [&str; 3] = ["requirements.txt", "constraints.txt", "setup.cfg"];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let path = PATHS[usize::from(*first) % PATHS.len()];
    let wanted = Wanted::new(vec![Package {
        ecosystem: Ecosystem::PyPi,
        name: "litellm".to_owned(),
        modules: vec!["litellm".to_owned()],
        repositories: vec!["github.com/berriai/litellm".to_owned()],
        contents: Vec::new(),
        startup_files: Vec::new(),
    }]);
    let files = BTreeMap::from([(path.to_owned(), bytes)]);
    let reading = read(&Tree::Files(&files), &Request::new(&wanted));
    for mention in &reading.mentions {
        assert!(!mention.span.text().is_empty(), "{mention:?}");
    }
});
