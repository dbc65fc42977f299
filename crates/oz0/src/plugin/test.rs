//! `oz0 plugin test`: measures what the servers list, writes it down, runs the contract tests.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use oz0_diagnostic::{Diagnostic, Level, SourceFile, Span, report};
use oz0_listing::escape;
use oz0_listing::file::ListingFile;
use oz0_measure::{
    Change, EraChoice, Event, Measurement, Measurer, NOT_AS_COMMITTED, NOT_COMPARED, Options,
    changes,
};
use oz0_plugin::manifest::Manifest;
use oz0_plugin::{LISTING, ListingState, Plugin, write_atomically};
use oz0_server::{Environments, Launcher, Tier};
use serde_json::{Value, json};

use super::inspect::left_out_json;
use super::shown;
use crate::cli::{Era, Test};
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::machine::{Signals, runtime, tier_choice};
use crate::output::Output;
use crate::progress::Progress;
use crate::share;

/// What a run found, for both forms of the report.
struct Report {
    name: String,
    version: String,
    measurement: Option<Measurement>,
    changes: Vec<Change>,
    /// In what the committed listing differs, where nothing was to be written.
    differs: Option<Differs>,
    written: bool,
    /// Nothing was to be written.
    checked: bool,
    findings: Vec<Diagnostic>,
    evals: usize,
}

pub(crate) fn run(arguments: &Test, settings: &Settings, output: Output) -> Result<Exit> {
    let plugin = Plugin::load(&arguments.dir)?;
    if plugin.manifest().is_none() {
        return undecoded(&plugin, arguments.json, output);
    }
    for unpackable in plugin.unpackable() {
        let path = escape::line(&unpackable.path);
        output.say(&format!("{path}: {}, so it is no part of the plugin", unpackable.reason));
    }
    if !arguments.check {
        // Better said before all the measuring than after it.
        rustix::fs::access(plugin.root(), rustix::fs::Access::WRITE_OK).with_context(|| {
            format!("{LISTING} cannot be written into {}", plugin.root().display())
        })?;
    }
    let run = Run { arguments, settings, output, progress: Progress::new(output) };
    let report = match run.test(&plugin)? {
        Ended::Measured(report) => report,
        Ended::Undecoded(plugin) => return undecoded(&plugin, arguments.json, output),
        Ended::Stopped(signal) => {
            output.error_line(&format!("stopped; {LISTING} was left as it is"));
            return Ok(Exit::Stopped(signal));
        }
    };
    output.findings(&report.findings);
    if arguments.json {
        output.json(&as_json(&report))?;
    } else {
        tell(&report, output)?;
    }
    Ok(if report.failed() { Exit::Findings } else { Exit::Done })
}

/// A manifest that does not decode: all that is wrong with it.
fn undecoded(plugin: &Plugin, json: bool, output: Output) -> Result<Exit> {
    output.findings(plugin.diagnostics());
    if json {
        let problems: Vec<Value> = plugin.diagnostics().iter().map(report::problem_json).collect();
        output.json(&json!({ "format": FORMAT, "problems": problems }))?;
    }
    Ok(Exit::Findings)
}

/// The format of the report as JSON.
const FORMAT: &str = "oz0.test.v1";

impl Report {
    fn failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Error)
    }
}

/// How a run came to its end.
enum Ended {
    Measured(Box<Report>),
    /// The manifest was changed meanwhile, and does not decode any more.
    Undecoded(Box<Plugin>),
    /// A signal of this number asked for the end.
    Stopped(u8),
}

struct Run<'a> {
    arguments: &'a Test,
    settings: &'a Settings,
    output: Output,
    progress: Progress,
}

impl Run<'_> {
    fn test(&self, plugin: &Plugin) -> Result<Ended> {
        let arguments = self.arguments;
        let manifest = plugin.manifest().expect("the caller looked");
        let say = self.progress.clone();
        let oz0 = std::env::current_exe().context("cannot find oz0's own program")?;
        let cache = self.settings.cache()?;
        let environments =
            Environments::new(&oz0, cache, Arc::new(move |line: &str| say.now(line.to_owned())));
        let launcher = Launcher::new(&oz0, cache, tier_choice())?;
        let options = Options {
            era: match arguments.era {
                Era::Probe => EraChoice::Probe,
                Era::Modern => EraChoice::Modern,
                Era::Legacy => EraChoice::Legacy,
            },
            timeout: Duration::from_secs(arguments.timeout),
            secrets: secrets(arguments, manifest)?,
            shares: share::with_one(
                &arguments.share,
                &arguments.share_read,
                self.settings,
                plugin.root(),
            )?,
        };
        let progress = self.progress.clone();
        let json = arguments.json;
        // Whoever asked for quiet hears what the tests printed when they failed, which says how.
        let held = self.output.is_quiet().then(|| Mutex::new(Vec::new()));
        let watch = |event: Event<'_>| match (&held, &event) {
            (Some(held), Event::Printed(bytes)) => lock(held).extend_from_slice(bytes),
            _ => watch(&progress, json, &event),
        };
        let measurer = Measurer::new(&launcher, &environments, options, &watch);

        let mut findings = plugin.diagnostics().to_vec();
        if arguments.check {
            findings.extend(missing_locks(plugin, manifest));
        }
        if !has_error(&findings) {
            findings.extend(measurer.lock(plugin, manifest, arguments.relock)?);
        }
        // What was locked is part of the plugin and of its digest; and what is measured must be what the digest is of.
        let plugin = Plugin::load(&arguments.dir)?;
        let Some(manifest) = plugin.manifest() else {
            return Ok(Ended::Undecoded(Box::new(plugin)));
        };
        let mut report = Report {
            name: manifest.name.as_str().to_owned(),
            version: manifest.version.to_string(),
            measurement: None,
            changes: Vec::new(),
            differs: None,
            written: false,
            checked: arguments.check,
            findings,
            evals: plugin.evals().len(),
        };
        if !report.failed() {
            let runtime = runtime()?;
            let ended = runtime.block_on(async {
                let mut signals = Signals::listen()?;
                // Dropped at a signal, the work takes with it every process and folder that it has.
                tokio::select! {
                    signal = signals.next() => Ok(Some(signal)),
                    done = self.measure(&measurer, &plugin, &mut report) => done.map(|()| None),
                }
            });
            // Whatever installs in a thread of its own ends with this process.
            runtime.shutdown_background();
            self.progress.finish();
            if let Some(signal) = ended? {
                return Ok(Ended::Stopped(signal));
            }
        }
        self.progress.finish();
        if let Some(held) = held.filter(|_| report.failed()) {
            print_out(json, &lock(&held));
        }
        Ok(Ended::Measured(Box::new(report)))
    }

    async fn measure(
        &self,
        measurer: &Measurer<'_>,
        plugin: &Plugin,
        report: &mut Report,
    ) -> Result<()> {
        let manifest = plugin.manifest().expect("it decoded");
        let mut measurement = measurer.measure(plugin, manifest).await?;
        report.findings.append(&mut measurement.findings);
        if !report.failed() {
            self.write(plugin, &measurement, report)?;
        }
        if !report.failed() && !self.arguments.no_contract_tests {
            // The listing that was just written is one of the files that the tests get.
            let plugin = Plugin::load(&self.arguments.dir)?;
            report.findings.extend(measurer.run_contract_tests(&plugin, manifest).await?);
        }
        report.measurement = Some(measurement);
        Ok(())
    }

    /// Writes the measured listing, having compared it with the one that is there; or only compares.
    fn write(&self, plugin: &Plugin, measurement: &Measurement, report: &mut Report) -> Result<()> {
        let state = plugin.listing_state()?;
        if let Some(committed) = state.listing() {
            report.changes = changes(committed, &measurement.listing);
        }
        let file = ListingFile {
            source_digest: plugin.source_digest()?,
            functions: measurement.listing.functions.clone(),
            left_out: measurement.listing.left_out.clone(),
        };
        let text = file.write();
        let path = plugin.root().join(LISTING);
        if self.arguments.check {
            let there = match std::fs::read(&path) {
                Ok(there) => Some(there),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => {
                    let context = format!("cannot read {}", path.display());
                    return Err(anyhow::Error::from(error).context(context));
                }
            };
            if there.as_deref() != Some(text.as_bytes()) {
                let differs = Differs::of(there.is_some(), state.listing(), &file);
                report.findings.push(not_as_committed(LISTING, &differs.words()));
                report.differs = Some(differs);
            }
            return Ok(());
        }
        if let ListingState::Unreadable(why) = &state {
            let span = Span::start_of(&SourceFile::new(LISTING, ""));
            let message = format!(
                "the {LISTING} that was there could not be read, so nothing was compared with it: {}",
                why.message
            );
            report.findings.push(
                Diagnostic::new(&NOT_COMPARED, span, message)
                    .help("look at the new one as you would at a plugin's first"),
            );
        }
        write_atomically(&path, text.as_bytes())?;
        report.written = true;
        Ok(())
    }
}

fn has_error(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Error)
}

/// In what a committed listing differs from the one that was just measured.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Differs {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// In these members.
    In(Vec<&'static str>),
    /// In nothing that it says: only in how it is written.
    Written,
}

impl Differs {
    fn of(is_there: bool, committed: Option<&ListingFile>, measured: &ListingFile) -> Self {
        let Some(committed) = committed else {
            return if is_there { Self::Unreadable } else { Self::Missing };
        };
        let members = [
            ("source_digest", committed.source_digest != measured.source_digest),
            ("functions", committed.functions != measured.functions),
            ("left_out", committed.left_out != measured.left_out),
        ];
        let differ: Vec<&str> =
            members.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect();
        if differ.is_empty() { Self::Written } else { Self::In(differ) }
    }

    /// As words that follow the file's path.
    fn words(&self) -> String {
        match self {
            Self::Missing => "is missing: nothing was committed to compare with".to_owned(),
            Self::Unreadable => "cannot be read, so it is not what was measured".to_owned(),
            Self::In(members) if members.as_slice() == ["source_digest"] => {
                "says what the servers list, and was measured from other files than the plugin's now: only its source digest differs"
                    .to_owned()
            }
            Self::In(members) => {
                format!("is not what was measured: it differs in {}", members.join(", "))
            }
            Self::Written => {
                "says what was measured, and is not written as oz0 writes it: somebody or something else did"
                    .to_owned()
            }
        }
    }

    /// As the report's JSON has it.
    fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Missing => vec!["missing"],
            Self::Unreadable => vec!["unreadable"],
            Self::In(members) => members.clone(),
            Self::Written => vec!["written"],
        }
    }
}

fn not_as_committed(path: &str, what: &str) -> Diagnostic {
    let span = Span::start_of(&SourceFile::new(path, ""));
    Diagnostic::new(&NOT_AS_COMMITTED, span, format!("{path} {what}"))
        .help("run oz0 plugin test without --check, look at what changed, and commit it")
}

/// Locks that a run without `--check` would write.
fn missing_locks(plugin: &Plugin, manifest: &Manifest) -> Vec<Diagnostic> {
    let tools = manifest.tools.iter().filter(|(_, tool)| tool.package.is_some());
    tools
        .filter(|(key, _)| plugin.lock(&key.value).is_none())
        .map(|(key, _)| not_as_committed(&format!("locks/{}.lock", key.value), "is missing"))
        .collect()
}

/// The values that the author hands in for declared secrets.
fn secrets(arguments: &Test, manifest: &Manifest) -> Result<BTreeMap<String, String>> {
    let mut secrets = BTreeMap::new();
    for name in &arguments.secret {
        let declared = manifest.requires.as_ref().is_some_and(|requires| {
            requires
                .secrets
                .iter()
                .chain(&requires.optional_secrets)
                .any(|secret| secret.as_str() == name)
        });
        let wrong = |what: &str| WrongUsage(format!("--secret {name}: {what}"));
        if !declared {
            return Err(wrong("the manifest declares no such secret under requires").into());
        }
        let value = std::env::var(name)
            .map_err(|_| wrong("the environment has no such variable, or it is not UTF-8"))?;
        secrets.insert(name.clone(), value);
    }
    Ok(secrets)
}

fn watch(progress: &Progress, json: bool, event: &Event<'_>) {
    match event {
        Event::Looking(tool, 1) => progress.now(format!("measuring {tool}")),
        Event::Looking(tool, 3) => progress.now(format!("measuring {tool} in other surroundings")),
        Event::Looking(..) => {}
        Event::Testing(name, what) => progress.now(format!("running {name}: {what}")),
        Event::Printed(bytes) => progress.print(|| print_out(json, bytes)),
    }
}

/// Prints what the contract tests printed. A report in JSON has standard output for itself.
fn print_out(json: bool, bytes: &[u8]) {
    let _ = if json { io::stderr().write_all(bytes) } else { io::stdout().write_all(bytes) };
}

fn lock(held: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    // Nothing that holds it can leave it half changed.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(report: &Report, output: Output) -> Result<()> {
    if let Some(measurement) = &report.measurement {
        for server in &measurement.servers {
            let says = server.says.as_deref().map(|says| format!(", {says}")).unwrap_or_default();
            output.say(&format!(
                "{}: {} over MCP {}{says}",
                server.tool,
                count(server.functions, "function"),
                server.protocol
            ));
            if let Tier::Zero { .. } = &server.tier {
                output.say(&format!("{}: {}", server.tool, server.tier));
            }
            for layer in &server.missing {
                output.say(&format!("{}: the sandbox does without {layer}", server.tool));
            }
        }
        for remote in &measurement.remote {
            output.say(&match remote.snapshot {
                Some(functions) => format!(
                    "{}: remote, not dialled; snapshots/{}.json stands for it, with {}",
                    remote.tool,
                    remote.tool,
                    count(functions, "function")
                ),
                None => format!(
                    "{}: remote, not dialled; nothing says what it lists until snapshots/{}.json is committed",
                    remote.tool, remote.tool
                ),
            });
        }
    }
    for change in &report.changes {
        output.data(&format!(
            "{} {}\n{}",
            change.id,
            shown::headline(&change.difference),
            shown::difference(&change.difference, output.colors_data())
        ))?;
    }
    if report.evals > 0 {
        output.say(&format!(
            "{} checked for shape, and not replayed yet",
            count(report.evals, "eval")
        ));
    }
    if let (true, false, Some(_)) = (report.checked, report.failed(), &report.measurement) {
        output.data(&format!("{LISTING} is as it was measured"))?;
    } else if let (true, Some(measurement)) = (report.written, &report.measurement) {
        output.data(&format!(
            "Wrote {LISTING}: {} as the test node listed them; commit it, so inspect and the hub can show them",
            count(measurement.listing.functions.len(), "function")
        ))?;
    } else if !report.checked {
        output.error_line(&format!("{LISTING} was left as it is"));
    }
    Ok(())
}

pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn as_json(report: &Report) -> Value {
    let mut value = json!({
        "format": FORMAT,
        "name": report.name,
        "version": report.version,
        "written": report.written,
        "problems": report.findings.iter().map(report::problem_json).collect::<Vec<_>>(),
        "changes": report.changes.iter().map(|change| json!({
            "name": change.id.as_str(),
            "labels": change.difference.labels.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "pointers": change.difference.pointers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    });
    if report.checked {
        value["differs"] = report.differs.iter().flat_map(Differs::names).collect();
    }
    if let Some(measurement) = &report.measurement {
        value["servers"] = measurement.servers.iter().map(|server| json!({
            "tool": server.tool.as_ref() as &str,
            "protocol": server.protocol.to_string(),
            "says": server.says,
            "functions": server.functions,
            "sandbox": {
                "tier": u8::from(server.tier == Tier::One),
                "reason": if let Tier::Zero { reason } = &server.tier { Some(reason) } else { None },
                "missing": server.missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
            },
        })).collect();
        value["remote"] = measurement
            .remote
            .iter()
            .map(|remote| {
                json!({
                    "tool": remote.tool.as_ref() as &str,
                    "snapshot": remote.snapshot,
                })
            })
            .collect();
        value["functions"] = measurement
            .listing
            .functions
            .iter()
            .map(|function| {
                json!({
                    "name": function.id.as_str(),
                    "hash": function.hash.to_string(),
                })
            })
            .collect();
        value["left_out"] = measurement.listing.left_out.iter().map(left_out_json).collect();
    }
    value
}
