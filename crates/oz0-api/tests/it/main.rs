//! The API's types at the door, and the client against peers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

mod client;
mod ids;
mod schemas;
mod shown;
mod types;
mod update;
