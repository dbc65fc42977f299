//! Edits that change what they should and nothing else.
//!
//! A change names a place by its path and says what shall stand there. It is made by splicing byte
//! ranges of the text, so comments, order, quoting, indentation and line endings of everything else
//! stay as they are. No edit is trusted: the text that comes out is parsed, and unless it has no
//! problem, says exactly the wanted value and still has every comment that was not part of what was
//! removed or replaced, the edit is refused.
//!
//! ```
//! use oz0_yaml::edit::{Change, PathStep, apply};
//!
//! let text = "tools:\n  git: # the one server\n    package: pypi:mcp-server-git\n";
//! let path = vec![PathStep::Key("tools"), PathStep::Key("git"), PathStep::Key("package")];
//! let pinned = "pypi:mcp-server-git==2026.1.14".into();
//! assert_eq!(
//!     apply(text, &[Change::Replace { path, value: pinned }])?,
//!     "tools:\n  git: # the one server\n    package: pypi:mcp-server-git==2026.1.14\n",
//! );
//! # Ok::<(), oz0_yaml::edit::EditError>(())
//! ```

mod layout;
mod model;
mod pieces;
mod plan;
mod write;

use std::fmt;
use std::ops::Range;

use crate::data::Data;
use crate::node::Node;
use crate::read::{Parsed, parse};
use crate::{Limits, Problem};
use pieces::Pieces;

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathStep<'a> {
    /// The value of the first entry with this string as its key.
    Key(&'a str),
    /// The item of a sequence, from 0.
    Index(usize),
}

/// Something to change in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Change<'a> {
    /// Puts another value in the place of one. A string keeps the quotes of the scalar it replaces
    /// where it can. Comments inside of the replaced value go with it.
    Replace {
        /// Where the value is.
        path: Vec<PathStep<'a>>,
        /// What shall stand there.
        value: Data,
    },
    /// Adds an entry at the end of a mapping.
    Insert {
        /// Where the mapping is.
        path: Vec<PathStep<'a>>,
        /// A key that it does not have.
        key: &'a str,
        /// The value.
        value: Data,
    },
    /// Adds an item at the end of a sequence.
    Push {
        /// Where the sequence is.
        path: Vec<PathStep<'a>>,
        /// The item.
        value: Data,
    },
    /// Removes an entry or an item with its lines and the comment behind it. Comments on lines of their
    /// own above it stay. What has lost its last one becomes `{}` or `[]`.
    Remove {
        /// Where it is.
        path: Vec<PathStep<'a>>,
    },
}

/// Why an edit was refused. Nothing was changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text has a problem of its own; with it, nobody knows what an edit would do.
    #[error("cannot edit a text that has a problem: {}", .0.message)]
    Unreadable(Box<Problem>),
    /// The path leads nowhere.
    #[error("there is nothing at {path}")]
    Missing {
        /// The path.
        path: String,
    },
    /// The place is no collection of the kind that was asked for.
    #[error("{path} is {kind}, not {wanted}")]
    WrongKind {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// The mapping has the key already.
    #[error("{path} has the key `{key}` already")]
    KeyExists {
        /// The path of the mapping.
        path: String,
        /// The key.
        key: String,
    },
    /// The path leads through an alias: the change would be made where the anchor is, and so in every
    /// other place too.
    #[error("{path} is an alias; change the text at its anchor, or write the value out here first")]
    Alias {
        /// The path of the alias.
        path: String,
    },
    /// The value, or one around or in it, has an anchor: its aliases would change with it.
    #[error("{path} has an anchor, so a change would reach its aliases too; change it by hand")]
    Anchor {
        /// The path of the change.
        path: String,
    },
    /// No splice was found that gives exactly the wanted value.
    #[error("cannot change {path} without changing something else; change it by hand")]
    Unsafe {
        /// The path of the change.
        path: String,
    },
    /// A splice lies outside of the text, inside of a character, or over another one.
    #[error("the splice at bytes {start} to {end} does not fit the text or another splice")]
    Splice {
        /// Its first byte.
        start: usize,
        /// The byte behind its last.
        end: usize,
    },
}

/// Byte ranges of a text and what to put there, in order and apart from each other.
pub type Splices = Vec<(Range<usize>, String)>;

/// Makes the changes one after the other: each path is that of the text as the changes before have
/// left it. Texts above [`Limits::MANIFEST`] are refused.
pub fn apply(text: &str, changes: &[Change<'_>]) -> Result<String, EditError> {
    splice(text, &splices(text, changes)?)
}

/// The same as splices of the text that was handed in.
pub fn splices(text: &str, changes: &[Change<'_>]) -> Result<Splices, EditError> {
    let mut pieces = Pieces::of(text);
    let mut now = text.to_owned();
    for change in changes {
        let before = read(&now)?;
        let step = step(&now, &before, change)?;
        now = splice(&now, &step)?;
        pieces.splice(&step);
    }
    Ok(pieces.splices())
}

/// Puts other text in the place of some byte ranges, which may come in any order. Several at the same
/// empty range come out in their order.
pub fn splice(text: &str, edits: &[(Range<usize>, String)]) -> Result<String, EditError> {
    let mut sorted: Vec<&(Range<usize>, String)> = edits.iter().collect();
    sorted.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in sorted {
        let fits = range.start >= at && text.get(range.clone()).is_some();
        let kept = text.get(at..range.start).filter(|_| fits);
        let Some(kept) = kept else {
            return Err(EditError::Splice { start: range.start, end: range.end });
        };
        out.push_str(kept);
        out.push_str(replacement);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

fn read(text: &str) -> Result<Parsed, EditError> {
    let parsed = parse(text, &Limits::MANIFEST);
    match parsed.problems.into_iter().next() {
        Some(problem) => Err(EditError::Unreadable(Box::new(problem))),
        None => Ok(Parsed { problems: Vec::new(), ..parsed }),
    }
}

/// The splices of one change.
fn step(text: &str, before: &Parsed, change: &Change<'_>) -> Result<Splices, EditError> {
    let shown = Shown(change.path()).to_string();
    let Some(root) = &before.root else { return Err(EditError::Missing { path: shown }) };
    let wanted = model::changed(root, change)?;
    let adds = matches!(change, Change::Insert { .. } | Change::Push { .. });
    for candidate in plan::candidates(text, root, change)? {
        if gives(text, before, &candidate, &wanted, adds) {
            return Ok(candidate);
        }
    }
    let target = root.at(change.path());
    if !adds && target.is_some_and(Node::holds_anchor) {
        return Err(EditError::Anchor { path: shown });
    }
    Err(EditError::Unsafe { path: shown })
}

/// Whether some splices give the wanted value and keep every comment: of a change that only adds, all
/// of them, else those outside of the splices.
fn gives(text: &str, before: &Parsed, splices: &Splices, wanted: &Data, adds: bool) -> bool {
    let Ok(changed) = splice(text, splices) else { return false };
    let after = parse(&changed, &Limits::MANIFEST);
    if !after.problems.is_empty() || after.root.as_ref().map(Node::data).as_ref() != Some(wanted) {
        return false;
    }
    let kept = before.comments.iter().filter(|comment| {
        let gone = |(range, _): &(Range<usize>, String)| {
            range.start <= comment.range.start && comment.range.end <= range.end
        };
        adds || !splices.iter().any(gone)
    });
    kept.map(|comment| &comment.text).eq(after.comments.iter().map(|comment| &comment.text))
}

impl<'a> Change<'a> {
    /// The path of the change.
    pub fn path(&self) -> &[PathStep<'a>] {
        match self {
            Self::Replace { path, .. }
            | Self::Insert { path, .. }
            | Self::Push { path, .. }
            | Self::Remove { path } => path,
        }
    }
}

/// A path as a message shows it: `tools.git.args[0]`, or `the document` for the empty one.
struct Shown<'a>(&'a [PathStep<'a>]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the document");
        }
        f.write_str("`")?;
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if index == 0 => write!(f, "{key}")?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(item) => write!(f, "[{item}]")?,
            }
        }
        f.write_str("`")
    }
}
