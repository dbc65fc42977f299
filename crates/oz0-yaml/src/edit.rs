//! Edits.

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// The value of the first entry with this string as its key.
    Key(&'a str),
    /// The item of a sequence, from 0.
    Index(usize),
}
