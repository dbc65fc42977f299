//! SARIF 2.1.0, the format of code scanners.
//!
//! Columns count Unicode scalar values, which the run says (`columnKind`). A result's fingerprint is over what it says and
//! where in words, never over line numbers, so a finding stays the same one when lines are added above it.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::check::{Diagnostic, Fix, Safety};
use crate::escape;
use crate::source::{Position, SourceFile, Span};

/// The program that found something.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Where it is described.
    pub url: &'a str,
    /// What is known of its rules. A finding of none of them brings its own code and name.
    pub rules: &'a [DescribedRule],
}

/// What is known of a rule.
#[derive(Debug, Clone)]
pub struct DescribedRule {
    /// Its code.
    pub code: String,
    /// Its name, in words joined by `-`.
    pub name: String,
    /// What it finds, in one line.
    pub title: String,
    /// Its page, as Markdown.
    pub page: String,
    /// Where its page is read.
    pub url: String,
    /// Its plain level: `none`, `note`, `warning` or `error`.
    pub level: &'static str,
}

/// A log with one run. `base` stands before each path, with its `/`: where the files lie in the checkout. `notices` are what
/// the run could not look at, each in a line.
pub fn sarif(
    diagnostics: &[Diagnostic],
    base: &str,
    program: Program<'_>,
    notices: &[String],
) -> Value {
    let mut rules: Vec<Value> = program.rules.iter().map(described).collect();
    let mut indexes: HashMap<String, usize> =
        program.rules.iter().enumerate().map(|(index, rule)| (rule.code.clone(), index)).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut results = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let check = diagnostic.check;
        let index = *indexes.entry(check.code.to_owned()).or_insert_with(|| {
            rules.push(json!({ "id": check.code, "name": check.name }));
            rules.len() - 1
        });
        let key = fingerprint(diagnostic);
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        results.push(result(diagnostic, index, base, &format!("{key}:{count}")));
    }
    let notifications: Vec<Value> = notices
        .iter()
        .map(|notice| json!({ "level": "warning", "message": { "text": escape::line(notice) } }))
        .collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": program.name,
                "version": program.version,
                "informationUri": program.url,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

fn described(rule: &DescribedRule) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.title },
        "help": { "text": rule.page, "markdown": rule.page },
        "helpUri": rule.url,
        "defaultConfiguration": { "enabled": rule.level != "none", "level": rule.level },
    })
}

fn result(diagnostic: &Diagnostic, index: usize, base: &str, fingerprint: &str) -> Value {
    let mut text = escape::line(&diagnostic.message).into_owned();
    if let Some(help) = &diagnostic.help {
        text.push_str("\nhint: ");
        text.push_str(&escape::lines(help));
    }
    let related: Vec<Value> = diagnostic
        .related
        .iter()
        .map(|related| {
            let mut location = location(&related.span, base);
            location["message"] = json!({ "text": escape::line(&related.message) });
            location
        })
        .collect();
    let mut result = json!({
        "ruleId": diagnostic.check.code,
        "ruleIndex": index,
        "level": diagnostic.level.name(),
        "message": { "text": text },
        "locations": [location(&diagnostic.span, base)],
        "relatedLocations": related,
        "partialFingerprints": { "oz0/v1": fingerprint },
    });
    let safe = diagnostic.fix.as_ref().filter(|fix| fix.safety == Safety::Safe);
    if let Some(fix) = safe {
        result["fixes"] = json!([fixed(fix, base)]);
    }
    result
}

fn location(span: &Span, base: &str) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": artifact(span.file(), base),
        "region": region(span.start(), span.end()),
    } })
}

fn artifact(file: &SourceFile, base: &str) -> Value {
    json!({ "uri": uri(&format!("{base}{}", file.path())) })
}

fn region(start: Position, end: Position) -> Value {
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn fixed(fix: &Fix, base: &str) -> Value {
    let changes: Vec<Value> = fix
        .edits
        .iter()
        .map(|edit| {
            let (start, end) =
                (edit.file.position(edit.range.start), edit.file.position(edit.range.end));
            json!({
                "artifactLocation": artifact(&edit.file, base),
                "replacements": [{
                    "deletedRegion": region(start, end),
                    "insertedContent": { "text": edit.replacement },
                }],
            })
        })
        .collect();
    json!({ "description": { "text": escape::line(&fix.title) }, "artifactChanges": changes })
}

/// A path as a relative URI: everything but unreserved characters and `/` in percent.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;

    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// What makes two findings the same one: code, file, the words that are marked, and what is said of them.
fn fingerprint(diagnostic: &Diagnostic) -> String {
    use std::fmt::Write as _;

    let mut hash = Sha256::new();
    let parts = [
        diagnostic.check.code,
        diagnostic.span.file().path(),
        diagnostic.span.text(),
        &diagnostic.message,
    ];
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut text = String::new();
    for byte in &hash.finalize()[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
