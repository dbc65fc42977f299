//! What the crate does, through its public surface.

mod documents;
mod editing;
mod laws;
mod reading;
mod recovering;
mod replay;
