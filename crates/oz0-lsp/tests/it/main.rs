//! The server in this process, over a pipe in memory: laws that want many conversations.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod edits;
