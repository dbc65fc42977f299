//! Any text as a licence file, and as a README: never a panic, and every place inside the file.

#![no_main]

use std::path::Path;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use oz0_plugin::{Mode, Plugin, PluginFile};

const MANIFEST: &[u8] =
    b"name: a\nversion: 1.0.0\ndescription: A.\nlicense: (MIT OR BSD-3-Clause) AND Apache-2.0 WITH LLVM-exception\n";

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.first().map_or(0, |first| usize::from(*first) * bytes.len() / 256);
    let (licence, readme) = bytes.split_at(at);
    let file = |path: &str, bytes: &[u8]| PluginFile {
        path: path.to_owned(),
        mode: Mode::Plain,
        bytes: Arc::from(bytes),
    };
    let files = vec![
        file("oz0-plugin.yaml", MANIFEST),
        file("README.md", readme),
        file("LICENSE", licence),
        file("docs/a.md", b""),
    ];
    let plugin = Plugin::from_files(Path::new("a"), files).expect("it has a manifest");
    for finding in plugin.publishing_findings().expect("nothing is read from a disk") {
        assert!(finding.span.file().text().get(finding.span.range()).is_some());
    }
});
