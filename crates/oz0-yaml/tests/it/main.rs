//! What the crate does, through its public surface.

#![expect(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test fails by an unwrap, with the place, and may be slow to be short"
)]

mod checks;
mod documents;
mod editing;
mod laws;
mod reading;
mod recovering;
mod replay;
