//! Any bytes as a plugin's files: a report, never a panic.

#![no_main]

#[path = "../../crates/oz0-lint/tests/it/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check(bytes));
