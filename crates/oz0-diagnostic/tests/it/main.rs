//! What the crate does, through its public surface.

mod hint;
mod machine;
mod pretty;
mod source;
