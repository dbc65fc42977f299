//! A node: runs plugin versions, keeps their listings, and calls only what was approved.
//!
//! A [`Node`] asks its edge what to run and what is accepted ([`oz0_api`]'s poll), starts the servers, lists them,
//! and reports each listing. The edge decides; the node compares. A function is called only while its own last
//! listing on this node hashes as one that the edge holds as accepted, and that listing is never older than
//! [`VerifyEvery`] when a call is forwarded. So a server that changes what it says without a word is found out by the
//! first call after that time, and before it where somebody asks: **between the change and the refusal lies at most
//! `verify_every`, and the one listing that the call waits for**. With 0 each call is preceded by a listing of its own
//! time, and what is left is what the server does between the two.
//!
//! Everything here fails closed. Without a plugin set, a snapshot, a running server, a complete and timely listing, or
//! an edge (longer than [`NodeOptions::edge_grace`]), there is no call, and the refusal says which of these it was. It
//! never repeats what a server that changed says now: that text is for the person who approves it, not for a model.
//!
//! [`Gateway`] is what MCP clients reach: listings out of snapshots, calls forwarded as the text that came. The crate
//! knows the edge through the API's client alone, so a node in the edge's process and one on another machine are the
//! same node.

mod answer;
mod asked;
mod asking;
mod bundles;
mod clients;
mod describe;
mod dev;
mod event;
mod gateway;
mod hooks;
mod host;
mod instance;
mod label;
mod listed;
mod loosened;
mod memory;
mod metrics;
mod node;
mod options;
mod outcome;
pub mod policy;
mod question;
mod refusal;
mod roster;
mod schema;
mod server;
mod table;
mod told;
mod vault;
mod watched;

pub use asked::Asked;
pub use describe::{DescribeError, describe, describe_bundle};
pub use dev::{DevEvent, DevFolder};
pub use event::{Event, Tell};
pub use gateway::Gateway;
pub use node::{Node, Parts};
pub use options::{AI_LABEL, Arguments, NodeLimits, NodeOptions, Validate, VerifyEvery};
