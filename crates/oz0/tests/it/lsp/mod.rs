//! `oz0 lsp`, the built binary, over standard input and output, by a small editor.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod actions;
mod completion;
mod editor;
mod ending;
mod findings;
mod hover;
mod same;

use std::path::Path;

use tempfile::TempDir;

use crate::support::{checkout, folder, write};

/// Two warnings, one of which a fix mends.
const TWO: &str = "\
name: team
version: 1.0.0
kind: capability
description: Says hello.
license: Apache-2.0
egress: ['*.example.com']
agents:
  greeter:
    tools: [oz0_chat.post]  # says hello
uses:
  chat: {version: '>=1.1, <2', tools: [oz0_chat.post]}
";

/// The same without the wildcard and with the full reference.
fn mended() -> String {
    TWO.replace("'*.example.com'", "api.example.com")
        .replace("[oz0_chat.post]  #", "[chat/oz0_chat.post]  #")
}

const MANIFEST: &str = "oz0-plugin.yaml";

/// A plugin with this manifest, a README and its licence.
fn plugin(manifest: &str) -> TempDir {
    let folder = folder(&[(MANIFEST, manifest)]);
    add_the_rest(folder.path());
    folder
}

fn add_the_rest(folder: &Path) {
    std::fs::copy(checkout().join("LICENSE"), folder.join("LICENSE")).unwrap();
    write(folder, "README.md", "# Team\n\nSays hello.\n");
}
