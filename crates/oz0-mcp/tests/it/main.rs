//! The client against peers of every kind: the scripted server over pipes and sockets, and hand-written ones in
//! memory where the very bytes and their timing matter.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod actor;
mod http;
mod listing;
mod memory;
mod origin;
mod readers;
mod stdio;
