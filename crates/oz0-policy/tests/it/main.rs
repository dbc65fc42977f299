//! The crate through its public surface.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod checks;
mod combination;
mod conditions;
mod corpus;
mod decision;
mod function;
mod hosts;
mod loosening;
mod words;
