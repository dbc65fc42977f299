//! `cargo xtask docs`: the documentation site, with `MkDocs` from the pinned lock.

use std::process::Command;

use anyhow::Result;

use crate::{process, setup};

pub(crate) fn run() -> Result<()> {
    let peers = setup::peers()?;
    let root = oz0_peers::workspace();
    process::run(
        Command::new(peers.python_program("mkdocs"))
            .current_dir(root)
            // The theme's notice about a successor of MkDocs is no business of ours, and strict counts warnings.
            .env("DISABLE_MKDOCS_2_WARNING", "true")
            .args(["build", "--strict", "--quiet", "--site-dir"])
            .arg(root.join("target/site")),
    )?;
    println!("{}", root.join("target/site/index.html").display());
    Ok(())
}
