//! The language server: what `oz0 plugin lint` says of a plugin, in an editor while somebody writes it.
//!
//! [`serve`] speaks the Language Server Protocol 3.17 with one editor. It finds nothing of its own: every diagnostic is one
//! that [`oz0_lint::lint`] gives, over the plugin as its folder will be once the open documents are saved
//! ([`oz0_plugin::Plugin::load_unsaved`]), so an editor and the command line never disagree. A plugin is the nearest folder
//! above an open document that has an `oz0-plugin.yaml`; a document outside of any is none of its business. Its findings are
//! shown for all of its files, as long as one of them is open. Nothing of a plugin is run.
//!
//! # How it works
//!
//! Handlers of notifications change what is known of the documents and return; what they touched is noted. One task waits
//! until nothing was touched for a moment, and checks the plugins that it is about, one after the other. A check that a new
//! edit overtakes is abandoned, and never shown. Requests (hover, quick fix, completion) look at the documents as they are
//! and at the last check, and use of it only what is about the very version that stands in the editor.
//!
//! Texts of a plugin are hostile: in what is shown, characters that nobody sees are written out, and Markdown in them is text.

mod action;
mod candidates;
mod check;
mod completion;
mod cursor;
mod documents;
mod hover;
mod markdown;
mod parent;
mod place;
mod schema;
mod server;
mod session;
mod text;
mod uri;

pub use server::{Ended, serve};

/// How the server is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Hold plugins to the level of verified plugins, whatever the editor's configuration says.
    pub verified: bool,
}
