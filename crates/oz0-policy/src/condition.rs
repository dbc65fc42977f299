//! When a rule holds: JSON pointers into a call's arguments, and the schemas that must all hold there.
//!
//! Schemas are compiled once. Nothing is fetched for one, and its patterns run in linear time: a plugin's author wrote
//! it, and a model chose the arguments. One that cannot be compiled says neither yes nor no, and whoever decides by it
//! refuses: taking it for a yes would let a rule allow what it was to restrict, and taking it for a no would skip a
//! rule that was to refuse.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::work::Work;

/// How large a compiled pattern may be, in bytes.
const PATTERN: usize = 1 << 20;
/// How many steps a schema may take at one place of the arguments.
const STEPS: u64 = 100_000;
/// How much of what is wrong with a schema is told, in characters.
const SHOWN: usize = 200;

/// A rule's condition on a call's arguments.
pub struct Condition {
    parts: Result<Vec<(String, Validator)>, Unusable>,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("usable", &self.parts.is_ok()).finish()
    }
}

/// Why nobody can say whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    pointer: String,
    what: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the whole" } else { &self.pointer };
        write!(f, "its schema for {place} cannot be used: {}", self.what)
    }
}

impl std::error::Error for Unusable {}

impl Condition {
    /// The condition that the value at each pointer (RFC 6901) is one that its schema allows. Never fails: what is wrong
    /// with it is said by [`holds`](Self::holds).
    pub fn new<'a>(parts: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Self {
        let compile = |(pointer, schema): (&'a str, &'a Value)| {
            let unusable =
                |what: &str| Err(Unusable { pointer: pointer.to_owned(), what: what.to_owned() });
            match Work::of(schema) {
                Work::Recursive => return unusable("it refers to itself, or by a name"),
                Work::Steps(steps) if steps > STEPS => {
                    return unusable("it unfolds to more than 100,000 steps");
                }
                Work::Steps(_) => {}
            }
            jsonschema::options()
                .with_pattern_options(PatternOptions::regex().size_limit(PATTERN))
                .build(schema)
                .map(|validator| (pointer.to_owned(), validator))
                .map_err(|error| Unusable {
                    pointer: pointer.to_owned(),
                    what: error.to_string().chars().take(SHOWN).collect(),
                })
        };
        Self { parts: parts.into_iter().map(compile).collect() }
    }

    /// Whether every pointer leads to a value, and its schema allows that.
    pub fn holds(&self, arguments: &Value) -> Result<bool, &Unusable> {
        let parts = self.parts.as_ref()?;
        Ok(parts.iter().all(|(pointer, schema)| {
            arguments.pointer(pointer).is_some_and(|value| schema.is_valid(value))
        }))
    }

    /// Says what is wrong with it, if anything is.
    pub fn check(&self) -> Result<(), &Unusable> {
        self.parts.as_ref().map(|_| ())
    }
}
