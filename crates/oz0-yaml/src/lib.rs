//! YAML for documents that people write and tools mend: every node with its place, every problem in
//! one run, hard limits, and edits that leave the rest of the text alone.
//!
//! # Why not a typed reader
//!
//! A typed reader stops at its first error and forgets where things stood. A manifest's author wants
//! all that is wrong, each with its place, and a fix that does not reformat the file. So this crate
//! builds a tree of [`Node`]s with byte ranges out of parser events ([`parse`]), and changes text by
//! splicing byte ranges ([`edit`]). It knows nothing of what the document means, nor of how a
//! problem is shown.
//!
//! # What is YAML here
//!
//! YAML 1.2.2 with its core schema (section 10.3): `yes`, `no`, `on` and `off` are strings, `0o17` and
//! `0x1F` integers, `<<` is a key like any other. A text holds one document. Two keys of one mapping
//! that resolve to the same value are a problem, so is a tab as indentation, an alias without its
//! anchor, a tag outside the core schema, and a character that YAML does not allow.
//!
//! # Limits
//!
//! [`Limits`] bound the text's size, the nesting, and how many nodes aliases may add ("billion
//! laughs"). All work is done in time and memory proportional to the text plus those limits, and no
//! input makes this crate panic.
//!
//! ```
//! use oz0_yaml::{Limits, ProblemKind, parse};
//!
//! let parsed = parse("name: github\nname: gitlab\n", &Limits::MANIFEST);
//! assert_eq!(parsed.problems[0].kind, ProblemKind::DuplicateKey);
//! assert_eq!(parsed.problems[0].range, 13..17);
//! assert_eq!(parsed.root.unwrap().get("name").unwrap().value.as_str(), Some("github"));
//! ```

mod data;
pub mod edit;
mod node;
mod place;
mod problem;
mod read;
mod recover;
mod resolve;
mod scalar;
mod syntax;
mod text;

pub use data::Data;
pub use edit::PathStep;
pub use node::{Comment, Entry, Node, Style, Value};
pub use problem::{Problem, ProblemKind};
pub use read::{Parsed, parse};
pub use text::{NotUtf8, decode, parse_bytes};

/// How much a text may ask of its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes.
    pub bytes: usize,
    /// How many collections may lie in each other. Values above 200 count as 200, which keeps every
    /// walk of the tree well inside a thread's stack.
    pub depth: usize,
    /// How many nodes all aliases of a text may add together. Their scalars' bytes are bounded by
    /// [`Limits::bytes`] as well.
    pub alias_nodes: usize,
}

impl Limits {
    /// A plugin's manifest: 1 MiB, 64 levels, 10,000 nodes.
    pub const MANIFEST: Self = Self { bytes: 1024 * 1024, depth: 64, alias_nodes: 10_000 };

    pub(crate) fn levels(&self) -> usize {
        self.depth.min(200)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::MANIFEST
    }
}
