//! `oz0 plugin install` and `oz0 plugin update`: hand a plugin's bundle to the edge, which has its nodes run it.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result};
use oz0_api::plugin::{Install, PluginStatus};
use oz0_api::rollout::Rollout;
use oz0_bundle::{Bundle, PackError, ReadError, pack, read};
use oz0_local::open_regular;
use oz0_node::{Asked, describe_bundle};
use oz0_plugin::limits;
use oz0_plugin::manifest::{HookPoint, Manifest};
use serde_json::json;

use super::locked::locked;
use super::pack::{complete, refused};
use super::promote;
use super::update::{self, Update};
use crate::cli;
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused};
use crate::output::Output;
use crate::words::joined;

/// What is said of a plugin that is not taken.
pub(super) const DONE: &str = "installed";

/// A version that is to be installed, and how it was asked for.
pub(crate) struct Wanted<'a> {
    /// The folder, or the bundle.
    plugin: &'a Path,
    pub(super) show: bool,
    pub(super) yes: bool,
    pub(super) json: bool,
    /// To the edge.
    pub(super) terms: Install,
}

impl<'a> From<&'a cli::Install> for Wanted<'a> {
    fn from(arguments: &'a cli::Install) -> Self {
        let cli::Install { plugin, show, yes, json } = arguments;
        Self { plugin, show: *show, yes: *yes, json: *json, terms: Install::default() }
    }
}

impl<'a> From<&'a cli::Update> for Wanted<'a> {
    fn from(arguments: &'a cli::Update) -> Self {
        let cli::Update { plugin, canary, percent, downgrade, show, yes, json } = arguments;
        let named = (!canary.is_empty()).then(|| Rollout::Nodes(canary.iter().cloned().collect()));
        let rollout = percent.map(Rollout::Percent).or(named);
        let terms = Install { update: true, rollout, downgrade: *downgrade, ..Install::default() };
        Self { plugin, show: *show, yes: *yes, json: *json, terms }
    }
}

pub(crate) fn run(wanted: &Wanted<'_>, settings: &Settings, output: Output) -> Result<Exit> {
    let Some((bytes, bundle)) = locked(wanted.plugin, settings, output)? else {
        return Ok(Exit::Findings);
    };
    let report = oz0_lint::lint(&bundle.plugin, &oz0_lint::Request::default())?;
    if refused(&report.problems, DONE, output) {
        return Ok(Exit::Findings);
    }
    if let Some(parts) = bundle.plugin.manifest().and_then(not_run) {
        output.say(&parts);
    }
    let description = describe_bundle(&bundle)?;
    let expected = update::expected(&bundle.plugin)?;
    let asks = bundle.plugin.manifest().map(Asked::by).unwrap_or_default();
    drop(bundle);
    edge::ask(settings, async |client| {
        let update = Update::look(&client, &description, expected, &asks).await?;
        if wanted.show {
            return update.show(wanted.json, output);
        }
        if !update.agreed(wanted, output)? {
            return Ok(Exit::Findings);
        }
        client.put_bundle(description.digest, bytes.into()).await?;
        let status = client.install_on(&description, &wanted.terms).await?;
        if wanted.json {
            output.json(&json!(status))?;
            return Ok(Exit::Done);
        }
        if wanted.terms.rollout.is_some() {
            return offered(&status, output);
        }
        output.data(&format!("Installed {} {}: {}", status.name, status.version, status.digest))?;
        let nodes = client.nodes().await?;
        output.say(if update.is_installed() {
            "it was installed already, with the same files: nothing changed"
        } else if !nodes.iter().any(|node| node.live) {
            "no node is there to run it yet; see: oz0 node list"
        } else if status.tools.iter().any(|tool| tool.snapshot) {
            "what was approved of this version before counts again; see: oz0 plugin list"
        } else {
            "the first node that runs it takes its snapshot; see: oz0 plugin list"
        });
        Ok(Exit::Done)
    })
}

/// What became of a candidate.
fn offered(status: &PluginStatus, output: Output) -> Result<Exit> {
    let Some(candidate) = &status.candidate else {
        // Somebody else decided about it meanwhile.
        output.say("it is no candidate any more; see: oz0 plugin list");
        return Ok(Exit::Findings);
    };
    let PluginStatus { name, version, digest, .. } = &candidate.status;
    output.data(&format!("Candidate {name} {version}: {digest}"))?;
    output.say(&format!(
        "it runs on {}; the other nodes go on with {}\nrun it on every node with: oz0 plugin promote {name}; take it back \
         with: oz0 plugin rollback {name}",
        promote::nodes(candidate),
        status.version
    ));
    Ok(Exit::Done)
}

/// A bundle's bytes: the file's own, or those that a folder packs to.
pub(super) fn bytes(path: &Path, output: Output) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    if path.is_dir() {
        let Some(plugin) = complete(path, DONE, output)? else { return Ok(None) };
        return match pack(&plugin, &mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(PackError::Findings(findings)) => {
                refused(&findings, DONE, output);
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("could not pack {}", path.display())),
        };
    }
    let reading = || format!("could not read {}", path.display());
    // A pipe would be waited for, and a device may never end.
    let file = open_regular(path).with_context(reading)?;
    file.take(limits::PACKED + 1).read_to_end(&mut bytes).with_context(reading)?;
    Ok(Some(bytes))
}

pub(super) fn unpacked(bytes: &[u8], path: &Path, output: Output) -> Result<Option<Bundle>> {
    match read(bytes, path) {
        Ok(bundle) => Ok(Some(bundle)),
        Err(ReadError::Findings(findings)) => {
            refused(&findings, DONE, output);
            Ok(None)
        }
        Err(ReadError::Refused(fault)) => {
            Err(Refused::new(format!("{} is no bundle: {fault}", path.display()))
                .hint("give a plugin's folder, or what `oz0 plugin pack` wrote")
                .into())
        }
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

/// Whether a hook is called around a model, and not around calls.
fn on_models(point: HookPoint) -> bool {
    matches!(point, HookPoint::BeforeModel | HookPoint::AfterModel)
}

/// What of a manifest no node runs yet, in a sentence.
fn not_run(manifest: &Manifest) -> Option<String> {
    let parts: Vec<&str> = [
        ("hooks on models", manifest.hooks.iter().all(|hook| !on_models(hook.on.value))),
        ("agents", manifest.agents.is_empty()),
        ("flows", manifest.flows.is_empty()),
        ("harnesses", manifest.harnesses.is_empty()),
        ("event sources", manifest.event_sources.is_empty()),
        ("channels", manifest.channels.is_empty()),
        ("skills", manifest.skills.is_empty()),
    ]
    .into_iter()
    .filter_map(|(part, none)| (!none).then_some(part))
    .collect();
    let mut said = Vec::new();
    if !parts.is_empty() {
        said.push(format!("its {} are shown, and not run yet", joined(parts)));
    }
    if !manifest.connections.is_empty() {
        let names = joined(manifest.connections.iter().map(|(name, _)| name.value.as_str()));
        said.push(format!("no token of its connections is handed on yet: {names}"));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}
