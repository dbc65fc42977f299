//! Any bytes behind an import, as a source of JavaScript, TypeScript or a component: never a panic, and never silence about the import.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use oz0_deps::{Ecosystem, Package, Request, Tree, Wanted, read};

/// What the first byte chooses from.
const PATHS: [&str; 6] = ["a.js", "a.ts", "a.tsx", "a.vue", "a.svelte", "a.astro"];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let path = PATHS[usize::from(*first) % PATHS.len()];
    let wanted = Wanted::new(vec![Package {
        ecosystem: Ecosystem::Npm,
        name: "litellm".to_owned(),
        modules: vec!["litellm".to_owned()],
        repositories: vec!["github.com/berriai/litellm".to_owned()],
        contents: Vec::new(),
        startup_files: Vec::new(),
    }]);
    let text = [
        if *first % 6 < 3 {
            b"import 'litellm';\n".as_slice()
        } else {
            b"<script>import 'litellm'</script>\n"
        },
        bytes,
    ]
    .concat();
    let files = BTreeMap::from([(path.to_owned(), text.as_slice())]);
    let reading = read(&Tree::Files(&files), &Request::new(&wanted));
    assert!(!reading.mentions.is_empty() || !reading.unread.is_empty(), "silence");
    for mention in &reading.mentions {
        assert!(!mention.span.text().is_empty(), "{mention:?}");
    }
    assert!(
        reading.unread.iter().all(|unread| !unread.problem.contains("defect")
            && !unread.problem.contains("parser failed")),
        "{reading:?}"
    );
});
