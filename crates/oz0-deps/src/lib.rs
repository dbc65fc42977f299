//! What the files of a folder say they depend on: whether, where and how they name one of some packages.
//!
//! Scanners of dependencies read the lockfiles they know and pass over the rest. This crate is for the opposite question: is
//! there *any* way by which this folder brings a certain package in? So it reads every dependency file, lock, source, installed
//! copy and archive, each as the program reads it that will act upon it, and says of each [`Mention`] where it stands and
//! through whom the package comes.
//!
//! It holds no policy. Which packages are looked for, the caller says ([`Wanted`]); what it means that one is found, the
//! caller knows. It runs nothing, asks no network, and writes nothing.
//!
//! # What could not be read
//!
//! An answer "it is not there" is worth something only when everything was read. So whatever could not be (a folder without
//! permission, a file above the bound, a lock that does not decode) is an [`Unread`] with its place, and never silence.
//!
//! # Bounds
//!
//! [`Limits`] hold the size of a file, the number of files, the nesting of a decoded file and the number of files that
//! requirements include. Memory holds the files in flight and what was found, whatever the folder's size.

mod command;
mod file;
mod format;
mod installed;
mod mention;
mod node;
mod python;
mod source;
mod stack;
mod tree;
mod walk;
mod wanted;

pub use command::{Brought, Named, RequirementFile, command};
pub use format::Format;
pub use mention::{How, Mention, Unread, Via};
pub use tree::{Limits, Reading, Request, Tree, read};
pub use wanted::{Ecosystem, Package, Wanted};
