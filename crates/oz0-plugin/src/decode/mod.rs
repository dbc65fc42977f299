//! The accumulating decoder: a span tree in, typed values and *every* problem out.
//!
//! `serde` stops at its first error, and an author with ten mistakes would need ten runs. Here a value that does not
//! decode leaves a diagnostic and a hole, and its neighbours decode all the same. References between parts are collected
//! on the way and resolved at the end against the names that the *tree* defines, so a connection whose definition has a
//! mistake inside is still a connection to whoever names it.
//!
//! The records, enums and texts of the manifest are declared once, by the macros of [`declare`]; each declaration makes
//! the type, its decoder and its JSON Schema, so the three cannot drift apart.

pub(crate) mod collection;
pub(crate) mod declare;
pub(crate) mod json;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod text;

use std::ops::Range;
use std::sync::Arc;

use oz0_diagnostic::{Check, Diagnostic, SourceFile, Span, did_you_mean};
use oz0_yaml::{Entry, Node, Value};

use crate::check::OZ_L001;
use reference::{Reference, Target};
use schema::Definitions;

/// What the manifest's values have in common: they are read from a node, and they say which nodes they are read from.
pub(crate) trait Decode: Sized {
    /// Reads a value; `None` when it could not, and then the context holds a diagnostic that says why.
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self>;
    /// The JSON Schema of exactly the nodes whose shape [`Decode::decode`] accepts.
    fn schema(definitions: &mut Definitions) -> serde_json::Value;
}

/// The most problems of one file that are told: more than anyone reads, and few enough that a megabyte of mistakes does
/// not become a gigabyte of messages.
const MOST: usize = 1000;

/// Where a decoder is, and what it has found so far.
pub(crate) struct Context<'a> {
    file: &'a Arc<SourceFile>,
    path: Vec<String>,
    /// For each step of `path`, the text that a diagnostic about the whole value underlines: its key.
    anchors: Vec<Range<usize>>,
    diagnostics: Vec<Diagnostic>,
    /// Problems beyond the first [`MOST`], which are only counted.
    more: usize,
    /// Whether some value had a shape that the schema does not accept.
    pub(crate) misshapen: bool,
    /// Whether some of the file is not in the tree, so that what seems to be missing may just not have been read.
    pub(crate) partial: bool,
    pub(crate) references: Vec<Reference>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(file: &'a Arc<SourceFile>) -> Self {
        Self {
            file,
            path: Vec::new(),
            anchors: Vec::new(),
            diagnostics: Vec::new(),
            more: 0,
            misshapen: false,
            partial: false,
            references: Vec::new(),
        }
    }

    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }

    /// The span of `part` inside a node's text, or of the whole node where quoting or escapes hide it.
    pub(crate) fn span_within(&self, node: &Node, part: &str) -> Span {
        let text = self.file.text().get(node.range.clone()).unwrap_or_default();
        match text.find(part) {
            Some(at) if !part.is_empty() => {
                let start = node.range.start + at;
                self.span(start..start + part.len())
            }
            _ => self.span(node.range.clone()),
        }
    }

    /// Runs `read` one step further down.
    pub(crate) fn within<T>(
        &mut self,
        step: String,
        anchor: Range<usize>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.path.push(step);
        self.anchors.push(anchor);
        let value = read(self);
        self.anchors.pop();
        self.path.pop();
        value
    }

    /// Runs `read` on the value of `entry`.
    pub(crate) fn within_entry<T>(
        &mut self,
        entry: &Entry,
        read: impl FnOnce(&mut Self, &Node) -> T,
    ) -> T {
        let name = entry.key.as_str().map_or_else(|| "?".to_owned(), brief);
        self.within(name, entry.key.range.clone(), |cx| read(cx, &entry.value))
    }

    /// The path of keys to here, as messages write it: `tools.team.mcp.command[0]`.
    pub(crate) fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            if !place.is_empty() && !step.starts_with('[') {
                place.push('.');
            }
            place.push_str(step);
        }
        place
    }

    /// [`Context::place`] in backticks, or what the file is when this is its top.
    pub(crate) fn subject(&self) -> String {
        if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.place()) }
    }

    fn anchor(&self) -> Span {
        match self.anchors.last() {
            Some(range) => self.span(range.clone()),
            None => Span::start_of(self.file),
        }
    }

    /// Records a problem of shape: one that the schema finds too.
    pub(crate) fn misshape(&mut self, diagnostic: Diagnostic) {
        self.misshapen = true;
        self.report(diagnostic);
    }

    /// Records a problem that no schema can see.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST {
            self.diagnostics.push(diagnostic);
        } else {
            self.more += 1;
        }
    }

    /// What was found, in file order.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        // Stable, so that what stands at one place stays in the order it was found.
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.range().start);
        if self.more > 0 {
            let end = self.file.text().len();
            let message = format!("{} more problems are not shown", self.more);
            diagnostics.push(
                Diagnostic::new(&OZ_L001, Span::new(self.file, end..end), message)
                    .help("correct some of those above, and look again"),
            );
        }
        diagnostics
    }

    /// Whether nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// `expected` is a noun phrase: "a mapping".
    pub(crate) fn mistyped(&mut self, node: &Node, expected: &str) {
        self.mistyped_with(node, expected, None);
    }

    /// As [`Context::mistyped`], with a hint that knows more than the types.
    pub(crate) fn mistyped_with(&mut self, node: &Node, expected: &str, hint: Option<String>) {
        let found = match &node.value {
            Value::Null => "is empty".to_owned(),
            Value::Bool(value) => format!("is the boolean {value}"),
            Value::Int(value) => format!("is the number {value}"),
            Value::BigInt(_) | Value::Float(_) => "is a number".to_owned(),
            Value::Sequence(_) => "is a list".to_owned(),
            _ => format!("is {}", node.kind()),
        };
        let message = format!("{} must be {expected}, but {found}", self.subject());
        let mut diagnostic = Diagnostic::new(&OZ_L001, self.span(node.range.clone()), message);
        let scalar = matches!(
            node.value,
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_)
        );
        let text = self.file.text().get(node.range.clone()).unwrap_or_default();
        if let Some(hint) = hint {
            diagnostic = diagnostic.help(hint);
        } else if scalar && expected.contains("string") {
            diagnostic = diagnostic.help(format!("write it in quotes: \"{}\"", brief(text)));
        } else if expected.contains("list") && matches!(node.value, Value::String(_)) {
            let words: Vec<&str> = text.split_whitespace().collect();
            diagnostic =
                diagnostic.help(format!("write it as a list: [{}]", brief(&words.join(", "))));
        }
        self.misshape(diagnostic);
    }

    /// A text that is not what it should be. `what` is a noun phrase: "a plugin's name".
    pub(crate) fn malformed(&mut self, node: &Node, check: &'static Check, what: &str, rule: &str) {
        let text = node.as_str().unwrap_or_default();
        let message = format!("{}: `{}` is not {what}", self.subject(), brief(text));
        let diagnostic = Diagnostic::new(check, self.span(node.range.clone()), message);
        self.misshape(diagnostic.help(rule));
    }

    /// Remembers that the value at `span` names another part.
    pub(crate) fn refer(&mut self, target: Target, span: Span) {
        let place = self.place();
        self.references.push(Reference { target, span, place });
    }
}

/// A constraint between the keys of one record, which the schema states as well.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Constraint {
    /// Exactly one of these keys is given.
    ExactlyOne(&'static [&'static str]),
    /// The first key is only given beside the second.
    OnlyWith(&'static str, &'static str),
}

/// The entries of a mapping that is being read as a record.
pub(crate) struct Record<'n> {
    entries: &'n [Entry],
    /// Known keys that unknown ones were probably meant to be: one mistake, which is told once.
    misspelt: Vec<&'static str>,
}

impl<'n> Record<'n> {
    /// Checks that `node` is a mapping with no other keys than `known` that keeps the `constraints`.
    pub(crate) fn open(
        node: &'n Node,
        cx: &mut Context<'_>,
        known: &[&'static str],
        constraints: &[Constraint],
    ) -> Option<Self> {
        let Value::Mapping(entries) = &node.value else {
            cx.mistyped(node, "a mapping");
            return None;
        };
        let mut record = Self { entries, misspelt: Vec::new() };
        for entry in entries {
            if !entry.key.as_str().is_some_and(|key| known.contains(&key)) {
                record.misspelt.extend(unknown_key(cx, entry, known));
            }
        }
        for constraint in constraints {
            record.keep(cx, *constraint);
        }
        Some(record)
    }

    /// Whether a key that is not there may have been meant to be.
    fn may_be_meant(&self, cx: &Context<'_>, key: &str) -> bool {
        cx.partial || self.misspelt.contains(&key)
    }

    fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key.as_str() == Some(key))
    }

    fn keep(&self, cx: &mut Context<'_>, constraint: Constraint) {
        match constraint {
            Constraint::ExactlyOne(keys) => {
                let given: Vec<&Entry> = keys.iter().filter_map(|key| self.entry(key)).collect();
                match given.as_slice() {
                    [_] => {}
                    [] if keys.iter().any(|key| self.may_be_meant(cx, key)) => {}
                    [] => {
                        let message =
                            format!("{} needs exactly one of {}", cx.subject(), listed(keys));
                        let help = "add one of them; `oz0 plugin schema` describes each";
                        cx.misshape(Diagnostic::new(&OZ_L001, cx.anchor(), message).help(help));
                    }
                    [first, others @ ..] => {
                        for other in others {
                            let key = other.key.as_str().unwrap_or_default();
                            let message = format!(
                                "{} has `{key}` beside `{}`, and takes exactly one of {}",
                                cx.subject(),
                                first.key.as_str().unwrap_or_default(),
                                listed(keys)
                            );
                            let span = cx.span(other.key.range.clone());
                            let first = cx.span(first.key.range.clone());
                            let diagnostic = Diagnostic::new(&OZ_L001, span, message)
                                .related(first, "the first of them")
                                .help("keep one of them");
                            cx.misshape(diagnostic);
                        }
                    }
                }
            }
            Constraint::OnlyWith(key, needed) => {
                if let Some(entry) = self.entry(key)
                    && self.entry(needed).is_none()
                    && !self.may_be_meant(cx, needed)
                {
                    let message =
                        format!("{} has `{key}`, which only goes with `{needed}`", cx.subject());
                    let span = cx.span(entry.key.range.clone());
                    let help = format!("remove `{key}`");
                    cx.misshape(Diagnostic::new(&OZ_L001, span, message).help(help));
                }
            }
        }
    }

    /// The value of a key that may be left out: `None` when it does not decode, `Some(None)` when it is not there.
    #[expect(clippy::option_option, reason = "a hole and an absent key are different answers")]
    pub(crate) fn optional<T: Decode>(
        &self,
        cx: &mut Context<'_>,
        key: &'static str,
    ) -> Option<Option<crate::Spanned<T>>> {
        let Some(entry) = self.entry(key) else { return Some(None) };
        cx.within_entry(entry, |cx, node| {
            let value = T::decode(node, cx)?;
            Some(Some(crate::Spanned { value, span: cx.span(node.range.clone()) }))
        })
    }

    /// The value of a key that must be there.
    pub(crate) fn required<T: Decode>(
        &self,
        cx: &mut Context<'_>,
        key: &'static str,
    ) -> Option<crate::Spanned<T>> {
        if self.entry(key).is_none() {
            if self.may_be_meant(cx, key) {
                return None;
            }
            let message = format!("{} lacks the key `{key}`", cx.subject());
            cx.misshape(
                Diagnostic::new(&OZ_L001, cx.anchor(), message)
                    .help(format!("add `{key}:`; `oz0 plugin schema` describes what goes there")),
            );
            return None;
        }
        self.optional(cx, key)?
    }

    /// The value of a collection's key; empty when the key is left out.
    pub(crate) fn many<T: Decode + Default>(
        &self,
        cx: &mut Context<'_>,
        key: &'static str,
    ) -> Option<T> {
        let Some(entry) = self.entry(key) else { return Some(T::default()) };
        cx.within_entry(entry, |cx, node| T::decode(node, cx))
    }
}

/// Reports an unknown key. Says which one was probably meant.
fn unknown_key(
    cx: &mut Context<'_>,
    entry: &Entry,
    known: &[&'static str],
) -> Option<&'static str> {
    let span = cx.span(entry.key.range.clone());
    let shown = entry.key.as_str().map_or_else(
        || format!("{} as a key", entry.key.kind()),
        |key| format!("unknown key `{}`", brief(key)),
    );
    let message = if cx.path.is_empty() { shown } else { format!("{shown} in `{}`", cx.place()) };
    let allowed = format!("allowed here: {}", known.join(", "));
    let near = entry.key.as_str().and_then(|key| nearest(key, known));
    let help = match near {
        Some(near) => format!("did you mean `{near}`? {allowed}"),
        None => allowed,
    };
    cx.misshape(Diagnostic::new(&OZ_L001, span, message).help(help));
    near
}

/// The nearest known word, unless `unknown` is so long that it is no misspelling of anything.
pub(crate) fn nearest<'k>(unknown: &str, known: &[&'k str]) -> Option<&'k str> {
    if unknown.len() > 128 {
        return None;
    }
    did_you_mean(unknown, known.iter().copied())
}

/// `a`, `b` and `c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => format!("`{word}`"),
        [words @ .., last] => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            format!("{} and `{last}`", words.join(", "))
        }
    }
}

/// A text short enough for a message: a manifest of a megabyte must not become a message of a megabyte, a thousand times.
pub(crate) fn brief(text: &str) -> String {
    const LONGEST: usize = 72;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
