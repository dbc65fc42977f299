//! What the crate does, through its public surface.

#![expect(clippy::unwrap_used, reason = "a test fails by it, with the place")]

mod hint;
mod machine;
mod pretty;
mod scanners;
mod source;
