//! A node beside a real edge with a real store, in front of real servers in their sandboxes.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

mod approval;
mod asking;
mod bound;
mod calls;
mod connections;
mod hooks;
mod house;
mod label;
mod policy;
mod process;
mod remote;
mod servers;
mod trust;
