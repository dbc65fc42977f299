//! The operator's commands against a running `oz0 up`: real processes on both sides.

mod approve;
mod audit;
mod calls;
mod endpoints;
pub(crate) mod house;
mod list;
mod manners;
mod policy;
mod tokens;
