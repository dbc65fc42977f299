//! `oz0 plugin inspect`: shows a plugin and its measured listing, and runs nothing of it.
//!
//! It is what a person reads before a plugin is installed, so nothing is cut short: every description in full, every
//! parameter, every key of the manifest.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use oz0_bundle::{Bundle, ReadError};
use oz0_diagnostic::{Diagnostic, Level, report};
use oz0_listing::{Digest, Function, LeftOut, escape};
use oz0_plugin::manifest::{Backend, Manifest, Override, Tool};
use oz0_plugin::{ListingState, LoadError, Plugin, SnapshotState};
use oz0_yaml::{Limits, Node};
use serde_json::{Value, json};

use super::{outline, shown};
use crate::cli::Inspect;
use crate::exit::{Exit, Refused};
use crate::output::Output;

/// Keys that the heading shows, or each tool of its own.
const IN_HEADING: [&str; 7] =
    ["name", "version", "kind", "title", "description", "license", "tools"];
/// Keys of a tool that its line shows.
const IN_TOOL_LINE: [&str; 3] = ["mcp", "package", "url"];

/// What is known of a plugin without running anything of it.
struct Seen {
    plugin: Plugin,
    state: ListingState,
    /// Remote tools' functions, from their committed snapshots.
    expected: Vec<Function>,
    findings: Vec<Diagnostic>,
    /// The whole manifest as it is written.
    tree: Option<Node>,
    /// Of a bundle: what says which one it is, and how many bytes it has.
    bundle: Option<(Digest, u64)>,
}

pub(crate) fn run(arguments: &Inspect, output: Output) -> Result<Exit> {
    let seen = see(arguments)?;
    output.findings(&seen.findings);
    for unpackable in seen.plugin.unpackable() {
        output.say(&format!(
            "{}: {}, so it is no part of the plugin",
            escape::line(&unpackable.path),
            unpackable.reason
        ));
    }
    let Some(manifest) = seen.plugin.manifest() else {
        if arguments.json {
            output.json(&json!({ "format": FORMAT, "problems": problems(&seen) }))?;
        }
        return Ok(Exit::Findings);
    };
    if arguments.json {
        output.json(&as_json(&seen, manifest)?)?;
    } else {
        output.data(&as_text(&seen, manifest, &arguments.plugin))?;
    }
    let failed = seen.findings.iter().any(|finding| finding.level == Level::Error);
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

/// The format of what `--json` prints.
const FORMAT: &str = "oz0.inspect.v1";

fn see(arguments: &Inspect) -> Result<Seen> {
    let (plugin, bundle) = match load(&arguments.plugin)? {
        Loaded::Folder(plugin) => (*plugin, None),
        Loaded::Bundle(bundle) => (bundle.plugin, Some((bundle.digest, bundle.packed))),
    };
    let state = plugin.listing_state().context("cannot tell whether the listing is fresh")?;
    let mut findings = plugin.diagnostics().to_vec();
    if let ListingState::Unreadable(finding) = &state {
        findings.push((**finding).clone());
    }
    if let Some(listing) = state.listing() {
        findings.extend(plugin.foreign_functions(listing)?);
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
    let tree = oz0_yaml::parse(plugin.source().text(), &Limits::MANIFEST).root;
    Ok(Seen { plugin, state, expected, findings, tree, bundle })
}

/// What was given.
enum Loaded {
    Folder(Box<Plugin>),
    Bundle(Box<Bundle>),
}

/// Loads a folder, or a bundle where a file is given that is called as one. A bundle that is refused is a finding about
/// it, as a manifest's is.
fn load(path: &Path) -> Result<Loaded> {
    let is_bundle = path.extension().is_some_and(|end| end == "oz0") && path.is_file();
    if !is_bundle {
        return Ok(Loaded::Folder(Box::new(Plugin::load(path)?)));
    }
    let file = File::open(path).with_context(|| format!("could not read {}", path.display()))?;
    match oz0_bundle::read(file, path) {
        Ok(bundle) => Ok(Loaded::Bundle(Box::new(bundle))),
        Err(ReadError::Refused(fault)) => {
            let what = format!("{} is refused: {fault}", path.display());
            Err(Refused::new(what).hint("get the bundle anew from whoever packed it").into())
        }
        Err(ReadError::Findings(findings)) => {
            let first = findings.first().map(|finding| finding.message.clone());
            let what = format!("{} is refused: its manifest does not decode", path.display());
            let error = Refused::new(match first {
                Some(first) => format!("{what}: {first}"),
                None => what,
            });
            Err(error.hint("get the bundle anew from whoever packed it").into())
        }
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

/// What to say of a listing that does not tell what the plugin's servers list now.
pub(super) fn listing_note(
    plugin: &Plugin,
    manifest: &Manifest,
    dir: &Path,
) -> Result<Option<String>> {
    if manifest.tools.iter().all(|(_, tool)| tool.is_remote()) {
        return Ok(None);
    }
    let state = plugin.listing_state()?;
    Ok(match state {
        ListingState::Fresh(_) => None,
        state => Some(format!("listing: {}", state_text(&state, &dir.to_string_lossy()))),
    })
}

fn problems(seen: &Seen) -> Vec<Value> {
    seen.findings.iter().map(report::problem_json).collect()
}

fn functions(seen: &Seen) -> Vec<&Function> {
    let measured = seen.state.listing().map(|listing| &listing.functions);
    let mut functions: Vec<&Function> =
        measured.into_iter().flatten().chain(&seen.expected).collect();
    functions.sort_by(|a, b| a.id.cmp(&b.id));
    functions
}

fn left_out(state: &ListingState) -> &[LeftOut] {
    state.listing().map_or(&[], |listing| &listing.left_out)
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
    if let Some(title) = &manifest.title {
        let _ = write!(text, " · {}", line(title.as_str()));
    }
    if let Some(kind) = &manifest.kind {
        let _ = write!(text, " · {}", line(kind.as_str()));
    }
    let _ = writeln!(text, " · {}", line(manifest.license.as_str()));
    let _ = writeln!(text, "{}", line(manifest.description.as_str()));

    let functions = functions(seen);
    for (key, tool) in &manifest.tools {
        let (kind, server) = server(tool);
        let _ = writeln!(text, "\n\u{1b}[1m{}\u{1b}[0m  {kind}: {}", key.value, line(&server));
        if let Some(node) =
            seen.tree.as_ref().and_then(|tree| member(member(tree, "tools")?, key.value.as_ref()))
        {
            outline::entries(&mut text, node, 1, &IN_TOOL_LINE);
        }
        let own: Vec<_> =
            functions.iter().filter(|function| function.id.tool() == key.value).collect();
        if own.is_empty() {
            let _ = writeln!(text, "  nothing is known of its functions");
        }
        for function in own {
            shown::function(&mut text, function, over(manifest, function));
        }
    }
    if let Some(tree) = &seen.tree {
        let mut rest = String::new();
        outline::entries(&mut rest, tree, 0, &IN_HEADING);
        if !rest.is_empty() {
            let _ = write!(text, "\n{rest}");
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
    let _ = match &seen.bundle {
        None => write!(text, "\nlisting: {}", state_text(&seen.state, &dir.to_string_lossy())),
        Some(_) => write!(text, "\nlisting: {}", state_of_bundle(&seen.state)),
    };
    if let Some((digest, bytes)) = &seen.bundle {
        let files = super::test::count(seen.plugin.packed().len(), "file");
        let _ = write!(text, "\nbundle: {files}, {bytes} bytes; {digest}");
    }
    text
}

fn member<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.get(name).map(|entry| &entry.value)
}

fn state_text(state: &ListingState, dir: &str) -> String {
    let dir = quoted(dir);
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

/// The same of a bundle, which nobody measures anew.
fn state_of_bundle(state: &ListingState) -> &'static str {
    match state {
        ListingState::Fresh(_) => "measured from the files as they are",
        ListingState::Stale { .. } => "stale: it was measured from other files than the bundle's",
        ListingState::Missing => {
            "not measured; nothing says what the plugin's servers list until a node starts them"
        }
        ListingState::Unreadable(_) => "tools.listing.json cannot be read",
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,~".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", escape::line(path).replace('\'', r"'\''"))
    }
}

/// What the manifest says of a function in its server's place.
fn over<'m>(manifest: &'m Manifest, function: &Function) -> Option<&'m Override> {
    let tool = manifest.tools.get(function.id.tool().as_str())?;
    tool.overrides.get(function.id.function()).map(|over| &over.value)
}

fn function_json(function: &Function, over: Option<&Override>) -> Result<Value> {
    let listing: Value = serde_json::from_str(function.listing.canonical())?;
    let mut value = json!({
        "name": function.id.as_str(),
        "tool": function.id.tool().as_ref() as &str,
        "hash": function.hash.to_string(),
        "listing": listing,
    });
    // What the listing says is the server's own; these are the hints in force, with the manifest's overrides merged.
    let hints = shown::merged(function, over);
    value["hints"] = hints.iter().map(|hint| (hint.name.to_owned(), json!(hint.value))).collect();
    let overridden = hints.iter().filter(|hint| hint.overridden);
    value["overridden"] = overridden.map(|hint| hint.name).collect();
    if let Some(reason) = &function.uncallable {
        value["uncallable"] = json!(reason);
    }
    if !function.unstable.is_empty() {
        value["unstable"] = function.unstable.iter().map(ToString::to_string).collect();
    }
    let hidden = shown::hidden(function);
    if !hidden.is_empty() {
        value["hidden_characters"] = hidden.into_iter().collect();
    }
    Ok(value)
}

pub(crate) fn left_out_json(entry: &LeftOut) -> Value {
    json!({ "tool": entry.tool.as_ref() as &str, "name": entry.name, "reason": entry.reason })
}

fn as_json(seen: &Seen, manifest: &Manifest) -> Result<Value> {
    let tools: Vec<Value> = manifest
        .tools
        .iter()
        .map(|(key, tool)| {
            let (kind, server) = server(tool);
            json!({ "id": key.value.as_ref() as &str, "server": kind, kind: server })
        })
        .collect();
    let functions = functions(seen)
        .into_iter()
        .map(|function| function_json(function, over(manifest, function)))
        .collect::<Result<Vec<_>>>()?;
    let mut value = json!({
        "format": FORMAT,
        "name": manifest.name.as_str(),
        "version": manifest.version.to_string(),
        "kind": manifest.kind.as_ref().map(|kind| kind.as_str()),
        "description": manifest.description.as_str(),
        "license": manifest.license.as_str(),
        "manifest": seen.tree.as_ref().map(outline::json),
        "source_digest": source_digest(&seen.plugin)?,
        "listing": state_word(&seen.state),
        "tools": tools,
        "functions": functions,
        "left_out": left_out(&seen.state).iter().map(left_out_json).collect::<Vec<_>>(),
        "problems": problems(seen),
    });
    if let Some((digest, bytes)) = &seen.bundle {
        value["bundle"] = json!({ "digest": digest.to_string(), "bytes": bytes });
    }
    Ok(value)
}

/// The digest; none of a plugin that is larger than any may be, which its problems say.
fn source_digest(plugin: &Plugin) -> Result<Option<String>> {
    match plugin.source_digest() {
        Ok(digest) => Ok(Some(digest.to_string())),
        Err(LoadError::TooLarge { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
