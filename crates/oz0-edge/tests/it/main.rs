//! The edge through its HTTP API, over a real store.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]
#![expect(clippy::large_futures, reason = "a test has the stack for itself")]

mod approvals;
mod approve;
mod audit;
mod backup;
mod bucket;
mod calls;
mod candidates;
mod credentials;
mod database;
mod edges;
mod endpoints;
mod folders;
mod full;
mod function_laws;
mod house;
mod kill;
mod life_laws;
mod many;
mod names;
mod nodes;
mod policy;
mod postgres;
mod refreshed;
mod snapshot;
mod store_laws;
mod surfaces;
mod tokens;
mod trust;
mod version_laws;
