//! The crate through its public surface: pages that are tests, laws over all rules, and the forms of a report.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod checks;
mod corpus;
mod exemptions;
mod files;
mod fixing;
mod laws;
mod levels;
mod listings;
mod litellm;
mod pages;
mod plugins;
mod reports;
