//! One check of a plugin: loaded with the open documents in place, linted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oz0_diagnostic::Diagnostic;
use oz0_lint::{Plugin, Report, Request, fixes, lint, rules};
use oz0_listing::escape;
use oz0_plugin::{LoadError, Unsaved};

use crate::documents::Documents;

/// What a check found, and of which versions of the open documents.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) root: PathBuf,
    pub(crate) problems: Vec<Diagnostic>,
    pub(crate) documents: Documents,
    /// How long the rules took.
    pub(crate) took: Duration,
}

impl Checked {
    /// What was found by the rule that reads every file, in the files that are still what they were.
    fn still<'c>(&'c self, documents: &'c Documents) -> impl Iterator<Item = &'c Diagnostic> {
        let found = self.problems.iter().filter(|problem| problem.check.code == READS_ALL);
        found.filter(|problem| self.is_of(&self.root.join(problem.span.file().path()), documents))
    }

    /// Whether a document is what it was when it was checked.
    pub(crate) fn is_of(&self, path: &Path, documents: &Documents) -> bool {
        match (self.documents.get(path), documents.get(path)) {
            (Some(then), Some(now)) => then.is(now),
            (None, None) => true,
            _ => false,
        }
    }

    /// The findings in a file.
    pub(crate) fn of_file<'c>(&'c self, path: &'c Path) -> impl Iterator<Item = &'c Diagnostic> {
        let file = move |problem: &&Diagnostic| self.root.join(problem.span.file().path()) == path;
        self.problems.iter().filter(file)
    }
}

/// How a check ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Checked(Checked),
    /// Something of the plugin changed on the way.
    Overtaken,
    /// There is no plugin any more.
    Gone,
    /// The plugin could not be read: why, and what to do.
    Failed(String),
}

/// The rule that reads every file of the folder, whatever is packed of it: a check without it costs what the manifest costs,
/// one with it what the folder costs.
const READS_ALL: &str = "OZ-S012";

/// How much a check looks at.
#[derive(Debug, Clone)]
pub(crate) enum Depth {
    /// Everything.
    Whole,
    /// What the rule about every file has to say is what it said before, in the files that are what they were.
    WithoutFiles(Arc<Checked>),
}

/// Checks a plugin. `overtaken` says whether the result is of no use any more.
pub(crate) fn check(
    root: &Path,
    documents: Documents,
    request: &Request,
    depth: &Depth,
    overtaken: &dyn Fn() -> bool,
) -> Outcome {
    let request = match depth {
        Depth::Whole => request.clone(),
        Depth::WithoutFiles(_) => {
            let others = rules().iter().map(|rule| rule.metadata.code);
            let rules = others.filter(|code| *code != READS_ALL).map(str::to_owned).collect();
            Request { rules, ..request.clone() }
        }
    };
    let mut took = Duration::ZERO;
    let report = Plugin::load_unsaved(root, &documents.unsaved(root)).and_then(|plugin| {
        if overtaken() {
            return Ok(None);
        }
        let began = Instant::now();
        let report = lint(&plugin, &request)?;
        took = began.elapsed();
        Ok(Some(report))
    });
    match report {
        Ok(None) | Err(LoadError::Changed { .. }) => Outcome::Overtaken,
        Ok(Some(Report { mut problems, .. })) => {
            if let Depth::WithoutFiles(before) = depth {
                problems.extend(before.still(&documents).cloned());
            }
            Outcome::Checked(Checked { root: root.to_owned(), problems, documents, took })
        }
        Err(
            LoadError::NoFolder { .. }
            | LoadError::NotAFolder { .. }
            | LoadError::NoManifest { .. },
        ) => Outcome::Gone,
        Err(error) => Outcome::Failed(told(&error)),
    }
}

/// An error with its causes and what to do, as a line or two.
fn told(error: &LoadError) -> String {
    let mut told = escape::line(&error.to_string()).into_owned();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        told.push_str(": ");
        told.push_str(&escape::line(&cause.to_string()));
        source = cause.source();
    }
    if let Some(help) = error.help() {
        told.push_str("\nhint: ");
        told.push_str(&escape::line(&help));
    }
    told
}

/// The text of one file with every safe fix made, round after round, as `oz0 plugin lint --fix` makes them; `None` where there
/// is none to make, or the plugin could not be read.
pub(crate) fn mended(
    root: &Path,
    file: &str,
    documents: &Documents,
    request: &Request,
) -> Option<String> {
    /// More rounds than this would be two fixes at odds.
    const ROUNDS: usize = 100;
    let mut unsaved: Unsaved = documents.unsaved(root);
    let mut mended = None;
    for _ in 0..ROUNDS {
        let report = lint(&Plugin::load_unsaved(root, &unsaved).ok()?, request).ok()?;
        let fixed = fixes(&report.problems)
            .into_iter()
            .find(|fixed| fixed.source.path() == file && fixed.text != fixed.source.text());
        let Some(fixed) = fixed else { break };
        unsaved.insert(file, fixed.text.as_str());
        mended = Some(fixed.text);
    }
    mended
}
