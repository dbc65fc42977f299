//! `oz0 plugin lint` of a small plugin as a whole process, beside two linters whose speed is known: `ruff check` of one small
//! file, and `zizmor` of one workflow. All in turn, warm, round by round.
//!
//! `cargo bench -p oz0 --bench lint`. Needs what `cargo xtask setup --bench` installs.
#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fs;
use std::path::Path;
use std::process::Command;

use oz0_peers::{Bench, Peers};

mod timing;

use timing::{in_turn, wall};

const OZ0: &str = env!("CARGO_BIN_EXE_oz0");
/// Rounds, each with a median of its own: the machine is seldom quiet, and the spread says so.
const ROUNDS: usize = 5;

/// What `actionlint` and others call a small workflow: checked out, built, tested.
const WORKFLOW: &str = "\
name: ci
on: {push: {branches: [main]}}
permissions: {}
jobs:
  test:
    runs-on: ubuntu-24.04
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8
        with: {persist-credentials: false}
      - run: cargo test --workspace
";

fn main() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a checkout");
    let team = checkout.join("examples/team");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = folder.path().join("small.py");
    fs::write(&small, "import json\n\nprint(json.dumps({\"a\": 1}))\n").expect("a file");
    let workflow = folder.path().join(".github/workflows/ci.yml");
    fs::create_dir_all(workflow.parent().expect("a folder")).expect("a folder");
    fs::write(&workflow, WORKFLOW).expect("a file");
    let ruff = Peers::find().expect("cargo xtask setup was run").python_program("ruff");
    let zizmor = Bench::find().expect("cargo xtask setup --bench was run").program("zizmor");

    let lint = || wall(Command::new(OZ0).args(["plugin", "lint"]).arg(&team));
    let check =
        || wall(Command::new(&ruff).args(["check", "--no-cache", "--isolated"]).arg(&small));
    let audit = || {
        let mut command = Command::new(&zizmor);
        wall(command.args(["--offline", "--no-config", "--no-exit-codes"]).arg(&workflow))
    };
    println!("| round | `oz0 plugin lint` | `ruff check` | ratio | `zizmor` | ratio |");
    println!("|---|---|---|---|---|---|");
    for round in 1..=ROUNDS {
        let [lint, check, audit] = in_turn([&lint, &check, &audit]);
        println!(
            "| {round} | {} | {} | {:.2} | {} | {:.2} |",
            lint.told(),
            check.told(),
            lint.ratio(&check),
            audit.told(),
            lint.ratio(&audit)
        );
    }
}
