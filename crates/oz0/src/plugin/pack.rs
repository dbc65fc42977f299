//! `oz0 plugin pack`: checks a plugin as whoever gets it would, and writes its bundle.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oz0_bundle::{PackError, SBOM, draft, file_name, sbom};
use oz0_diagnostic::{Diagnostic, Level};
use oz0_listing::escape;
use oz0_plugin::manifest::Manifest;
use oz0_plugin::{Plugin, write_atomically};

use super::{inspect, target, test};
use crate::cli::{Era, Pack, Test};
use crate::config::Settings;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(arguments: &Pack, settings: &Settings, output: Output) -> Result<Exit> {
    if arguments.list_tools {
        let measured = test::run(&measure(arguments), settings, output)?;
        if measured != Exit::Done {
            return Ok(measured);
        }
    }
    let Some(plugin) = complete(&arguments.dir, "packed", output)? else {
        return Ok(Exit::Findings);
    };
    let Some(manifest) = plugin.manifest() else { return Ok(Exit::Findings) };
    let path = place(arguments, manifest);
    target::regular(&path)?;
    target::not_a_part(&path, &plugin)?;
    let packing = || format!("could not pack {}", path.display());
    let drafted = match draft(&plugin, &path) {
        Err(PackError::Findings(findings)) => {
            refused(&findings, "packed", output);
            return Ok(Exit::Findings);
        }
        // It says itself which file it is about.
        Err(PackError::Load(error)) => return Err(error.into()),
        drafted => drafted.with_context(packing)?,
    };
    // What is checked is what was packed, as whoever gets the bundle would read it.
    let report = oz0_lint::lint(&drafted.bundle.plugin, &oz0_lint::Request::default())?;
    if refused(&report.problems, "packed", output) {
        return Ok(Exit::Findings);
    }
    let (packed, _) = drafted.keep().with_context(packing)?;
    output.data(&format!(
        "Packed {}: {}, {}; {}",
        escape::line(&path.to_string_lossy()),
        test::count(packed.files, "file"),
        size(packed.packed),
        packed.digest
    ))?;
    Ok(Exit::Done)
}

/// What `plugin test` is asked for here: the listing, and no contract tests.
fn measure(arguments: &Pack) -> Test {
    Test {
        dir: arguments.dir.clone(),
        json: false,
        relock: false,
        check: false,
        no_contract_tests: true,
        secret: arguments.secret.clone(),
        share: Vec::new(),
        share_read: Vec::new(),
        era: Era::Probe,
        timeout: 60,
    }
}

/// The plugin in a folder, as it is handed on: checked, with its bill of materials. None where something is wrong with it, which
/// was said then, and that nothing was `done`.
pub(super) fn complete(dir: &Path, done: &str, output: Output) -> Result<Option<Plugin>> {
    let plugin = Plugin::load(dir)?;
    let mut findings = plugin.diagnostics().to_vec();
    findings.extend(plugin.publishing_findings()?);
    if refused(&findings, done, output) {
        return Ok(None);
    }
    let plugin = match with_materials(plugin, dir, output)? {
        Ok(plugin) => plugin,
        Err(findings) => {
            refused(&findings, done, output);
            return Ok(None);
        }
    };
    if let Some(manifest) = plugin.manifest()
        && let Some(stale) = inspect::listing_note(&plugin, manifest, dir)?
    {
        output.say(&stale);
    }
    Ok(Some(plugin))
}

/// Prints findings, and says that nothing was `done` where one is an error.
pub(super) fn refused(findings: &[Diagnostic], done: &str, output: Output) -> bool {
    output.findings(findings);
    let refused = findings.iter().any(|finding| finding.level == Level::Error);
    if refused {
        output.error_line(&format!("nothing was {done}"));
    }
    refused
}

/// The plugin with its bill of materials as its locks are now.
fn with_materials(
    plugin: Plugin,
    dir: &Path,
    output: Output,
) -> Result<Result<Plugin, Vec<Diagnostic>>> {
    let Some(manifest) = plugin.manifest() else { return Ok(Err(plugin.diagnostics().to_vec())) };
    let text = match sbom(&plugin, manifest)? {
        Ok(text) => text,
        Err(findings) => return Ok(Err(findings)),
    };
    if let Some(file) = plugin.file(SBOM)
        && plugin.read_file(file, text.len() as u64)? == text.as_bytes()
    {
        return Ok(Ok(plugin));
    }
    write_atomically(&plugin.root().join(SBOM), text.as_bytes())?;
    output.say(&format!("wrote {SBOM}"));
    let plugin = Plugin::load(dir)?;
    if plugin.file(SBOM).is_none() {
        output.say(&format!("{SBOM} is named in .oz0ignore, so the bundle has none"));
    }
    Ok(Ok(plugin))
}

/// Where the bundle is written.
fn place(arguments: &Pack, manifest: &Manifest) -> PathBuf {
    match &arguments.output {
        None => PathBuf::from(file_name(manifest)),
        Some(path) if path.is_dir() => path.join(file_name(manifest)),
        Some(path) => path.clone(),
    }
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ => format!("{}.{} MiB", bytes >> 20, (bytes >> 10) % 1024 * 10 / 1024),
    }
}
