//! What must hold of the workspace as a whole.

mod architecture;
mod layering;
