//! `cargo xtask fuzz`: the readers of bytes that come from outside, under libFuzzer.
//!
//! Without a sanitizer, since those need a nightly compiler and the code is free of `unsafe`: what fuzzing looks for
//! here are panics, endless loops and memory without bounds.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::{process, setup};

#[derive(Args)]
pub(crate) struct Options {
    /// The target; every one in turn if none is named
    target: Option<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Run the target on these files alone, such as a crash in fuzz/artifacts
    #[arg(long, requires = "target")]
    input: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let known = targets()?;
    let chosen: Vec<&String> = match &options.target {
        Some(target) if known.contains(target) => vec![target],
        Some(target) => bail!("no fuzz target {target}; there are: {}", known.join(", ")),
        None => known.iter().collect(),
    };
    let peers = setup::peers()?;
    for target in chosen {
        process::run(
            Command::new(peers.python_program("cargo-fuzz"))
                .current_dir(oz0_peers::workspace())
                .args(["fuzz", "run", "--sanitizer=none", target.as_str()])
                .args(&options.input)
                .arg("--")
                .arg(format!("-max_total_time={}", options.seconds))
                .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]),
        )
        .with_context(|| {
            format!("{target} failed; see it again with cargo xtask fuzz {target} --input FILE")
        })?;
    }
    Ok(())
}

/// The names of the binaries of `fuzz/Cargo.toml`.
fn targets() -> Result<Vec<String>> {
    let metadata = process::capture(process::cargo().args([
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--manifest-path=fuzz/Cargo.toml",
    ]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("reading cargo metadata")?;
    let bins = metadata["packages"][0]["targets"].as_array().context("fuzz has no targets")?;
    Ok(bins.iter().filter_map(|bin| bin["name"].as_str()).map(str::to_owned).collect())
}
