//! Turns what the looks saw into findings with their place in the manifest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use oz0_diagnostic::{Diagnostic, Span};
use oz0_listing::{LeftOut, PluginListing, Pointer, ToolId, ToolListing, escape, unstable};
use oz0_plugin::Spanned;
use oz0_plugin::manifest::Tool;

use crate::cause::{Cause, Traces, likely};
use crate::checks;
use crate::compare::{Movement, Part};

/// How many places of one function a message names.
const PLACES: usize = 5;
/// How much of a value a message shows, in characters.
const VALUE: usize = 48;
/// How much of that is from before the place where two values part.
const BEFORE: usize = 16;

/// Functions that differ from one start to the next.
pub(crate) fn unstable_functions(
    tool: &ToolId,
    span: &Span,
    moved: &BTreeMap<String, Movement>,
    traces: &Traces,
) -> Vec<Diagnostic> {
    let finding = |(name, movement): (&String, &Movement)| {
        let message = format!(
            "{tool}.{name} lists itself differently from one start to the next: {}",
            told(movement, traces)
        );
        Diagnostic::new(&checks::UNSTABLE_LISTING, span.clone(), message)
            .help(remedy(name, movement))
    };
    moved.iter().map(finding).collect()
}

/// Functions that differ in other surroundings only.
pub(crate) fn bound_functions(
    tool: &ToolId,
    span: &Span,
    moved: &BTreeMap<String, Movement>,
    traces: &Traces,
) -> Vec<Diagnostic> {
    let finding = |(name, movement): (&String, &Movement)| {
        let message =
            format!("{tool}.{name} is bound to its surroundings: {}", told(movement, traces));
        Diagnostic::new(&checks::BOUND_TO_SURROUNDINGS, span.clone(), message).help(
            "every node gives it the same surroundings as this listing was measured in, so it holds; \
             a server that lists the same everywhere is easier to trust",
        )
    };
    moved.iter().map(finding).collect()
}

fn told(movement: &Movement, traces: &Traces) -> String {
    match movement {
        Movement::OnlyFirst => "it is gone at a later look".to_owned(),
        Movement::OnlyLater => "it appears at a later look only".to_owned(),
        Movement::LeftOut { first, later } => {
            let say = |reason: &Option<String>| match reason {
                Some(reason) => format!("left out ({reason})"),
                None => "not left out".to_owned(),
            };
            format!("{} at one look, {} at another", say(first), say(later))
        }
        Movement::Moved(parts) => {
            let mut text = String::new();
            for part in parts.iter().take(PLACES) {
                if !text.is_empty() {
                    text.push_str("; ");
                }
                let (first, later) = values(part.first.as_deref(), part.later.as_deref());
                let pointer = part.pointer.to_string();
                let _ = write!(text, "{} is {first}, then {later}", escape::line(&pointer));
                let cause = likely(part, traces);
                if cause != Cause::Unknown {
                    let _ = write!(text, " (likely {cause})");
                }
            }
            if parts.len() > PLACES {
                let _ = write!(text, "; and {} more places", parts.len() - PLACES);
            }
            text
        }
    }
}

/// Both values, from shortly before the place where they part.
fn values(first: Option<&str>, later: Option<&str>) -> (String, String) {
    let same = match (first, later) {
        (Some(first), Some(later)) => {
            first.chars().zip(later.chars()).take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    };
    let skipped = same.saturating_sub(BEFORE);
    let show = |text: Option<&str>| match text {
        None => "absent".to_owned(),
        Some(text) => {
            let rest: String = text.chars().skip(skipped).collect();
            let before = if skipped > 0 { "…" } else { "" };
            format!("`{before}{}`", escape::line_within(&rest, VALUE))
        }
    };
    (show(first), show(later))
}

/// What the author can do: cut what may be cut, else make it the same.
fn remedy(name: &str, movement: &Movement) -> String {
    let fixed = "make it the same at every start: it could never be approved for longer than one";
    let Movement::Moved(parts) = movement else { return fixed.to_owned() };
    let mut pointers: Vec<String> = Vec::new();
    for Part { pointer, .. } in parts {
        match unstable::nearest(pointer) {
            Some(pointer) => pointers.push(pointer.to_string()),
            // One place that may not be cut is enough: declaring the others would not help.
            None => return fixed.to_owned(),
        }
    }
    pointers.sort();
    pointers.dedup();
    format!(
        "make it the same at every start, or declare it under the tool: unstable: {{{name}: [{}]}}",
        pointers.join(", ")
    )
}

/// What one look shows to be wrong by itself.
pub(crate) fn of_listing(
    key: &Spanned<ToolId>,
    tool: &Tool,
    listing: &ToolListing,
    unused: &[(String, Pointer)],
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for function in &listing.functions {
        if let Some(reason) = &function.uncallable {
            let message =
                format!("{} is listed, but its calls will be refused: {reason}", function.id);
            findings.push(
                Diagnostic::new(&checks::UNCALLABLE, key.span.clone(), message)
                    .help("take the character out of the schema: its escaped form is not what the server accepts"),
            );
        }
    }
    findings.extend(unknown_functions(key, tool, listing));
    for (name, pointer) in unused {
        let message = format!("`unstable` cuts nothing at {pointer} of the function `{name}`");
        let span = tool
            .unstable
            .iter()
            .find(|(function, _)| function.as_str() == name)
            .map_or_else(|| key.span.clone(), |(function, _)| function.span.clone());
        findings.push(
            Diagnostic::new(&checks::UNUSED_POINTER, span, message)
                .help("take the pointer out, or correct it: nothing stands there"),
        );
    }
    findings
}

/// What the manifest says of functions that the server does not list.
fn unknown_functions(key: &Spanned<ToolId>, tool: &Tool, listing: &ToolListing) -> Vec<Diagnostic> {
    let listed =
        |name: &str| listing.functions.iter().any(|function| function.id.function() == name);
    let left_out = |name: &str| listing.left_out.iter().any(|entry| entry.name == name);
    let names: Vec<&str> =
        listing.functions.iter().map(|function| function.id.function()).collect();

    let required =
        tool.requires_approval.iter().map(|name| ("requires_approval", name.as_str(), &name.span));
    let overridden =
        tool.overrides.iter().map(|(name, _)| ("overrides", name.as_str(), &name.span));
    let declared = tool.unstable.iter().map(|(name, _)| ("unstable", name.as_str(), &name.span));
    required
        .chain(overridden)
        .chain(declared)
        .filter(|(_, name, _)| !listed(name) && !left_out(name))
        .map(|(member, name, span)| {
            let message = format!(
                "`{member}` names the function `{name}`, which the server of `{}` does not list",
                key.value
            );
            let help = match oz0_diagnostic::did_you_mean(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "the server lists no function".to_owned(),
                None => format!("it lists {}", names.join(", ")),
            };
            Diagnostic::new(&checks::UNKNOWN_FUNCTION, span.clone(), message).help(help)
        })
        .collect()
}

/// Functions that the plugin's listing does not have.
pub(crate) fn left_out(
    span_of: &dyn Fn(&ToolId) -> Option<Span>,
    listing: &PluginListing,
) -> Vec<Diagnostic> {
    let finding = |entry: &LeftOut| {
        let span = span_of(&entry.tool)?;
        let name = if entry.name.is_empty() { "a function without a name" } else { &entry.name };
        let message = format!("{name} is left out and will never be called: {}", entry.reason);
        Some(
            Diagnostic::new(&checks::LEFT_OUT, span, message)
                .help("nodes leave it out as well; mend how the server lists it, and test again"),
        )
    };
    listing.left_out.iter().filter_map(finding).collect()
}
