//! Bundles: written, read, and refused.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod checks;
mod corpus;
mod deterministic;
mod hostile;
mod laws;
mod materials;
mod support;
