//! Any bytes as a notebook's JSON, and as the text of a cell in one: never a panic.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use oz0_deps::{Ecosystem, Package, Request, Tree, Wanted, read};

fuzz_target!(init: {
    // The parser has a panic for some lines of IPython's, which the reader catches: no reason to end.
    std::panic::set_hook(Box::new(|_| {}));
}, |bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let wanted = Wanted::new(vec![Package {
        ecosystem: Ecosystem::PyPi,
        name: "litellm".to_owned(),
        modules: vec!["litellm".to_owned()],
        repositories: vec!["github.com/berriai/litellm".to_owned()],
        contents: Vec::new(),
        startup_files: Vec::new(),
    }]);
    let text = if first % 2 == 0 {
        bytes.to_vec()
    } else {
        let source = format!("{}\nimport litellm", String::from_utf8_lossy(bytes));
        serde_json::json!({"cells": [{"cell_type": "code", "source": source}]})
            .to_string()
            .into_bytes()
    };
    let files = BTreeMap::from([("a.ipynb".to_owned(), text.as_slice())]);
    let reading = read(&Tree::Files(&files), &Request::new(&wanted));
    for mention in &reading.mentions {
        assert!(!mention.span.text().is_empty(), "{mention:?}");
    }
    assert!(reading.unread.iter().all(|unread| !unread.problem.contains("defect")), "{reading:?}");
});
