//! How listings are shown to people, the same in every command.

use std::fmt::Write as _;

use oz0_listing::diff::{self, Difference};
use oz0_listing::json::Json;
use oz0_listing::{Function, escape};

/// The hints that a listing states, in a few words.
pub(crate) fn hints(function: &Function) -> String {
    let annotations = function.listing.value().get("annotations");
    let hint = |name: &str| annotations.and_then(|all| all.get(name)).and_then(Json::as_bool);
    let mut words = Vec::new();
    match hint("readOnlyHint") {
        Some(true) => words.push("read-only"),
        Some(false) => words.push("writes"),
        None => {}
    }
    match hint("destructiveHint") {
        Some(true) => words.push("destructive"),
        Some(false) if hint("readOnlyHint") != Some(true) => words.push("not destructive"),
        _ => {}
    }
    if hint("idempotentHint") == Some(true) {
        words.push("idempotent");
    }
    match hint("openWorldHint") {
        Some(true) => words.push("open world"),
        Some(false) => words.push("closed world"),
        None => {}
    }
    if words.is_empty() { "says no hints".to_owned() } else { words.join(", ") }
}

/// The first line of a function's description, at most `limit` characters.
pub(crate) fn description(function: &Function, limit: usize) -> String {
    let text =
        function.listing.value().get("description").and_then(Json::as_str).unwrap_or_default();
    escape::line_within(text.trim_start().lines().next().unwrap_or_default(), limit).into_owned()
}

/// What differs, as words: each place with its text, removed words in `[-…-]` and added ones in `{+…+}`.
pub(crate) fn difference(difference: &Difference, color: bool) -> String {
    let mut text = String::new();
    for change in &difference.texts {
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

/// The labels of a difference, comma by comma.
pub(crate) fn labels(difference: &Difference) -> String {
    difference.labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
