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
            // The theme's notice of its successor belongs in a change of the lock, not in every build.
            .env("NO_MKDOCS_2_WARNING", "1")
            .args(["build", "--strict", "--quiet", "--site-dir"])
            .arg(root.join("target/site")),
    )?;
    println!("{}", root.join("target/site/index.html").display());
    Ok(())
}
