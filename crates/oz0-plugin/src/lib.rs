//! A plugin's folder and manifest: types, loader, source digest.
//!
//! A plugin is a folder with `oz0-plugin.yaml` at its root. Everything that works on one, be it a test, the linter or an
//! edge, sees it through one [`Plugin`], which is loaded once and runs nothing:
//!
//! - the [`manifest`], decoded with every problem in one run, each value with its place;
//! - the *packed files*: what of the folder belongs to the plugin, by one walk that no setting of the machine changes;
//! - the *source digest* over them, which says whether a measured listing still belongs to the files.
//!
//! A problem of the plugin is a [`oz0_diagnostic::Diagnostic`]; a [`LoadError`] says that oz0 could not read.

pub mod check;
mod decode;
mod dependency;
mod error;
mod eval;
mod folder;
mod listing;
pub mod manifest;
/// How large a plugin may be (OZ-L021).
pub mod limits {
    pub use crate::folder::{BYTES, FILES, PACKED, PATH};
}
mod plugin;
mod publishing;
mod write;

pub use decode::collection::{List, Map, NonEmpty, Spanned};
pub use decode::json::JsonSchema;
pub use dependency::{
    Closure, Dependencies, DependencyProblem, LockedHash, LockedPackage, LockedScope, PackageLock,
    PythonDependencies, Requirement, Requirements, UvLock, normal_name,
};
pub use error::LoadError;
pub use eval::{Eval, EvalCase, EvalFile};
pub use folder::{
    CopyOptions, Mode, PackedFile, PathFault, PluginFile, Reason, Spellings, Unpackable, Unsaved,
    check_path, is_written,
};
pub use listing::{LISTING, ListingState, SnapshotState};
pub use manifest::{COMPILED_MANIFEST, Manifest, schema};
pub use plugin::{ContractTests, Plugin};
pub use write::{replace_atomically, unfinished_file, write_atomically};
