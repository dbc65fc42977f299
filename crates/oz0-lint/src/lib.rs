//! The house rules of plugins, and the one lint that checks them.
//!
//! [`lint`] is the only path: the command line, packing, the hub and an edge's install call it and give the same findings.
//! It runs nothing of the plugin and reads no network. What it reads, it reads through a loaded [`Plugin`], once, into a
//! bounded view; the rules are functions of that view, independent of each other, and run side by side.
//!
//! A rule is two files: `rules/s005_wildcard_egress.rs`, and beside it `rules/s005_wildcard_egress.md`, which is its page of
//! the documentation, what `oz0 plugin explain OZ-S005` prints, and its test: every example in it is linted, and the
//! findings are those that its comments say, on their lines. `cargo xtask new-rule` makes both.
//!
//! A finding cannot be made without a span; its code, name, level and link come from the rule's [`Metadata`], so no rule can
//! speak in another's name. What a house rule finds is advice: at the plain level almost everything is a warning, and an
//! install never refuses a plugin over one. At the verified level each is an error.
//!
//! Never a silent pass: what keeps a rule from running (a manifest that does not decode, a listing that is not there) is a
//! finding or a line of the [`Summary`].

mod exemption;
mod explain;
mod fix;
mod list;
mod loader;
mod metadata;
mod page;
mod phrase;
mod report;
mod rules;
mod run;
mod schema;
mod sink;
mod view;

pub use explain::Explained;
pub use fix::{Fixed, diff, fixes, mend};
pub use list::{rules_json, rules_markdown, rules_text};
pub use loader::{LoaderCheck, loader_checks};
pub use metadata::{Metadata, Plain, RunsOn};
pub use oz0_plugin::Plugin;
pub use page::{Example, Expected, File, FileKind, Mark, Page, Place, SECTIONS, published};
pub use report::{FORMAT, NotRun, Report, Summary};
pub use rules::{Rule, bare_name, find, rules};
pub use run::{Request, lint};
pub use schema::report_schema;

/// The words that a manifest's `kind:` is one of.
pub const KINDS: [&str; 3] = view::Kind::WORDS;
