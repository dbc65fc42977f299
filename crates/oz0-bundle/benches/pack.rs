//! Packing 20,000 small files, beside `tar` and `zstd` on two threads, in turn in one run.
//!
//! `cargo bench -p oz0-bundle --bench pack`. *pack* is all that `oz0 plugin pack` does: the folder is walked, the plugin is
//! checked, its bill of materials is made and found as it should be, the bundle is written, read back by the strict
//! reader, synced and renamed. Without programs called `tar` and `zstd` there is nothing to compare with, and it fails.
#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use oz0_bundle::{SBOM, draft, sbom};
use oz0_plugin::{Plugin, limits};

/// Counted runs of each, after one that is not.
const RUNS: usize = 15;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plugin = folder.path().join("many");
    write_plugin(&plugin);
    let (bundle, archive) = (folder.path().join("many.oz0"), folder.path().join("many.tar.zst"));
    let (mut packs, mut tars) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let pack = timed(|| pack(&plugin, &bundle));
        let tar = timed(|| tar(&plugin, &archive));
        if run > 0 {
            packs.push(pack);
            tars.push(tar);
        }
    }
    let (pack, tar) = (median(packs), median(tars));
    let size = |path: &Path| fs::metadata(path).expect("it was written").len();
    println!(
        "pack of 20,000 small files: {:.0} ms, {} bytes; tar | zstd -3 -T2: {:.0} ms, {} bytes; ratio {:.2} (goal: at most 2)",
        pack.as_secs_f64() * 1e3,
        size(&bundle),
        tar.as_secs_f64() * 1e3,
        size(&archive),
        pack.as_secs_f64() / tar.as_secs_f64()
    );
}

fn pack(folder: &Path, bundle: &Path) {
    let plugin = Plugin::load(folder).expect("a plugin");
    let findings = plugin.publishing_findings().expect("its files can be read");
    assert!(findings.is_empty(), "{findings:?}");
    let bill = sbom(&plugin, plugin.manifest().expect("it decodes")).expect("no lock to read");
    // As the command does, which writes the bill where it is not as it should be, and then walks once more.
    let there = plugin.file(SBOM).expect("it was written");
    assert_eq!(plugin.read_file(there, u64::MAX).ok(), bill.ok().map(String::into_bytes));
    let (packed, _) =
        draft(&plugin, bundle).and_then(oz0_bundle::Draft::keep).expect("it is packed");
    assert_eq!(packed.files, limits::FILES);
}

fn tar(plugin: &Path, archive: &Path) {
    let done = Command::new("sh")
        .args(["-c", "tar -C \"$0\" -cf - . | zstd -q -f -3 -T2 -o \"$1\""])
        .arg(plugin)
        .arg(archive)
        .status()
        .expect("there is a shell");
    assert!(done.success(), "tar or zstd is missing");
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Text as a program's source has it: of nothing to some kilobytes, and unlike the next file's.
fn write_plugin(plugin: &Path) {
    let licence = spdx::license_id("0BSD").expect("it is on the list").text();
    let files = [
        (
            "oz0-plugin.yaml",
            "name: many\nversion: 1.0.0\ndescription: Many files.\nlicense: 0BSD\n",
        ),
        ("README.md", "# Many\n"),
        ("LICENSE", licence),
    ];
    fs::create_dir_all(plugin).expect("a folder");
    for (path, text) in files {
        fs::write(plugin.join(path), text).expect("a file");
    }
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for number in 0..limits::FILES - files.len() - 1 {
        let place = plugin.join(format!("lib/{:02}", number % 100));
        fs::create_dir_all(&place).expect("a folder");
        let mut text = String::new();
        for line in 0..next(80) {
            let _ = writeln!(
                text,
                "def name_{}(argument_{line}):\n    return {}",
                next(5000),
                next(1 << 40)
            );
        }
        fs::write(place.join(format!("module_{number}.py")), text).expect("a file");
    }
    let loaded = Plugin::load(plugin).expect("a plugin");
    let bill = sbom(&loaded, loaded.manifest().expect("it decodes")).expect("no lock to read");
    fs::write(plugin.join(SBOM), bill.expect("no lock to be wrong")).expect("a file");
}
