//! What holds for the escape, through the crate's public surface.

mod escape;
