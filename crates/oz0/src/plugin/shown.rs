//! How listings are shown to people, the same in every command.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use oz0_listing::diff::{self, Difference, Label};
use oz0_listing::json::Json;
use oz0_listing::{Function, Pointer, escape};
use oz0_plugin::manifest::Override;
use oz0_plugin::{LISTING, Spanned};

/// A function in a line: its ID and what it does by its hints; and what of it nobody sees.
pub(crate) fn function_line(text: &mut String, function: &Function) {
    let _ = writeln!(text, "  {}  {}", function.id, hints(function, None));
    for hidden in hidden(function) {
        let _ = writeln!(text, "    \u{1b}[1;33mhidden characters\u{1b}[0m: {hidden}");
    }
    if let Some(reason) = &function.uncallable {
        let _ = writeln!(text, "    its calls are refused: {}", escape::line(reason));
    }
}

/// A function in full: what it does by its hints, every word of its description, each parameter, its hash. The manifest's
/// `overrides:` of it stand in the hints, each marked: a call is decided by both, and the server says only its own.
pub(crate) fn function(text: &mut String, function: &Function, over: Option<&Override>) {
    let listing = function.listing.value();
    let said = hints(function, over);
    let _ = writeln!(text, "\n  \u{1b}[1m{}\u{1b}[0m  {said}", function.id);
    let description =
        listing.get("description").and_then(Json::as_str).unwrap_or("says nothing of itself");
    paragraph(text, description);
    for (name, schema) in listing.get("inputSchema").map(properties).unwrap_or_default() {
        let required = is_required(listing.get("inputSchema"), name);
        let _ = write!(text, "      {}  {}", escape::line(name), kind(schema));
        let _ = writeln!(text, "{}", if required { ", required" } else { "" });
        if let Some(description) = schema.get("description").and_then(Json::as_str) {
            for line in description.lines() {
                let _ = writeln!(text, "        {}", escape::line(line));
            }
        }
    }
    for hidden in hidden(function) {
        let _ = writeln!(text, "    \u{1b}[1;33mhidden characters\u{1b}[0m: {hidden}");
    }
    if let Some(reason) = &function.uncallable {
        let _ = writeln!(text, "    its calls are refused: {}", escape::line(reason));
    }
    for pointer in &function.unstable {
        let _ = writeln!(text, "    not pinned: {}", escape::line(&pointer.to_string()));
    }
    let _ = writeln!(text, "    {}", function.hash);
}

fn paragraph(text: &mut String, words: &str) {
    for line in words.lines() {
        let _ = writeln!(text, "    {}", escape::line(line));
    }
}

fn properties(schema: &Json) -> Vec<(&str, &Json)> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.map(|all| all.iter().collect()).unwrap_or_default()
}

fn is_required(schema: Option<&Json>, name: &str) -> bool {
    let required = schema.and_then(|schema| schema.get("required")).and_then(Json::as_array);
    required.is_some_and(|names| names.iter().any(|item| item.as_str() == Some(name)))
}

/// What a parameter takes, in a word: its type, its values, or its schema where it says neither.
fn kind(schema: &Json) -> String {
    let text = if let Some(values) = schema.get("enum") {
        format!("one of {}", values.canonical())
    } else {
        match schema.get("type") {
            Some(Json::String(name)) => name.clone(),
            Some(other) => other.canonical(),
            None => schema.canonical(),
        }
    };
    escape::line_within(&text, 120).into_owned()
}

/// The places of a listing that hold written-out characters, each with them: `U+200B in /description`.
///
/// A listing cannot tell a character that was written out from a text of the same signs; both are worth a look.
pub(crate) fn hidden(function: &Function) -> Vec<String> {
    let mut found = Vec::new();
    search(function.listing.value(), &Pointer::of(Vec::<String>::new()), &mut found);
    found
}

fn search(value: &Json, at: &Pointer, found: &mut Vec<String>) {
    let note = |text: &str, what: &str| {
        let characters: BTreeSet<char> = escape::written_out(text).collect();
        let names: Vec<String> =
            characters.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        let place = escape::line(&at.to_string()).into_owned();
        (!names.is_empty()).then(|| format!("{} in {what}{place}", names.join(", ")))
    };
    match value {
        Json::String(text) => found.extend(note(text, "")),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &at.child(index.to_string()), found);
            }
        }
        Json::Object(members) => {
            for (name, member) in members.iter() {
                found.extend(note(name, "a name at "));
                search(member, &at.child(name), found);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// A hint about a function, and whether the manifest says it in its server's place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hint {
    /// MCP's name of it.
    pub(crate) name: &'static str,
    pub(crate) value: bool,
    pub(crate) overridden: bool,
}

/// The hints in force: the listing's, each replaced by the manifest's where that says it.
pub(crate) fn merged(function: &Function, over: Option<&Override>) -> Vec<Hint> {
    let over = over.and_then(|over| over.annotations.as_ref());
    let annotations = function.listing.value().get("annotations");
    let of = |name, over: Option<&Spanned<bool>>| {
        let listed = annotations.and_then(|all| all.get(name)).and_then(Json::as_bool);
        let over = over.map(|hint| hint.value);
        Some(Hint { name, value: over.or(listed)?, overridden: over.is_some() })
    };
    let hints = [
        of("readOnlyHint", over.and_then(|over| over.read_only.as_ref())),
        of("destructiveHint", over.and_then(|over| over.destructive.as_ref())),
        of("idempotentHint", over.and_then(|over| over.idempotent.as_ref())),
        of("openWorldHint", over.and_then(|over| over.open_world.as_ref())),
    ];
    hints.into_iter().flatten().collect()
}

/// The hints in force, in a few words.
fn hints(function: &Function, over: Option<&Override>) -> String {
    let hints = merged(function, over);
    let reads = hints.iter().any(|hint| hint.name == "readOnlyHint" && hint.value);
    let words = hints.iter().filter_map(|hint| {
        let word = match (hint.name, hint.value) {
            ("readOnlyHint", true) => "read-only",
            ("readOnlyHint", false) => "writes",
            ("destructiveHint", true) => "destructive",
            ("destructiveHint", false) if !reads || hint.overridden => "not destructive",
            ("idempotentHint", true) => "idempotent",
            ("idempotentHint", false) if hint.overridden => "not idempotent",
            ("openWorldHint", true) => "open world",
            ("openWorldHint", false) => "closed world",
            _ => return None,
        };
        let by = if hint.overridden { " (by overrides)" } else { "" };
        Some(format!("{word}{by}"))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "says no hints".to_owned() } else { words.join(", ") }
}

/// What differs, as words: each place with its text, removed words in `[-…-]` and added ones in `{+…+}`. Of a function that
/// is new or gone, its description alone: `inspect` shows the rest.
pub(crate) fn difference(difference: &Difference, color: bool) -> String {
    let mut text = String::new();
    let whole = difference.labels.iter().any(|label| matches!(label, Label::New | Label::Gone));
    for change in &difference.texts {
        if whole {
            let listing = change.new.as_deref().or(change.old.as_deref()).unwrap_or_default();
            let listing = oz0_listing::json::parse(listing).ok();
            let description =
                listing.as_ref().and_then(|all| all.get("description")).and_then(Json::as_str);
            for line in description.unwrap_or("says nothing of itself").lines() {
                let _ = writeln!(text, "  {}", escape::line(line));
            }
            continue;
        }
        let _ = writeln!(text, "  {}", escape::line(&change.pointer.to_string()));
        let words = diff::words(
            change.old.as_deref().unwrap_or_default(),
            change.new.as_deref().unwrap_or_default(),
        );
        let shown = if color { words.ansi() } else { words.plain() };
        for line in shown.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// What became of a function since the listing was written, in a line that follows its ID.
pub(crate) fn headline(difference: &Difference) -> String {
    match difference.labels.first() {
        Some(Label::New) => format!("is new since {LISTING} was written"),
        Some(Label::Gone) => format!("is gone since {LISTING} was written"),
        _ => {
            let labels: Vec<String> = difference.labels.iter().map(ToString::to_string).collect();
            format!("lists itself differently than in {LISTING}: {}", labels.join(", "))
        }
    }
}
