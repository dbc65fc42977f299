//! `oz0 plugin lint`: checks a plugin against the house rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result};
use oz0_diagnostic::report::{Color, concise, pretty};
use oz0_diagnostic::{Diagnostic, Safety};
use oz0_lint::{
    Plugin, Report, Request, diff, find, fixes, lint, mend, rules, rules_json, rules_text,
};

use super::target;
use crate::cli::{Format, Lint};
use crate::exit::{Exit, WrongUsage};
use crate::output::Output;

pub(crate) fn run(arguments: &Lint, output: Output) -> Result<Exit> {
    if arguments.list_rules {
        if arguments.json {
            output.json(&rules_json())?;
        } else {
            output.data(&rules_text())?;
        }
        return Ok(Exit::Done);
    }
    let request = Request { verified: arguments.verified, rules: codes(&arguments.rule)? };
    let plugin = Plugin::load(&arguments.dir)?;
    for output in &arguments.output {
        target::not_a_part(&output.path, &plugin)?;
    }
    let mut made = 0;
    let report = if arguments.fix && !arguments.diff {
        let (report, fixes) = mend(&arguments.dir, &request)?;
        made = fixes;
        report
    } else {
        lint(&plugin, &request)?
    };
    let base = base(&arguments.dir);
    for target in &arguments.output {
        let text = text(&report, target.format, &base, Color::Never)?;
        fs::write(&target.path, text)
            .with_context(|| format!("cannot write {}", target.path.display()))?;
    }
    let ended = if arguments.diff {
        show_diff(&report, output)?
    } else {
        print(&report, arguments, &base, output)?;
        if made > 0 {
            output.say(&format!("{made} finding{} mended", if made == 1 { "" } else { "s" }));
        }
        output.say(&report.summary_text());
        if report.failed() { Exit::Findings } else { Exit::Done }
    };
    match (ended, off(&request)) {
        (Exit::Done, Some(wrong)) => Err(wrong.into()),
        (ended, _) => Ok(ended),
    }
}

/// Rules that were asked for and that the level leaves out: a run that found nothing must not look as if they had passed.
fn off(request: &Request) -> Option<WrongUsage> {
    let off: Vec<&str> = request.off().map(|rule| rule.metadata.code).collect();
    let does = if off.len() == 1 { "does" } else { "do" };
    let what = format!("{} {does} not run without --verified", off.join(", "));
    (!off.is_empty()).then_some(WrongUsage(what))
}

fn print(report: &Report, arguments: &Lint, base: &str, output: Output) -> Result<()> {
    match arguments.format {
        Format::Json => output.json(&report.to_json()),
        Format::Sarif => output.json(&report.to_sarif(base)),
        _ if arguments.json => output.json(&report.to_json()),
        format => {
            let color = if output.colors_data() { Color::Always } else { Color::Never };
            let text = text(report, format, base, color)?;
            if !text.is_empty() {
                output.data(&text)?;
            }
            Ok(())
        }
    }
}

/// What the fixes would change, as data; and as talk whatever they leave. That something would change is a finding.
fn show_diff(report: &Report, output: Output) -> Result<Exit> {
    let fixed = fixes(&report.problems);
    let text = diff(&fixed);
    if !text.is_empty() {
        output.data(&text)?;
    }
    let count: usize = fixed.iter().map(|file| file.fixes).sum();
    let left: Vec<Diagnostic> =
        report.problems.iter().filter(|it| !is_mended(it)).cloned().collect();
    output.findings(&left);
    output.say(&format!(
        "{count} finding{} would be mended; {} would be left",
        if count == 1 { "" } else { "s" },
        left.len()
    ));
    output.say(&report.summary_text());
    Ok(if count > 0 || report.failed() { Exit::Findings } else { Exit::Done })
}

/// Whether a safe fix mends it. One that waits for another's change is mended in the next round.
fn is_mended(problem: &Diagnostic) -> bool {
    problem.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe)
}

fn text(report: &Report, format: Format, base: &str, color: Color) -> Result<String> {
    let json = |value| Ok::<_, anyhow::Error>(serde_json::to_string_pretty(&value)? + "\n");
    Ok(match format {
        Format::Pretty => pretty(&report.problems, color),
        Format::Concise => concise(&report.problems),
        Format::Json => json(report.to_json())?,
        Format::Sarif => json(report.to_sarif(base))?,
        Format::Github => report.to_github(base),
    })
}

/// The codes of the rules that were asked for.
fn codes(asked: &[String]) -> Result<BTreeSet<String>> {
    asked.iter().map(|rule| Ok(known(rule)?.metadata.code.to_owned())).collect()
}

/// A rule by its code or name.
pub(crate) fn known(asked: &str) -> Result<&'static oz0_lint::Rule> {
    find(asked).ok_or_else(|| {
        let names = rules().iter().flat_map(|rule| [rule.metadata.code, rule.metadata.name]);
        let upper = asked.to_uppercase();
        let near = oz0_diagnostic::did_you_mean(asked, names.clone())
            .or_else(|| oz0_diagnostic::did_you_mean(&upper, names));
        let near = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        WrongUsage(format!(
            "there is no rule {asked}{near}; see them all with: oz0 plugin lint --list-rules"
        ))
        .into()
    })
}

/// What stands before the plugin's paths in a checkout that the command runs at the top of: the folder as it was given, where
/// that is below the current one.
fn base(dir: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| dir.strip_prefix(here).ok()).unwrap_or(dir);
    let mut base = String::new();
    for component in below.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                base.push_str(&name.to_string_lossy());
                base.push('/');
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return String::new();
            }
        }
    }
    base
}
