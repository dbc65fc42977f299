//! `oz0 up` and `oz0 mcp`: real processes on one data folder, and the clients that find them.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

mod failing;
mod folders;
mod grants;
pub(crate) mod home;
mod mcp;
mod state;
mod up;
