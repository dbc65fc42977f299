//! What the crate says of folders and of files in memory, through its public surface.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod bounds;
mod commands;
mod installed;
mod nesting;
mod node;
mod node_locks;
mod notebooks;
mod python;
mod python_locks;
mod requirements;
mod scripts;
mod sources;
mod support;
mod walk;
mod ways;
