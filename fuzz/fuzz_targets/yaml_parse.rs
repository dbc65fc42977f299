//! Any bytes are read without a panic, within the limits, and with places that fit the text.

#![no_main]

#[expect(dead_code, reason = "the other target's check")]
#[path = "../../crates/oz0-yaml/tests/it/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read(bytes));
