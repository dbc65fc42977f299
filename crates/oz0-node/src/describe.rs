//! A loaded plugin in the plain types in which the edge hears of it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::plugin::{
    Backend, ConnectionDescription, Measured, Need, Override, PluginDescription, Source,
    ToolDescription, Uses,
};
use oz0_api::policy::{self, Action, Hook, HookPoint, HookScope, Rule};
use oz0_api::{ConnectionName, PluginName, SecretName};
use oz0_bundle::Bundle;
use oz0_diagnostic::report;
use oz0_listing::file::ListingFile;
use oz0_plugin::manifest::{self, Annotations, Manifest, PartName};
use oz0_plugin::{List, ListingState, LoadError, Map, Plugin};
use serde_json::Value;

/// Why a plugin cannot be described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescribeError {
    /// Its files could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its manifest has errors; each with its place, a line each.
    #[error("the plugin in {folder} does not load:\n{findings}")]
    Findings {
        /// The folder.
        folder: String,
        /// The findings.
        findings: String,
    },
    /// Something in it that no edge takes.
    #[error("the plugin in {folder} cannot be described: {reason}")]
    Unfit {
        /// The folder.
        folder: String,
        /// What.
        reason: String,
    },
}

/// Says of a plugin what the edge decides on. Reads and hashes every file of it, so it blocks.
pub fn describe(plugin: &Plugin, source: Source) -> Result<PluginDescription, DescribeError> {
    let folder = || plugin.root().display().to_string();
    let Some(manifest) = plugin.manifest() else {
        let findings = report::concise(plugin.diagnostics());
        return Err(DescribeError::Findings { folder: folder(), findings });
    };
    let unfit = |error: &dyn std::fmt::Display| DescribeError::Unfit {
        folder: folder(),
        reason: error.to_string(),
    };
    let measured = match plugin.listing_state()? {
        ListingState::Fresh(listing) | ListingState::Stale { listing, .. } => {
            Some(measured(listing))
        }
        ListingState::Missing | ListingState::Unreadable(_) => None,
    };
    Ok(PluginDescription {
        name: manifest.name.as_str().parse().map_err(|error| unfit(&error))?,
        version: manifest.version.to_string().parse().map_err(|error| unfit(&error))?,
        digest: plugin.source_digest()?,
        source,
        title: manifest.title.as_ref().map(|title| title.as_str().to_owned()),
        description: manifest.description.as_str().to_owned(),
        tools: tools(manifest).map_err(|reason| unfit(&reason))?,
        policy: policy(manifest).map_err(|reason| unfit(&reason))?,
        hooks: hooks(manifest).map_err(|reason| unfit(&reason))?,
        measured,
        uses: uses(manifest).map_err(|reason| unfit(&reason))?,
        agents: names(&manifest.agents),
        skills: names(&manifest.skills),
        secrets: secrets(manifest).map_err(|reason| unfit(&reason))?,
        connections: connections(manifest).map_err(|reason| unfit(&reason))?,
    })
}

/// The names of a manifest's parts.
fn names<T>(parts: &Map<PartName, T>) -> BTreeSet<String> {
    parts.iter().map(|(name, _)| name.value.as_str().to_owned()).collect()
}

/// The secrets that its processes are given.
fn secrets(manifest: &Manifest) -> Result<BTreeMap<SecretName, Need>, String> {
    let Some(requires) = &manifest.requires else { return Ok(BTreeMap::new()) };
    let optional = requires.optional_secrets.iter().map(|name| (name, Need::Optional));
    // One that is in both lists is required.
    let all = optional.chain(requires.secrets.iter().map(|name| (name, Need::Required)));
    all.map(|(name, need)| {
        let name = name.as_str().parse().map_err(|error| format!("requires: {error}"))?;
        Ok((name, need))
    })
    .collect()
}

/// Its accounts at outside systems.
fn connections(
    manifest: &Manifest,
) -> Result<BTreeMap<ConnectionName, ConnectionDescription>, String> {
    let wrong = |error: oz0_api::IdError| format!("connections: {error}");
    let mut all = BTreeMap::new();
    for (name, said) in &manifest.connections {
        let secrets = said.secrets.iter().map(|name| name.as_str().parse().map_err(wrong));
        let description = ConnectionDescription {
            secrets: secrets.collect::<Result<_, _>>()?,
            params: said
                .params
                .iter()
                .map(|(name, param)| {
                    let default = param.default.as_ref().map(|value| value.as_str().to_owned());
                    (name.as_str().to_owned(), default)
                })
                .collect(),
            scopes: said
                .scopes
                .iter()
                .map(|(scope, functions)| {
                    let functions = functions.iter().map(|function| function.id().clone());
                    (scope.as_str().to_owned(), functions.collect())
                })
                .collect(),
        };
        all.insert(name.value.as_str().parse().map_err(wrong)?, description);
    }
    Ok(all)
}

/// What it uses of other plugins.
fn uses(manifest: &Manifest) -> Result<BTreeMap<PluginName, Uses>, String> {
    let mut all = BTreeMap::new();
    for (plugin, said) in &manifest.uses {
        let wrong = |error: oz0_api::IdError| format!("uses: {error}");
        let name: PluginName = plugin.value.as_str().parse().map_err(wrong)?;
        let texts =
            |parts: &List<PartName>| parts.iter().map(|part| part.as_str().to_owned()).collect();
        let version = said.version.as_ref().map(|range| range.as_str().parse());
        let tools = said.tools.iter().map(|grant| grant.target().to_string().parse());
        let uses = Uses {
            version: version.transpose().map_err(wrong)?,
            tools: tools.collect::<Result<_, _>>().map_err(wrong)?,
            agents: texts(&said.agents),
            skills: texts(&said.skills),
        };
        all.insert(name, uses);
    }
    Ok(all)
}

/// Says of a bundle what the edge decides on. Its digest is that of the archive. Hashes every file of it, so it blocks.
pub fn describe_bundle(bundle: &Bundle) -> Result<PluginDescription, DescribeError> {
    let description = describe(&bundle.plugin, Source::Bundle)?;
    Ok(PluginDescription { digest: bundle.digest, ..description })
}

fn measured(listing: ListingFile) -> Vec<Measured> {
    let of = |function: oz0_listing::Function| Measured { id: function.id, hash: function.hash };
    listing.functions.into_iter().map(of).collect()
}

fn tools(manifest: &Manifest) -> Result<BTreeMap<oz0_listing::ToolId, ToolDescription>, String> {
    let mut tools = BTreeMap::new();
    for (id, tool) in &manifest.tools {
        let backend = match tool.backend() {
            manifest::Backend::Mcp(_) => Backend::Process,
            manifest::Backend::Package(_) => Backend::Package,
            manifest::Backend::Url(url) => Backend::Remote {
                endpoint: url
                    .as_str()
                    .parse()
                    .map_err(|error| format!("tool {}: {error}", id.value))?,
            },
        };
        let overrides = tool
            .overrides
            .iter()
            .map(|(function, said)| (function.as_str().to_owned(), override_of(said)))
            .filter(|(_, said)| *said != Override::default())
            .collect();
        let description = ToolDescription {
            overrides,
            approval: match tool.approval() {
                manifest::Approval::Never => policy::Approval::Never,
                manifest::Approval::Writes => policy::Approval::Writes,
                manifest::Approval::Always => policy::Approval::Always,
            },
            requires_approval: tool
                .requires_approval
                .iter()
                .map(|function| function.as_str().to_owned())
                .collect(),
            connection: tool
                .connection
                .as_ref()
                .map(|name| name.as_str().parse())
                .transpose()
                .map_err(|error| format!("tool {}: {error}", id.value))?,
            url: match tool.backend() {
                manifest::Backend::Url(url) => Some(url.as_str().to_owned()),
                manifest::Backend::Mcp(_) | manifest::Backend::Package(_) => None,
            },
            ..ToolDescription::new(backend)
        };
        tools.insert(id.value.clone(), description);
    }
    Ok(tools)
}

/// The suggested rules.
fn policy(manifest: &Manifest) -> Result<Vec<Rule>, String> {
    let rule = |rule: &manifest::Rule| {
        Ok(Rule {
            matches: rule
                .matches
                .to_string()
                .parse()
                .map_err(|error| format!("policy: {error}"))?,
            action: match rule.action.value {
                manifest::Action::Allow => Action::Allow,
                manifest::Action::Ask => Action::Ask,
                manifest::Action::Refuse => Action::Refuse,
                manifest::Action::Judge => Action::Judge,
            },
            reason: rule.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            when: rule
                .when
                .iter()
                .map(|(pointer, schema)| (pointer.pointer().clone(), schema.as_json().clone()))
                .collect(),
        })
    };
    manifest.policy.iter().map(|spanned| rule(spanned)).collect()
}

/// The functions that are called around calls. A plugin that is no policy looks at its own calls alone: what others are
/// called with is none of its business, whatever it wishes.
pub(crate) fn hooks(manifest: &Manifest) -> Result<Vec<Hook>, String> {
    let watches_all = manifest.kind.as_ref().is_some_and(|kind| kind.as_str() == "policy");
    let mut hooks = Vec::new();
    for hook in &manifest.hooks {
        let on = match hook.on.value {
            manifest::HookPoint::BeforeCall => HookPoint::BeforeCall,
            manifest::HookPoint::AfterCall => HookPoint::AfterCall,
            manifest::HookPoint::BeforeModel | manifest::HookPoint::AfterModel => continue,
        };
        let written = hook.pattern.as_ref().map(|pattern| pattern.as_str());
        let (of, pattern) = match written.and_then(|written| written.split_once('/')) {
            Some((plugin, pattern)) => {
                let plugin: PluginName =
                    plugin.parse().map_err(|error| format!("hooks: {error}"))?;
                let of = if plugin.as_str() == manifest.name.as_str() {
                    HookScope::Own
                } else if watches_all {
                    HookScope::Plugin(plugin)
                } else {
                    return Err(format!(
                        "a hook looks at the calls of {plugin}, which only a plugin of `kind: policy` may"
                    ));
                };
                (of, Some(pattern))
            }
            None if watches_all => (HookScope::Every, written),
            None => (HookScope::Own, written),
        };
        hooks.push(Hook {
            on,
            of,
            matches: pattern
                .map(str::parse)
                .transpose()
                .map_err(|error| format!("hooks: {error}"))?,
            call: hook.call.id().clone(),
        });
    }
    Ok(hooks)
}

fn override_of(said: &manifest::Override) -> Override {
    Override {
        annotations: said.annotations.as_ref().map(|hints| annotations(hints)),
        output_schema: said
            .output_schema
            .as_ref()
            .map(|schema| Value::Object(schema.value.clone())),
        ai_label: said.ai_label.as_ref().map(|pointer| pointer.pointer().clone()),
    }
}

fn annotations(said: &Annotations) -> serde_json::Map<String, Value> {
    let mut hints = serde_json::Map::new();
    if let Some(title) = &said.title {
        hints.insert("title".to_owned(), title.as_str().into());
    }
    for (name, hint) in [
        ("readOnlyHint", &said.read_only),
        ("destructiveHint", &said.destructive),
        ("idempotentHint", &said.idempotent),
        ("openWorldHint", &said.open_world),
    ] {
        if let Some(hint) = hint {
            hints.insert(name.to_owned(), hint.value.into());
        }
    }
    hints
}
