//! The edge through its HTTP API, over a real store.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

mod approve;
mod audit;
mod calls;
mod endpoints;
mod folders;
mod full;
mod function_laws;
mod house;
mod kill;
mod names;
mod nodes;
mod snapshot;
mod store_laws;
mod surfaces;
mod tokens;
mod trust;
mod version_laws;
