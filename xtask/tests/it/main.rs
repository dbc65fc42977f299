//! What must hold of the workspace as a whole.
#![expect(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

mod architecture;
mod codes;
mod examples;
mod layering;
