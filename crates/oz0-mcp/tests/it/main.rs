//! The client against peers of every kind: the scripted server over pipes and sockets, and hand-written ones in
//! memory where the very bytes and their timing matter.

mod actor;
mod http;
mod listing;
mod memory;
mod origin;
mod readers;
mod stdio;
