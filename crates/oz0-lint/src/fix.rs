//! Applying the safe fixes of a report, and showing what they change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, Edit, Fix, Safety, SourceFile, Span};
use oz0_listing::escape;
use oz0_plugin::{LoadError, Plugin, replace_atomically};

use crate::report::Report;
use crate::run::{Request, lint};

/// A file with its safe fixes made.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fixed {
    /// The file as it was.
    pub source: Arc<SourceFile>,
    /// Its text with the fixes.
    pub text: String,
    /// How many fixes were made. One that would change what another changes waits for the next run.
    pub fixes: usize,
}

/// Makes the safe fixes of some findings, file by file. Everything that no fix is about stays byte for byte.
pub fn fixes(problems: &[Diagnostic]) -> Vec<Fixed> {
    let mut files: BTreeMap<&str, (&Arc<SourceFile>, Vec<&Fix>)> = BTreeMap::new();
    for fix in problems.iter().filter_map(|problem| problem.fix.as_ref()) {
        let Some(first) = fix.edits.first() else { continue };
        let one_file = fix.edits.iter().all(|edit| edit.file.path() == first.file.path());
        if fix.safety == Safety::Safe && one_file {
            files.entry(first.file.path()).or_insert((&first.file, Vec::new())).1.push(fix);
        }
    }
    let fixed = files.into_values().filter_map(|(source, fixes)| {
        let mut taken: Vec<&Edit> = Vec::new();
        let mut made = 0;
        for fix in fixes {
            let apart = fix.edits.iter().all(|edit| taken.iter().all(|other| apart(edit, other)));
            if apart {
                taken.extend(&fix.edits);
                made += 1;
            }
        }
        taken.sort_by_key(|edit| edit.range.start);
        let splices: Vec<_> =
            taken.iter().map(|edit| (edit.range.clone(), edit.replacement.clone())).collect();
        let text = oz0_yaml::edit::splice(source.text(), &splices).ok()?;
        Some(Fixed { source: Arc::clone(source), text, fixes: made })
    });
    fixed.collect()
}

/// Whether two edits leave each other alone. Two insertions at one place do not: their order would be a guess.
fn apart(left: &Edit, right: &Edit) -> bool {
    left.range.end < right.range.start || right.range.end < left.range.start
}

/// A safe fix that writes `plugin/` before the bare name at `span`; `None` where the text there is not the bare name itself,
/// such as an alias.
pub(crate) fn qualify(span: &Span, name: &str, plugin: &str) -> Option<Fix> {
    let text = span.text();
    let inner = match text.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => text[1..].strip_suffix(char::from(*quote))?,
        _ => text,
    };
    if inner != name {
        return None;
    }
    let at = span.range().start + usize::from(inner.len() != text.len());
    let edit =
        Edit { file: Arc::clone(span.file()), range: at..at, replacement: format!("{plugin}/") };
    Some(Fix { title: format!("write `{plugin}/{name}`"), safety: Safety::Safe, edits: vec![edit] })
}

/// What the fixes change, as a unified diff that `patch -p1` takes. Characters that nobody sees are written out.
pub fn diff(fixed: &[Fixed]) -> String {
    let mut out = String::new();
    for file in fixed {
        let path = escape::line(file.source.path());
        let lines = similar::TextDiff::from_lines(file.source.text(), file.text.as_str());
        let _ = write!(out, "--- a/{path}\n+++ b/{path}\n");
        for hunk in lines.unified_diff().context_radius(3).iter_hunks() {
            let _ = writeln!(out, "{}", hunk.header());
            for change in hunk.iter_changes() {
                let line = change.value();
                let text = line.trim_end_matches(['\n', '\r']);
                let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
                let _ = write!(out, "{}{}{end}", change.tag(), escape::text(text));
                if change.missing_newline() {
                    out.push_str("\\ No newline at end of file\n");
                }
            }
        }
    }
    out
}

/// Lints a plugin's folder and makes the safe fixes, until none is left or the last ones changed nothing; the report of the
/// last run, and how many fixes were made.
///
/// # Errors
///
/// As [`crate::lint`], [`LoadError::Io`] when a file cannot be written, and [`LoadError::Changed`] when somebody else wrote it
/// since it was read. Each file is replaced as a whole, and keeps its mode.
pub fn mend(root: &Path, request: &Request) -> Result<(Report, usize), LoadError> {
    /// Each round makes what the one before left; more rounds than this would be two fixes at odds.
    const ROUNDS: usize = 1000;
    let mut made = 0;
    let mut round = 0;
    loop {
        let report = lint(&Plugin::load(root)?, request)?;
        let fixed: Vec<Fixed> = fixes(&report.problems)
            .into_iter()
            .filter(|file| file.text != file.source.text())
            .collect();
        if fixed.is_empty() || round == ROUNDS {
            return Ok((report, made));
        }
        for file in fixed {
            let path = root.join(file.source.path());
            replace_atomically(&path, file.source.text().as_bytes(), file.text.as_bytes())?;
            made += file.fixes;
        }
        round += 1;
    }
}
