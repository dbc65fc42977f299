//! What the crate does, through its public surface.

mod reading;
