//! The Model Context Protocol on the wire, as raw JSON-RPC.
//!
//! What a server lists is pinned, and what it is called with and answers passes through untouched, so nothing here
//! has types for it: a typed reader drops the members it does not know and refuses a whole listing for one function
//! that it cannot read. This crate understands the envelope (which message answers which, in which era and version,
//! over which transport) and leaves the rest as the text that the peer wrote.
//!
//! A [`Client`] speaks every released version, from 2024-11-05 to 2026-07-28, over stdio and HTTP, and expects
//! everything of its peer: silence, floods, answers to nothing, endless pages, a death in mid-word. Every wait ends,
//! everything kept is bounded, and every error says during what it happened.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use oz0_mcp::{Client, ClientOptions, Endpoint};
//!
//! let endpoint = Endpoint::new("https://mcp.example.com/mcp")?;
//! let client = Client::http(&endpoint, &ClientOptions::default()).await?;
//! for function in client.list_functions().await?.functions {
//!     println!("{function}");
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```

mod client;
mod core;
mod error;
mod http;
pub mod line;
mod listing;
pub mod message;
mod opening;
mod options;
mod origin;
pub mod server;
pub mod sse;
mod stdio;
mod version;

pub use crate::client::Client;
pub use crate::core::{Event, Events, Junk, Notification, ServerRequest, Stats};
pub use crate::error::{CallError, Closed, ConnectError, Fault, ListError, RpcError, Step};
pub use crate::http::{BoundHeaders, Endpoint, OtherOrigin};
pub use crate::listing::{LeftOut, RawListing, ServerInfo};
pub use crate::options::{ClientOptions, EraChoice, Identity, Limits, Timeouts};
pub use crate::origin::{Origin, OriginError};
pub use crate::version::{Era, ProtocolVersion};
pub use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
