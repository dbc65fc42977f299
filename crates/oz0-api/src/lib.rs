//! What the edge, its nodes and the command line say to each other, and the one client that says it.
//!
//! The API is HTTP/1.1 with JSON under `/v1`. Whoever speaks it, speaks it through [`Client`], over
//! one of three ways to the same bytes: TCP, the Unix socket in the data folder, and a pipe in
//! memory for a node that lives in the edge's own process. There is no second path, so a process
//! that is split into two behaves as it did.
//!
//! Every name and ID is a type that is parsed once, when a request or an answer is read
//! ([`PluginName`], [`ChangeId`], …; a function's own names come from [`oz0_listing`]). An answer
//! that is not 2xx is a [`Problem`].
//!
//! Requests refuse members they do not know, so a misspelt one is not silently ignored; answers
//! skip them, so an older client can read a newer edge.

pub mod approval;
pub mod audit;
pub mod call;
pub mod change;
pub mod client;
pub mod credential;
mod id;
pub mod memory;
pub mod moment;
pub mod node;
pub mod plugin;
pub mod policy;
mod problem;
pub mod rollout;
pub mod shown;
pub mod token;
pub mod update;

pub use client::{Client, ClientError};
pub use id::{
    ApprovalId, CallId, CallPattern, ChangeId, ConnectionName, EdgeId, Endpoint, FunctionGrant,
    IdError, NodeName, PluginName, PluginVersion, PolicyMatch, Revision, RuleId, SecretName,
    TokenId, UnixMillis, VersionRange,
};
pub use problem::{Code, Kind, Problem};
