//! Every form of command, from outside: what is written, and that it loads.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod clients;
mod forms;
mod laws;
mod local;
mod support;
mod templates;
