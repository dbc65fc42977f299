//! `oz0 plugin inspect`: shows a plugin and its measured listing, and runs nothing of it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use oz0_diagnostic::{Diagnostic, Level, report};
use oz0_listing::file::ListingFile;
use oz0_listing::{Function, LeftOut, escape};
use oz0_plugin::manifest::{Backend, Manifest, Tool};
use oz0_plugin::{ListingState, Plugin, SnapshotState};
use serde_json::{Value, json};

use super::shown;
use crate::cli::Inspect;
use crate::exit::Exit;
use crate::output::Output;

/// What is known of a plugin without running anything of it.
struct Seen {
    plugin: Plugin,
    state: ListingState,
    /// Remote tools' functions, from their committed snapshots.
    expected: Vec<Function>,
    findings: Vec<Diagnostic>,
}

pub(crate) fn run(arguments: &Inspect, output: Output) -> Result<Exit> {
    let seen = see(arguments)?;
    output.findings(&seen.findings);
    let Some(manifest) = seen.plugin.manifest() else {
        if arguments.json {
            output.data(&problems_only(&seen)?)?;
        }
        return Ok(Exit::Findings);
    };
    if arguments.json {
        output.data(&as_json(&seen, manifest)?)?;
    } else {
        output.data(&as_text(&seen, manifest, &arguments.dir))?;
    }
    let failed = seen.findings.iter().any(|finding| finding.level == Level::Error);
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

fn see(arguments: &Inspect) -> Result<Seen> {
    let plugin = Plugin::load(&arguments.dir)?;
    let state = plugin.listing_state().context("cannot tell whether the listing is fresh")?;
    let mut findings = plugin.diagnostics().to_vec();
    if let ListingState::Unreadable(finding) = &state {
        findings.push((**finding).clone());
    }
    let mut expected = Vec::new();
    let tools = plugin.manifest().map(|manifest| &manifest.tools);
    for (key, _) in tools.into_iter().flatten().filter(|(_, tool)| tool.is_remote()) {
        match plugin.snapshot(&key.value)? {
            SnapshotState::Missing => {}
            SnapshotState::Present(snapshot) => expected.extend(snapshot.functions),
            SnapshotState::Unreadable(finding) => findings.push(*finding),
        }
    }
    Ok(Seen { plugin, state, expected, findings })
}

fn functions(seen: &Seen) -> Vec<&Function> {
    let measured = seen.state.listing().map(|listing| &listing.functions);
    let mut functions: Vec<&Function> =
        measured.into_iter().flatten().chain(&seen.expected).collect();
    functions.sort_by(|a, b| a.id.cmp(&b.id));
    functions
}

fn left_out(state: &ListingState) -> &[LeftOut] {
    state.listing().map_or(&[], |listing: &ListingFile| &listing.left_out)
}

fn state_word(state: &ListingState) -> &'static str {
    match state {
        ListingState::Missing => "missing",
        ListingState::Fresh(_) => "fresh",
        ListingState::Stale { .. } => "stale",
        ListingState::Unreadable(_) => "unreadable",
    }
}

fn server(tool: &Tool) -> (&'static str, String) {
    match tool.backend() {
        Backend::Mcp(mcp) => ("mcp", mcp.argv().join(" ")),
        Backend::Package(package) => ("package", package.to_string()),
        Backend::Url(url) => ("url", url.to_string()),
    }
}

fn as_text(seen: &Seen, manifest: &Manifest, dir: &Path) -> String {
    let line = |text: &str| escape::line(text).into_owned();
    let mut text = String::new();
    let _ = write!(text, "\u{1b}[1m{} {}\u{1b}[0m", manifest.name.value, manifest.version.value);
    if let Some(kind) = &manifest.kind {
        let _ = write!(text, " · {}", line(kind.as_str()));
    }
    let _ = writeln!(text, " · {}", line(manifest.license.as_str()));
    let _ = writeln!(text, "{}", line(manifest.description.as_str()));

    let functions = functions(seen);
    for (key, tool) in &manifest.tools {
        let (kind, server) = server(tool);
        let _ = writeln!(text, "\n\u{1b}[1m{}\u{1b}[0m  {kind}: {}", key.value, line(&server));
        let own: Vec<_> =
            functions.iter().filter(|function| function.id.tool() == key.value).collect();
        if own.is_empty() {
            let _ = writeln!(text, "  nothing is known of its functions");
        }
        let width = own.iter().map(|function| function.id.as_str().len()).max().unwrap_or(0);
        for function in own {
            let id = function.id.as_str();
            let _ = writeln!(text, "  {id:width$}  {}", shown::description(function, 72));
            let _ =
                writeln!(text, "  {:width$}  {} · {}", "", shown::hints(function), function.hash);
            if let Some(reason) = &function.uncallable {
                let _ = writeln!(text, "  {:width$}  its calls are refused: {}", "", line(reason));
            }
            for pointer in &function.unstable {
                let _ =
                    writeln!(text, "  {:width$}  not pinned: {}", "", line(&pointer.to_string()));
            }
        }
    }
    let left_out = left_out(&seen.state);
    if !left_out.is_empty() {
        let _ = writeln!(text, "\n\u{1b}[1mleft out\u{1b}[0m");
        for entry in left_out {
            let _ =
                writeln!(text, "  {}: {}: {}", entry.tool, line(&entry.name), line(&entry.reason));
        }
    }
    let _ = write!(text, "\nlisting: {}", state_text(&seen.state, &dir.to_string_lossy()));
    text
}

fn state_text(state: &ListingState, dir: &str) -> String {
    let dir = escape::line(dir);
    match state {
        ListingState::Fresh(_) => "measured from the files as they are".to_owned(),
        ListingState::Stale { .. } => format!(
            "stale: it was measured from other files than the plugin's now; measure it anew with: oz0 plugin test {dir}"
        ),
        ListingState::Missing => format!(
            "not measured; nothing says what the plugin's servers list until you run: oz0 plugin test {dir}"
        ),
        ListingState::Unreadable(_) => {
            format!("tools.listing.json cannot be read; write it anew with: oz0 plugin test {dir}")
        }
    }
}

fn function_json(function: &Function) -> Result<Value> {
    let listing: Value = serde_json::from_str(function.listing.canonical())?;
    let mut value = json!({
        "name": function.id.as_str(),
        "tool": function.id.tool().as_ref() as &str,
        "hash": function.hash.to_string(),
        "listing": listing,
    });
    if let Some(reason) = &function.uncallable {
        value["uncallable"] = json!(reason);
    }
    if !function.unstable.is_empty() {
        value["unstable"] = function.unstable.iter().map(ToString::to_string).collect();
    }
    Ok(value)
}

pub(crate) fn left_out_json(entry: &LeftOut) -> Value {
    json!({ "tool": entry.tool.as_ref() as &str, "name": entry.name, "reason": entry.reason })
}

fn as_json(seen: &Seen, manifest: &Manifest) -> Result<String> {
    let tools: Vec<Value> = manifest
        .tools
        .iter()
        .map(|(key, tool)| {
            let (kind, server) = server(tool);
            json!({ "id": key.value.as_ref() as &str, "server": kind, kind: server })
        })
        .collect();
    let functions = functions(seen).into_iter().map(function_json).collect::<Result<Vec<_>>>()?;
    let value = json!({
        "format": "oz0.inspect.v1",
        "name": manifest.name.as_str(),
        "version": manifest.version.to_string(),
        "kind": manifest.kind.as_ref().map(|kind| kind.as_str()),
        "description": manifest.description.as_str(),
        "license": manifest.license.as_str(),
        "source_digest": seen.plugin.source_digest()?.to_string(),
        "listing": state_word(&seen.state),
        "tools": tools,
        "functions": functions,
        "left_out": left_out(&seen.state).iter().map(left_out_json).collect::<Vec<_>>(),
        "problems": seen.findings.iter().map(report::problem_json).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&value)?)
}

fn problems_only(seen: &Seen) -> Result<String> {
    let problems: Vec<Value> = seen.findings.iter().map(report::problem_json).collect();
    Ok(serde_json::to_string_pretty(&json!({ "format": "oz0.inspect.v1", "problems": problems }))?)
}
