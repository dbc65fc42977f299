//! One run of the lint.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use oz0_diagnostic::Diagnostic;
use oz0_plugin::{LoadError, Plugin};

use crate::metadata::Plain;
use crate::report::{NotRun, Report, Summary};
use crate::rules::{Rule, rules};
use crate::sink::{Finding, Sink};
use crate::view::View;

/// What is asked of a run.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Hold the plugin to the verified level: every warning is an error, and the rules for verified plugins run too.
    pub verified: bool,
    /// Only these rules, by their codes; every rule where it is empty. What the loader found is told in any case.
    pub rules: BTreeSet<String>,
}

impl Request {
    /// Whether a rule is asked for.
    fn wants(&self, rule: &Rule) -> bool {
        let metadata = &rule.metadata;
        (self.verified || metadata.plain != Plain::Off)
            && (self.rules.is_empty() || self.rules.contains(metadata.code))
    }
}

/// Lints a plugin: what its loader found, what keeps it from being handed to others, and what the rules find, by their places.
///
/// # Errors
///
/// [`LoadError`] when oz0 itself could not read a file of the plugin, or when one changed since it was loaded. What is wrong
/// with the plugin is in the report.
pub fn lint(plugin: &Plugin, request: &Request) -> Result<Report, LoadError> {
    let wanted: Vec<&'static Rule> =
        rules().iter().copied().filter(|rule| request.wants(rule)).collect();
    let mut problems = plugin.diagnostics().to_vec();
    problems.extend(plugin.publishing_findings()?);
    let mut not_run = Vec::new();
    let mut ran = 0;
    match View::of(plugin)? {
        None => not_run.extend(wanted.iter().map(|rule| NotRun {
            code: rule.metadata.code,
            reason: "the manifest has errors, so nothing else is known of the plugin".to_owned(),
        })),
        Some(view) => {
            ran = wanted.len();
            let found = run(&view, &wanted, request.verified);
            // A snapshot that cannot be read is one mistake: where the rule about snapshots tells it, the loader does not.
            let snapshots = wanted.iter().any(|rule| rule.metadata.code == "OZ-S015");
            problems.extend(view.unreadable(!snapshots).cloned());
            problems.extend(found.into_iter().flatten());
            not_run = view.not_run(&wanted);
        }
    }
    // Stable: what stands at one place stays in the order of the codes.
    problems.sort_by(|a, b| {
        let key = |problem: &Diagnostic| {
            let file = problem.span.file().path().to_owned();
            (file != oz0_plugin::manifest::MANIFEST, file, problem.span.range().start)
        };
        key(a).cmp(&key(b))
    });
    let summary = Summary::of(&problems, ran, not_run, plugin);
    Ok(Report::new(plugin, request.verified, problems, summary))
}

/// Runs the rules side by side; what each found, in their order.
fn run(view: &View<'_>, wanted: &[&'static Rule], verified: bool) -> Vec<Vec<Diagnostic>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Vec<Diagnostic>>> = Mutex::new(vec![Vec::new(); wanted.len()]);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(rule) = wanted.get(index) else { return };
            let mut sink = Sink::new(rule, verified);
            (rule.run)(view, &mut sink);
            refuse_exemptions(view, rule, &mut sink);
            // A rule that panicked elsewhere ends the run there; its lock is of no use to anyone.
            found.lock().unwrap_or_else(PoisonError::into_inner)[index] = sink.into_found();
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A comment that means to exempt from a rule that takes no exemption would be believed by whoever reads it.
fn refuse_exemptions(view: &View<'_>, rule: &'static Rule, sink: &mut Sink) {
    let code = rule.metadata.code;
    if rule.metadata.exemptible {
        return;
    }
    for exemption in view.exemptions().iter().filter(|exemption| exemption.code == code) {
        let message = format!("the comment exempts nothing: {code} takes no exemption");
        sink.push(
            Finding::at(&exemption.span, message)
                .help("remove the comment; OZ-S003 alone takes an exemption"),
        );
    }
}
