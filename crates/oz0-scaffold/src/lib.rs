//! Plugin folders that oz0 writes for people.
//!
//! [`wrap`] makes one around a server that somebody already uses. What people have of such a server is
//! a command, out of a README or a client's configuration, and the command says less than it seems
//! to: `npx -y some-server` is whatever the registry has today. So a package becomes an exact version
//! that is locked, a script or a program becomes files of the plugin, and what cannot be run in a
//! sandbox (a container, another machine, an installer that builds at every start) is refused with the
//! reason. Nothing of the command is run to find that out.
//!
//! [`new`] makes one from a [`Template`]: a whole plugin that keeps the house rules, tested as it stands, under another name.
//!
//! A plan is made first and whole ([`wrap::plan`]), with every file in it, and the manifest is decoded
//! before anything is written: what is written loads.

pub mod client;
mod command;
mod local;
mod manifest;
mod name;
pub mod new;
mod package;
mod plan;
mod python;
mod refusal;
mod secret;
pub mod shell;
mod stage;
mod template;
mod uv;
pub mod wrap;

pub use new::{NewError, NewPlugin};
pub use plan::{Folder, Note, Plan};
pub use refusal::{Refusal, WrapError};
pub use secret::looks_secret;
pub use template::Template;
pub use wrap::{Registries, Server, Wrapping};
