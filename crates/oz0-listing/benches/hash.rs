//! What it costs to hash listings, against what it costs not to.
//!
//! Three ways over the same `tools/list` answers of one MiB each, taken in turns so that a busy
//! machine is equally unfair to all:
//!
//! - *read*: [`Listing::read`] of every function (strict parse, cut, escape, canonical form, hash);
//! - *floor*: SHA-256 over the answer's bytes, and `serde_json` cutting it into `RawValue`s: the
//!   least that anybody who hashes and splits an answer pays;
//! - *generic*: `serde_json::Value`, `serde_json_canonicalizer` and SHA-256, with no cut, no escape
//!   and no look at repeated members.
//!
//! The goals: *read* takes at most 4 times *floor*, and *generic* at least 2.5 times *read*. They are
//! for listings as servers write them; what hidden text costs, none of which the other two write
//! out, is shown and not judged. With `OZ0_CORPUS` naming a folder of real servers' answers (objects with `tools`), those are measured
//! as well. The table shows the median of the rounds; the process fails if a goal is missed and
//! `--check` is given.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use oz0_listing::Listing;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

const SIZE: usize = 1 << 20;
const ROUNDS: usize = 60;
const HIDDEN: &str = "with hidden text";

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let written: Vec<Box<RawValue>> =
        serde_json::from_str(include_str!("functions.json")).expect("the functions are JSON");
    let written: Vec<_> = written.iter().map(|raw| raw.get().to_owned()).collect();
    let hidden: Vec<_> = written
        .iter()
        .map(|raw| raw.replacen(" the ", " the \u{200B}", 2).replace(". ", ".\u{E0041} "))
        .collect();
    let mut inputs = vec![("written for this", written), (HIDDEN, hidden)];
    if let Ok(folder) = std::env::var("OZ0_CORPUS") {
        inputs.push(("real servers", real(&folder)));
    }
    println!(
        "{:<18} {:>9} {:>9} {:>9} {:>11} {:>13}",
        "1 MiB of functions", "read", "floor", "generic", "read/floor", "generic/read"
    );
    let mut met = true;
    for (name, functions) in inputs {
        met &= measure(name, &functions) || name == HIDDEN;
    }
    if check && !met { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn measure(name: &str, functions: &[String]) -> bool {
    let mut answer = String::from("[");
    for function in functions.iter().cycle() {
        if answer.len() >= SIZE {
            break;
        }
        if answer.len() > 1 {
            answer.push(',');
        }
        answer.push_str(function);
    }
    answer.push(']');
    let cut: Vec<&RawValue> = serde_json::from_str(&answer).expect("the answer is JSON");

    let mut times = [(); 3].map(|()| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        times[0].push(timed(|| {
            for raw in &cut {
                black_box(Listing::read(raw.get(), &[]).expect("a function").hash());
            }
        }));
        times[1].push(timed(|| {
            black_box(Sha256::digest(answer.as_bytes()));
            let raw: Vec<&RawValue> = serde_json::from_str(&answer).expect("the answer is JSON");
            black_box(raw.len());
        }));
        times[2].push(timed(|| {
            for raw in &cut {
                let value: Value = serde_json::from_str(raw.get()).expect("a function");
                let canonical = serde_json_canonicalizer::to_vec(&value).expect("canonical");
                black_box(Sha256::digest(canonical));
            }
        }));
    }
    let [read, floor, generic] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    });
    let (over_floor, under_generic) = (read / floor, generic / read);
    println!(
        "{name:<18} {read:>6.2} ms {floor:>6.2} ms {generic:>6.2} ms {over_floor:>10.2}x {under_generic:>12.2}x"
    );
    over_floor <= 4.0 && under_generic >= 2.5
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn real(folder: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Server {
        tools: Vec<Box<RawValue>>,
    }
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("OZ0_CORPUS is a folder")
        .map(|entry| entry.expect("OZ0_CORPUS can be read").path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a file of OZ0_CORPUS"))
        .map(|text| serde_json::from_str::<Server>(&text).expect("a server's answer"))
        .flat_map(|server| server.tools)
        .map(|raw| raw.get().to_owned())
        // Every tenth: one MiB of many servers rather than the first few of them.
        .step_by(10)
        .collect()
}
