//! What changed between two listings of one function, in words for the person who decides.
//!
//! A label never approves anything: it says where to look. So where this module cannot tell, it
//! says the more alarming thing: a parameter is *widened* or *narrowed* only where that can be
//! shown, else *changed*, and a change is *notation only* only where the two forms mean the same by
//! rules that are listed in [`Notation`].

mod accept;
mod layout;
mod notation;
mod parameters;
mod passage;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use accept::Extent;
pub use layout::Layout;
pub use notation::Notation;
pub use passage::{Passage, members, passages};
pub use words::{Piece, PieceKind, WordDiff, words};

use crate::json::Json;
use crate::schema::SCHEMAS;
use crate::{Listing, Pointer, escape};

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// What it amounts to, most telling first.
    pub labels: Vec<Label>,
    /// Every place that changed, as text to compare ([`words`]).
    pub texts: Vec<TextChange>,
    /// Every place that changed: the smallest values that differ, each member or item of its own;
    /// of an array whose length changed, the array.
    pub pointers: Vec<Pointer>,
}

/// One place that changed. A string stands as it is, another value as its JSON; where a string became another value, or the
/// other way round, both stand as JSON, or `"5"` and `5` would look alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// Where.
    pub pointer: Pointer,
    /// What stood there; none if nothing did.
    pub old: Option<String>,
    /// What stands there; none if nothing does.
    pub new: Option<String>,
}

/// What a change amounts to. [`fmt::Display`] says it in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Label {
    /// The function was not listed before.
    New,
    /// The function is not listed any more.
    Gone,
    /// Characters that nobody sees were added, as their escapes show: each once.
    HiddenCharacters(Vec<char>),
    /// The function's name.
    Name,
    /// The function's description.
    Description,
    /// The function's title, in the member of its own or in the annotations.
    Title,
    /// One parameter.
    Parameter {
        /// Its name.
        name: String,
        /// What happened to it.
        change: ParameterChange,
    },
    /// The input schema outside its single parameters.
    Parameters(SchemaChange),
    /// The output schema.
    Output(SchemaChange),
    /// A hint of the annotations. A hint that is absent counts as its default.
    Hint {
        /// Its name.
        hint: &'static str,
        /// What it was, where it was given.
        old: Option<bool>,
        /// What it is, where it is given.
        new: Option<bool>,
        /// What it counts as when absent.
        default: bool,
    },
    /// Another member of the annotations, by name.
    Annotation(String),
    /// Schemas are written in another way and mean the same.
    Notation(Vec<Notation>),
}

/// What happened to one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterChange {
    /// It is new.
    Added {
        /// Calls without it are refused.
        required: bool,
    },
    /// It is gone.
    Removed,
    /// What it accepts.
    Accepts(Extent),
    /// Its default.
    Default,
    /// Its description, or another text that only describes it.
    Description,
}

/// What happened to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaChange {
    /// There was none.
    Added,
    /// There is none any more.
    Removed,
    /// What it accepts.
    Accepts(Extent),
    /// Only texts that describe.
    Description,
}

impl Label {
    /// Whether it stands for another way to write the same.
    pub fn is_notation(&self) -> bool {
        match self {
            Self::Notation(_) => true,
            Self::Hint { old, new, default, .. } => {
                old.unwrap_or(*default) == new.unwrap_or(*default)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Gone => f.write_str("gone"),
            Self::HiddenCharacters(characters) => {
                f.write_str("hidden characters:")?;
                // Hidden text is a run of them; a few say enough.
                for c in characters.iter().take(8) {
                    write!(f, " U+{:04X}", u32::from(*c))?;
                }
                match characters.len().checked_sub(8) {
                    None | Some(0) => Ok(()),
                    Some(more) => write!(f, " and {more} more"),
                }
            }
            Self::Name => f.write_str("name"),
            Self::Description => f.write_str("description"),
            Self::Title => f.write_str("title"),
            Self::Parameter { name, change } => {
                let name = escape::line_within(name, 64);
                match change {
                    ParameterChange::Added { required: false } => {
                        write!(f, "parameters: added {name}")
                    }
                    ParameterChange::Added { required: true } => {
                        write!(f, "parameters: added {name} (required)")
                    }
                    ParameterChange::Removed => write!(f, "parameters: removed {name}"),
                    ParameterChange::Accepts(extent) => write!(f, "parameters: {extent} {name}"),
                    ParameterChange::Default => write!(f, "parameters: default of {name}"),
                    ParameterChange::Description => {
                        write!(f, "parameters: description of {name}")
                    }
                }
            }
            Self::Parameters(change) => write!(f, "parameters: {change}"),
            Self::Output(change) => write!(f, "output: {change}"),
            Self::Hint { hint, old, new, default } if self.is_notation() => match (old, new) {
                (Some(_), None) => write!(f, "annotations: left out a default: {hint} {default}"),
                _ => write!(f, "annotations: spelled out a default: {hint} {default}"),
            },
            Self::Hint { hint, old, new, default } => {
                let side = |f: &mut fmt::Formatter<'_>, value: &Option<bool>| match value {
                    Some(value) => write!(f, "{value}"),
                    None => write!(f, "{default} (by default)"),
                };
                write!(f, "annotations: {hint} ")?;
                side(f, old)?;
                f.write_str(" -> ")?;
                side(f, new)
            }
            Self::Annotation(name) => {
                write!(f, "annotations: {}", escape::line_within(name, 64))
            }
            Self::Notation(kinds) => {
                f.write_str("notation only: ")?;
                for (at, kind) in kinds.iter().enumerate() {
                    write!(f, "{}{kind}", if at == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added => f.write_str("added"),
            Self::Removed => f.write_str("removed"),
            Self::Accepts(extent) => fmt::Display::fmt(extent, f),
            Self::Description => f.write_str("description"),
        }
    }
}

/// The hints of MCP's `ToolAnnotations` with what each counts as when absent (MCP 2025-03-26 and
/// later, schema.ts).
const HINTS: [(&str, bool); 4] = [
    ("readOnlyHint", false),
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
];

/// What changed from `old` to `new`.
pub fn compare(old: &Listing, new: &Listing) -> Difference {
    let mut difference = Difference::default();
    moved(Some(old.value()), Some(new.value()), &mut Vec::new(), &mut difference);
    if difference.pointers.is_empty() {
        return difference;
    }
    let labels = &mut difference.labels;
    labels.extend(hidden_characters(Some(old), new));
    let (old, new) = (old.value(), new.value());
    for (member, label) in
        [("name", Label::Name), ("description", Label::Description), ("title", Label::Title)]
    {
        if old.get(member) != new.get(member) {
            labels.push(label);
        }
    }
    let mut steps = accept::STEPS;
    parameters::label_input(old.get("inputSchema"), new.get("inputSchema"), &mut steps, labels);
    parameters::label_output(old.get("outputSchema"), new.get("outputSchema"), &mut steps, labels);
    label_annotations(old.get("annotations"), new.get("annotations"), labels);
    let notation: Vec<_> = SCHEMAS
        .iter()
        .filter_map(|member| Some((old.get(member)?, new.get(member)?)))
        .flat_map(|(old, new)| notation::between(old, new))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if !notation.is_empty() {
        labels.push(Label::Notation(notation));
    }
    difference
}

/// The change of a function that was not listed before.
pub fn appeared(new: &Listing) -> Difference {
    let mut difference = Difference { labels: vec![Label::New], ..Difference::default() };
    difference.labels.extend(hidden_characters(None, new));
    moved(None, Some(new.value()), &mut Vec::new(), &mut difference);
    difference
}

/// The change of a function that is not listed any more.
pub fn vanished(old: &Listing) -> Difference {
    let mut difference = Difference { labels: vec![Label::Gone], ..Difference::default() };
    moved(Some(old.value()), None, &mut Vec::new(), &mut difference);
    difference
}

fn hidden_characters(old: Option<&Listing>, new: &Listing) -> Option<Label> {
    fn count(value: &Json, by: &mut dyn FnMut(char)) {
        match value {
            Json::String(text) => escape::written_out(text).for_each(by),
            Json::Array(items) => items.iter().for_each(|item| count(item, by)),
            Json::Object(members) => members.iter().for_each(|(name, value)| {
                escape::written_out(name).for_each(&mut *by);
                count(value, by);
            }),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut balance: BTreeMap<char, i64> = BTreeMap::new();
    count(new.value(), &mut |c| *balance.entry(c).or_default() += 1);
    if let Some(old) = old {
        count(old.value(), &mut |c| *balance.entry(c).or_default() -= 1);
    }
    let more: Vec<_> = balance.into_iter().filter(|&(_, n)| n > 0).map(|(c, _)| c).collect();
    (!more.is_empty()).then_some(Label::HiddenCharacters(more))
}

fn label_annotations(old: Option<&Json>, new: Option<&Json>, labels: &mut Vec<Label>) {
    let empty = Json::Object(crate::json::Object::default());
    let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
    if old == new {
        return;
    }
    let names: BTreeSet<_> = [old, new]
        .into_iter()
        .filter_map(Json::as_object)
        .flat_map(crate::json::Object::names)
        .collect();
    let mut any = false;
    for name in names {
        let (old, new) = (old.get(name), new.get(name));
        if old == new {
            continue;
        }
        any = true;
        let hint = HINTS.iter().find(|(hint, _)| *hint == name);
        let is_hint = |value: Option<&Json>| value.is_none_or(|value| value.as_bool().is_some());
        labels.push(match hint {
            Some(&(hint, default)) if is_hint(old) && is_hint(new) => Label::Hint {
                hint,
                old: old.and_then(Json::as_bool),
                new: new.and_then(Json::as_bool),
                default,
            },
            _ if name == "title" => Label::Title,
            _ => Label::Annotation(name.to_owned()),
        });
    }
    if !any {
        // Not an object on one side, so no member tells the difference.
        labels.push(Label::Annotation(old.kind().to_owned()));
    }
    labels.dedup();
}

fn moved(
    old: Option<&Json>,
    new: Option<&Json>,
    at: &mut Vec<String>,
    difference: &mut Difference,
) {
    match (old, new) {
        (Some(old), Some(new)) if old == new => {}
        (Some(Json::Object(old)), Some(Json::Object(new))) => {
            let gone = old.names().filter(|name| new.get(name).is_none());
            let names: BTreeSet<&str> = new.names().chain(gone).collect();
            for name in names {
                at.push(name.to_owned());
                moved(old.get(name), new.get(name), at, difference);
                at.pop();
            }
        }
        (Some(Json::Array(old)), Some(Json::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                at.push(index.to_string());
                moved(Some(old), Some(new), at, difference);
                at.pop();
            }
        }
        (old, new) => {
            let pointer = Pointer::of(at.iter().cloned());
            let is_text = |value: Option<&Json>| value.is_none_or(|value| value.as_str().is_some());
            let text = if is_text(old) && is_text(new) { as_text } else { Json::pretty };
            difference.texts.push(TextChange {
                pointer: pointer.clone(),
                old: old.map(text),
                new: new.map(text),
            });
            difference.pointers.push(pointer);
        }
    }
}

fn as_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.pretty(),
    }
}
