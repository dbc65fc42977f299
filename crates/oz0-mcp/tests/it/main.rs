//! The client against peers of every kind: the scripted server over pipes and sockets, and hand-written ones in
//! memory where the very bytes and their timing matter; and the server side against this crate's own client and
//! hand-written ones.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod actor;
mod era;
mod http;
mod listing;
mod memory;
mod origin;
mod readers;
mod server_changes;
mod server_gateway;
mod server_http;
mod server_sessions;
mod server_splice;
mod server_stdio;
mod stdio;
