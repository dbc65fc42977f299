//! What a run found.

use oz0_diagnostic::report::{DescribedRule, Program};
use oz0_diagnostic::{Diagnostic, Level, Safety, report};
use oz0_plugin::Plugin;
use serde_json::{Value, json};

use crate::loader::loader_checks;
use crate::metadata::{Plain, page_url};
use crate::page::published;
use crate::rules::rules;

/// The format of [`Report::to_json`].
pub const FORMAT: &str = "oz0.lint.v1";

/// What a run found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The plugin's name, where its manifest says one, be the rest as it may.
    pub plugin: Option<String>,
    /// The plugin's version, where its manifest could be read.
    pub version: Option<String>,
    /// Whether the plugin was held to the verified level.
    pub verified: bool,
    /// What was found, by place: first in the manifest, then file by file.
    pub problems: Vec<Diagnostic>,
    /// What was found, counted, and what could not be looked at.
    pub summary: Summary,
}

/// What was found, counted, and what could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many errors.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// How many notes.
    pub notes: usize,
    /// How many of all of them have a safe fix.
    pub fixable: usize,
    /// How many rules ran.
    pub rules: usize,
    /// Rules that could not run, or not on everything, and why.
    pub not_run: Vec<NotRun>,
    /// How many files belong to the plugin.
    pub files: usize,
    /// What stands in the folder and cannot be packed: path and reason.
    pub unpackable: Vec<(String, String)>,
    /// How many links lead out of the plugin, in folders that no bundle holds, and were not followed.
    pub links_out: usize,
}

/// A rule that could not run, or not on everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    /// Its code.
    pub code: &'static str,
    /// Why, as a clause.
    pub reason: String,
}

impl Summary {
    pub(crate) fn of(
        problems: &[Diagnostic],
        rules: usize,
        not_run: Vec<NotRun>,
        links_out: usize,
        plugin: &Plugin,
    ) -> Self {
        let count = |level| problems.iter().filter(|problem| problem.level == level).count();
        let fixable = |problem: &&Diagnostic| {
            problem.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe)
        };
        let unpackable = plugin.unpackable().iter();
        Self {
            errors: count(Level::Error),
            warnings: count(Level::Warning),
            notes: count(Level::Note),
            fixable: problems.iter().filter(fixable).count(),
            rules,
            not_run,
            files: plugin.packed().len(),
            unpackable: unpackable
                .map(|found| (found.path.clone(), found.reason.to_string()))
                .collect(),
            links_out,
        }
    }
}

impl Report {
    pub(crate) fn new(
        plugin: &Plugin,
        verified: bool,
        problems: Vec<Diagnostic>,
        summary: Summary,
    ) -> Self {
        let manifest = plugin.manifest();
        Self {
            plugin: plugin.name().map(str::to_owned),
            version: manifest.map(|manifest| manifest.version.value.to_string()),
            verified,
            problems,
            summary,
        }
    }

    /// Whether something fails: an error.
    pub fn failed(&self) -> bool {
        self.summary.errors > 0
    }

    /// The report as `oz0.lint.v1`, which [`crate::report_schema`] describes. Texts of the plugin stand in it as they are.
    pub fn to_json(&self) -> Value {
        let summary = &self.summary;
        let not_run: Vec<Value> = summary
            .not_run
            .iter()
            .map(|rule| json!({ "code": rule.code, "reason": rule.reason }))
            .collect();
        let unpackable: Vec<Value> = summary
            .unpackable
            .iter()
            .map(|(path, reason)| json!({ "file": path, "reason": reason }))
            .collect();
        let problems: Vec<Value> = self.problems.iter().map(report::problem_json).collect();
        json!({
            "format": FORMAT,
            "plugin": self.plugin,
            "version": self.version,
            "verified": self.verified,
            "problems": problems,
            "summary": {
                "errors": summary.errors,
                "warnings": summary.warnings,
                "notes": summary.notes,
                "fixable": summary.fixable,
                "rules": summary.rules,
                "not_run": not_run,
                "files": summary.files,
                "unpackable": unpackable,
                "links_out": summary.links_out,
            },
        })
    }

    /// The report as SARIF 2.1.0. `base` stands before each path, with its `/`: where the plugin lies in the checkout.
    pub fn to_sarif(&self, base: &str) -> Value {
        let rules: Vec<DescribedRule> = rules()
            .iter()
            .map(|rule| {
                let metadata = &rule.metadata;
                DescribedRule {
                    code: metadata.code.to_owned(),
                    name: metadata.name.to_owned(),
                    title: metadata.title(),
                    page: published(metadata.page),
                    url: metadata.url(),
                    level: match metadata.plain {
                        Plain::Off => "none",
                        Plain::On(level) => level.name(),
                    },
                }
            })
            .chain(loader_checks().iter().map(|found| DescribedRule {
                code: found.check.code.to_owned(),
                name: found.check.name.to_owned(),
                title: found.title(),
                page: published(found.page),
                url: page_url(found.check.code),
                level: found.check.level.name(),
            }))
            .collect();
        let program = Program {
            name: "oz0",
            version: env!("CARGO_PKG_VERSION"),
            url: "https://oz0.ai/docs/",
            rules: &rules,
        };
        let not_run = self.summary.not_run.iter();
        let not_run = not_run.map(|rule| format!("{} did not run: {}", rule.code, rule.reason));
        let unpackable = self.summary.unpackable.iter();
        let unpackable =
            unpackable.map(|(path, reason)| format!("{path} was not looked at: {reason}"));
        let notices = not_run.chain(unpackable).chain(links_out(self.summary.links_out));
        let notices: Vec<String> = notices.collect();
        report::sarif(&self.problems, base, program, &notices)
    }

    /// The report as GitHub's workflow commands, one a finding. `base` as in [`Report::to_sarif`].
    pub fn to_github(&self, base: &str) -> String {
        report::github(&self.problems, base)
    }

    /// The summary in a line or a few, for people: what was found, what a fix would mend, what could not be looked at.
    pub fn summary_text(&self) -> String {
        use std::fmt::Write as _;

        let summary = &self.summary;
        let counted = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let name = self.plugin.as_deref().unwrap_or("the plugin");
        let level = if self.verified { " at the verified level" } else { "" };
        let mut text = format!(
            "{name}: {}, {}, {} by {}{level} over {}",
            counted(summary.errors, "error"),
            counted(summary.warnings, "warning"),
            counted(summary.notes, "note"),
            counted(summary.rules, "rule"),
            counted(summary.files, "file"),
        );
        if summary.fixable > 0 {
            let _ = write!(
                text,
                "\n{} can be mended with: oz0 plugin lint --fix",
                counted(summary.fixable, "finding")
            );
        }
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for rule in &summary.not_run {
            match reasons.iter_mut().find(|(reason, _)| *reason == rule.reason) {
                Some((_, codes)) => codes.push(rule.code),
                None => reasons.push((&rule.reason, vec![rule.code])),
            }
        }
        for (reason, codes) in reasons {
            let shown = match codes.as_slice() {
                [first, .., last] if codes.len() > 6 => format!("{first} to {last}"),
                codes => codes.join(", "),
            };
            let _ = write!(text, "\nnot run: {shown}: {reason}");
        }
        for (path, reason) in &summary.unpackable {
            let path = oz0_listing::escape::line(path);
            let _ =
                write!(text, "\nnot looked at: {path}: {reason}, so it is no part of the plugin");
        }
        if let Some(line) = links_out(summary.links_out) {
            let _ = write!(text, "\n{line}");
        }
        text
    }
}

/// The line about links that lead out of the plugin.
fn links_out(count: usize) -> Option<String> {
    let plural = if count == 1 { " leads" } else { "s lead" };
    (count > 0).then(|| format!("not followed: {count} link{plural} out of the plugin's folder"))
}
