//! Any text as one of the files that hosts, keys and words are judged by, and as what is judged.

#![no_main]

#[path = "../../crates/oz0-policy/tests/it/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
