//! Any bytes as the files that lock a plugin's dependencies: a bill of materials or findings, never a panic.

#![no_main]

#[path = "../../crates/oz0-bundle/tests/it/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check(bytes));
