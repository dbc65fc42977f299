//! Any bytes as the files that lock a plugin's dependencies: a bill of materials or findings, never a panic, and every place
//! inside its file.
//!
//! The first byte says which: `uv.lock`, `requirements.txt`, `package-lock.json`, or the lock of a tool from either.

use std::path::Path;
use std::sync::Arc;

use oz0_plugin::{Mode, Plugin, PluginFile};

const MANIFEST: &[u8] = b"name: a\nversion: 1.0.0\nkind: connector\ndescription: A.\nlicense: MIT\ntools:\n  t: {mcp: {command: [x]}}\n  p: {package: 'pypi:mcp-server-git==2026.1.14'}\n  n: {package: 'npm:mcp@1.2.3'}\n";

/// One input.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let file = |path: &str, bytes: &[u8]| PluginFile {
        path: path.to_owned(),
        mode: Mode::Plain,
        bytes: Arc::from(bytes),
    };
    let mut files = vec![file("oz0-plugin.yaml", MANIFEST)];
    files.extend(match first {
        b'u' => vec![file("pyproject.toml", b"[project]\nname = 'a'\n"), file("uv.lock", rest)],
        b'r' => vec![file("requirements.txt", rest)],
        b'n' => vec![file("package.json", b"{\"name\": \"a\"}"), file("package-lock.json", rest)],
        b'p' => vec![file("locks/p.lock", rest)],
        _ => vec![file("locks/n.lock", rest)],
    });
    let plugin = Plugin::from_files(Path::new("a"), files).expect("it has a manifest");
    let manifest = plugin.manifest().expect("nothing is wrong with it");
    match oz0_bundle::sbom(&plugin, manifest).expect("nothing is read from a disk") {
        Ok(text) => assert!(text.ends_with('\n')),
        Err(problems) => {
            for problem in problems {
                assert!(problem.span.file().text().get(problem.span.range()).is_some());
            }
        }
    }
}
