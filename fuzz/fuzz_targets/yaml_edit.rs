//! Any change of any text is refused, or gives a text that can be read.

#![no_main]

#[expect(dead_code, reason = "the other target's check")]
#[path = "../../crates/oz0-yaml/tests/it/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::edit(bytes));
