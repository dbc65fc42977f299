//! `oz0 plugin test`: measures what the servers list, writes it down, runs the contract tests.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use oz0_diagnostic::{Diagnostic, Level, report};
use oz0_listing::escape;
use oz0_listing::file::ListingFile;
use oz0_measure::{Change, EraChoice, Event, Measurement, Measurer, Options, changes};
use oz0_plugin::manifest::Manifest;
use oz0_plugin::{LISTING, Plugin, write_atomically};
use oz0_server::{Environments, Launcher, Tier, TierChoice};
use serde_json::{Value, json};

use super::inspect::left_out_json;
use super::shown;
use crate::cli::{Era, Test};
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::output::Output;
use crate::progress::Progress;

/// What a run found, for both forms of the report.
struct Report {
    name: String,
    version: String,
    measurement: Option<Measurement>,
    changes: Vec<Change>,
    written: bool,
    findings: Vec<Diagnostic>,
    evals: usize,
}

pub(crate) fn run(arguments: &Test, settings: &Settings, output: Output) -> Result<Exit> {
    let plugin = Plugin::load(&arguments.dir)?;
    let Some(manifest) = plugin.manifest() else {
        output.findings(plugin.diagnostics());
        if arguments.json {
            let problems: Vec<Value> =
                plugin.diagnostics().iter().map(report::problem_json).collect();
            output.data(&serde_json::to_string_pretty(
                &json!({ "format": FORMAT, "problems": problems }),
            )?)?;
        }
        return Ok(Exit::Findings);
    };
    let report = test(arguments, settings, output, &plugin, manifest)?;
    output.findings(&report.findings);
    if arguments.json {
        output.data(&as_json(&report)?)?;
    } else {
        tell(&report, output)?;
    }
    let failed = report.findings.iter().any(|finding| finding.level == Level::Error);
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

/// The format of the report as JSON.
const FORMAT: &str = "oz0.test.v1";

fn test(
    arguments: &Test,
    settings: &Settings,
    output: Output,
    plugin: &Plugin,
    manifest: &Manifest,
) -> Result<Report> {
    let mut report = Report {
        name: manifest.name.as_str().to_owned(),
        version: manifest.version.to_string(),
        measurement: None,
        changes: Vec::new(),
        written: false,
        findings: plugin.diagnostics().to_vec(),
        evals: plugin.evals().len(),
    };
    for unpackable in plugin.unpackable() {
        output.say(&format!(
            "{} is {} and is no part of the plugin",
            escape::line(&unpackable.path),
            unpackable.reason
        ));
    }
    if report.findings.iter().any(|finding| finding.level == Level::Error) {
        return Ok(report);
    }

    let progress = Progress::new(output);
    let say = progress.clone();
    let oz0 = std::env::current_exe().context("cannot find oz0's own program")?;
    let environments = Environments::new(
        &oz0,
        &settings.cache,
        Arc::new(move |line: &str| say.now(line.to_owned())),
    );
    let launcher = Launcher::new(&oz0, &settings.cache, tier_choice())?;
    let options = Options {
        era: match arguments.era {
            Era::Probe => EraChoice::Probe,
            Era::Modern => EraChoice::Modern,
            Era::Legacy => EraChoice::Legacy,
        },
        timeout: Duration::from_secs(arguments.timeout),
        secrets: secrets(arguments, manifest)?,
    };
    let watch = |event: Event<'_>| watch(&progress, arguments.json, &event);
    let measurer = Measurer::new(&launcher, &environments, options, &watch);

    report.findings.extend(measurer.lock(plugin, manifest, arguments.relock)?);
    // What was locked is part of the plugin, and of its digest.
    let plugin = Plugin::load(&arguments.dir)?;
    if !report.findings.iter().any(|finding| finding.level == Level::Error) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        runtime.block_on(async {
            let mut measurement = measurer.measure(&plugin, manifest).await?;
            report.findings.append(&mut measurement.findings);
            if !report.findings.iter().any(|finding| finding.level == Level::Error) {
                write(&plugin, &measurement, &mut report)?;
                if !arguments.no_contract_tests {
                    // The listing that was just written is one of the files that the tests get.
                    let plugin = Plugin::load(&arguments.dir)?;
                    report.findings.extend(measurer.run_contract_tests(&plugin, manifest).await?);
                }
            }
            report.measurement = Some(measurement);
            anyhow::Ok(())
        })?;
    }
    progress.finish();
    Ok(report)
}

/// Writes the measured listing, having compared it with the one that is there.
fn write(plugin: &Plugin, measurement: &Measurement, report: &mut Report) -> Result<()> {
    if let Some(committed) = plugin.listing_state()?.listing() {
        report.changes = changes(committed, &measurement.listing);
    }
    let file = ListingFile {
        source_digest: plugin.source_digest()?,
        functions: measurement.listing.functions.clone(),
        left_out: measurement.listing.left_out.clone(),
    };
    write_atomically(&plugin.root().join(LISTING), file.write().as_bytes())?;
    report.written = true;
    Ok(())
}

fn tier_choice() -> TierChoice {
    match std::env::var("OZ0_SANDBOX") {
        Ok(value) if value == "0" => TierChoice::Zero { reason: "OZ0_SANDBOX=0 is set".to_owned() },
        _ => TierChoice::Best,
    }
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
        Event::Printed(bytes) => progress.print(|| {
            // A report in JSON has standard output for itself.
            let _ =
                if json { io::stderr().write_all(bytes) } else { io::stdout().write_all(bytes) };
        }),
    }
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
            "{} lists itself differently than in {LISTING}: {}\n{}",
            change.id,
            shown::labels(&change.difference),
            shown::difference(&change.difference, output.colors_data())
        ))?;
    }
    if report.evals > 0 {
        output.say(&format!(
            "{} checked for shape, and not replayed yet",
            count(report.evals, "eval")
        ));
    }
    if let (true, Some(measurement)) = (report.written, &report.measurement) {
        output.data(&format!(
            "Wrote {LISTING}: {} as the test node listed them; commit it, so inspect and the hub can show them",
            count(measurement.listing.functions.len(), "function")
        ))?;
    } else {
        output.error_line(&format!("{LISTING} was left as it is"));
    }
    Ok(())
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn as_json(report: &Report) -> Result<String> {
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
    Ok(serde_json::to_string_pretty(&value)?)
}
