//! One run of the lint.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use oz0_diagnostic::Diagnostic;
use oz0_plugin::{LoadError, Plugin};

use crate::metadata::page_url;
use crate::report::{NotRun, Report, Summary};
use crate::rules::{Rule, Run, rules};
use crate::sink::{Finding, Found, Sink};
use crate::view::View;

/// Why a rule for verified plugins did not run.
const OFF: &str = "runs at the verified level only; give --verified";

/// What is asked of a run.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Hold the plugin to the verified level: every warning is an error, and the rules for verified plugins run too.
    pub verified: bool,
    /// Only these rules, by their codes; every rule where it is empty. What the loader found is told in any case.
    pub rules: BTreeSet<String>,
}

impl Request {
    /// Whether a rule is asked for, and runs at this level.
    fn wants(&self, rule: &Rule) -> bool {
        rule.runs_at(self.verified)
            && (self.rules.is_empty() || self.rules.contains(rule.metadata.code))
    }

    /// The rules that were asked for by name and do not run at this level. Nothing of theirs is in a report but a line that
    /// says so, so a run that ends well must not count as their passing.
    pub fn off(&self) -> impl Iterator<Item = &'static Rule> {
        let asked = |rule: &&Rule| self.rules.contains(rule.metadata.code);
        rules().iter().copied().filter(asked).filter(|rule| !rule.runs_at(self.verified))
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
    let view = View::of(plugin)?;
    let off = |rule: &'static Rule| NotRun { code: rule.metadata.code, reason: OFF.to_owned() };
    let mut not_run: Vec<NotRun> = request.off().map(off).collect();
    let mut idle = 0;
    let wanted: Vec<&'static Rule> = match &view {
        Some(view) => {
            let (by_kind, in_part) = view.not_run(&wanted, !request.rules.is_empty());
            idle = by_kind.len();
            not_run.extend(by_kind.into_iter().chain(in_part));
            not_run.sort_by_key(|rule| rule.code);
            // A snapshot that cannot be read is one mistake: where the rule about snapshots tells it, the loader does not.
            let snapshots = wanted.iter().any(|rule| rule.metadata.code == "OZ-S015");
            problems.extend(view.unreadable(!snapshots).cloned());
            wanted
        }
        None => {
            let runs = |rule: &&'static Rule| matches!(rule.run, Run::Files(_));
            let (run, left): (Vec<_>, Vec<_>) = wanted.into_iter().partition(runs);
            not_run.extend(left.iter().map(|rule| NotRun {
                code: rule.metadata.code,
                reason:
                    "the manifest has errors, so nothing else is known of the plugin".to_owned(),
            }));
            not_run.sort_by_key(|rule| rule.code);
            run
        }
    };
    let found = run(plugin, view.as_ref(), &wanted, request.verified);
    let links_out = found.iter().map(|found| found.links_out).sum();
    problems.extend(found.into_iter().flat_map(|found| found.problems));
    // A code of the loader's has a page as a rule has.
    for problem in problems.iter_mut().filter(|problem| problem.url.is_none()) {
        problem.url = Some(page_url(problem.check.code));
    }
    // Stable: what stands at one place stays in the order of the codes.
    problems.sort_by(|a, b| {
        let key = |problem: &Diagnostic| {
            let file = problem.span.file().path().to_owned();
            (file != oz0_plugin::manifest::MANIFEST, file, problem.span.range().start)
        };
        key(a).cmp(&key(b))
    });
    let summary = Summary::of(&problems, wanted.len() - idle, not_run, links_out, plugin);
    Ok(Report::new(plugin, request.verified, problems, summary))
}

/// Runs the rules side by side; what each found, in their order.
fn run(
    plugin: &Plugin,
    view: Option<&View<'_>>,
    wanted: &[&'static Rule],
    verified: bool,
) -> Vec<Found> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Found>> = Mutex::new(vec![Found::default(); wanted.len()]);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(rule) = wanted.get(index) else { return };
            let mut sink = Sink::new(rule, verified);
            match (rule.run, view) {
                (Run::Files(check), _) => check(plugin, &mut sink),
                (Run::View(check), Some(view)) => check(view, &mut sink),
                (Run::View(_), None) => {}
            }
            if let Some(view) = view {
                refuse_exemptions(view, rule, &mut sink);
            }
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
