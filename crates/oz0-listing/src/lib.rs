//! A function's listing: what a server says of one function, in the one form that is hashed, shown
//! and served.
//!
//! MCP servers describe their functions to a language model in free text, and may describe them
//! differently tomorrow. This crate turns one function of a `tools/list` answer into a [`Listing`]:
//! cut to the members that reach a model or a person, with every invisible code point written out
//! ([`escape`]), in the canonical JSON of RFC 8785 ([`json`]), so that it has one [`ListingHash`]
//! everywhere. What is hashed is what is read: nothing here keeps the server's own bytes.
//!
//! Around it stand the names that functions go by ([`FunctionId`], [`ModelName`]), what is left
//! out of a tool's listing and why ([`read_tool`], [`merge`]), the two files that hold listings
//! ([`mod@file`]), and the words a person reads when a listing changes ([`diff`]).
//!
//! The crate is a leaf: no I/O, no policy, no knowledge of plugins or of the wire. Everything in it
//! is a function of its arguments, and no input makes it panic: listings come from servers that
//! nobody has approved yet.

pub mod diff;
mod digest;
pub mod file;
mod id;
pub mod json;
mod listing;
mod pointer;
mod schema;
mod tool;
pub mod unstable;
mod wire;

pub use digest::{Digest, DigestError, ListingHash};
pub use id::{FunctionId, IdError, ModelName, ToolId};
pub use listing::{Listing, MEMBERS, Unlistable};
pub use oz0_escape as escape;
pub use pointer::{Pointer, PointerError};
pub use tool::{Function, LeftOut, PluginListing, ToolListing, merge, read_tool};
