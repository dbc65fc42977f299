//! A plugin's servers: locks, frozen environments, surroundings, sandbox, start and stop.
//!
//! A listing is pinned, so it must not depend on the machine that measures it. This crate is the
//! one place where a plugin's server is started, for a test as for a node, and it starts every
//! server alike: from a locked environment ([`environment`]), in fixed [`surroundings`], inside a
//! [`sandbox`] that the [`launch::Launcher`] sets up by re-executing the program. Nothing that a
//! server starts outlives it, however it ends or oz0 does.

pub mod environment;
mod interpreter;
pub mod launch;
pub mod running;
pub mod sandbox;
pub mod share;
mod spawner;
pub mod stderr;
pub mod surroundings;
pub mod tool;

pub use environment::{
    EnvironmentError, Environments, PackageTool, PrepareError, Prepared, Registry, cache_folder,
};
pub use launch::{LaunchError, LaunchSpec, Launcher, Tier, TierChoice};
pub use running::{Running, StopBounds};
pub use sandbox::protocol::{Ended, FolderAccess, Layer, MissingLayer};
pub use sandbox::root::in_system;
pub use sandbox::{SANDBOX_ARGUMENT, sandbox_if_asked, sandbox_main};
pub use share::{Protected, Share, ShareAccess, ShareError, Shares};
pub use stderr::Stderr;
pub use surroundings::{Places, Variation};
pub use tool::{Declared, Lock, ToolError, unlocked};
