//! The reporters. All of them list the same findings in the order in which they were handed in.

mod github;
mod pretty;
mod sarif;
mod view;

use serde_json::{Value, json};

use crate::check::{Diagnostic, Safety};
use crate::escape;
use crate::source::Span;

pub use github::github;
pub use pretty::{Color, pretty};
pub use sarif::{DescribedRule, Program, sarif};

/// One line a finding: `path:line:column: error[CODE] message`. Hidden characters of path and message
/// are shown as escapes.
pub fn concise(diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let line = format!(
            "{}:{}: {}[{}] {}\n",
            escape::line(diagnostic.span.file().path()),
            diagnostic.span.start(),
            diagnostic.level.name(),
            diagnostic.check.code,
            escape::line(&diagnostic.message),
        );
        out.push_str(&line);
    }
    out
}

/// A finding as an object of `oz0.lint.v1`.
///
/// `warning` says whether it is a warning at the plain level, `level` which level is in force, `fix`
/// what to do, and `fixable` whether a safe fix is known. Lines and columns are from 1, columns count
/// Unicode scalar values, and the end is the place behind the last character.
///
/// The texts stand as they are, invisible characters and all: a program that compares them must see what
/// the plugin holds. Whoever prints the object for people writes those characters as JSON's own escapes.
pub fn problem_json(diagnostic: &Diagnostic) -> Value {
    let safe = diagnostic.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe);
    let related: Vec<Value> = diagnostic
        .related
        .iter()
        .map(|related| {
            let mut place = place(&related.span);
            place["message"] = json!(related.message);
            place
        })
        .collect();
    let mut problem = place(&diagnostic.span);
    problem["code"] = json!(diagnostic.check.code);
    problem["name"] = json!(diagnostic.check.name);
    problem["warning"] = json!(diagnostic.check.level == crate::Level::Warning);
    problem["strict"] = json!(diagnostic.strict);
    problem["level"] = json!(diagnostic.level.name());
    problem["message"] = json!(diagnostic.message);
    problem["fix"] = json!(diagnostic.help);
    problem["fixable"] = json!(safe);
    problem["related"] = json!(related);
    problem["url"] = json!(diagnostic.url);
    problem
}

fn place(span: &Span) -> Value {
    let (start, end) = (span.start(), span.end());
    json!({
        "file": span.file().path(),
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    })
}
