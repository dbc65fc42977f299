//! What holds for listings, through the crate's public surface.

#![expect(clippy::unwrap_used, reason = "a test's helper fails its test by panicking")]

mod canonical;
mod corpus;
mod diff;
mod documentation;
mod extent;
mod file;
mod fuzz_corpus;
mod generate;
mod listing;
mod names;
mod passages;
mod tool;
mod unstable;
