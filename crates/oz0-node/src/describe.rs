//! A loaded plugin in the plain types in which the edge hears of it.

use std::collections::BTreeMap;

use oz0_api::plugin::{Backend, Measured, Override, PluginDescription, Source, ToolDescription};
use oz0_diagnostic::report;
use oz0_listing::file::ListingFile;
use oz0_plugin::manifest::{self, Annotations, Manifest};
use oz0_plugin::{ListingState, LoadError, Plugin};
use serde_json::{Map, Value};

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
        measured,
    })
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
        tools.insert(id.value.clone(), ToolDescription { backend, overrides });
    }
    Ok(tools)
}

fn override_of(said: &manifest::Override) -> Override {
    Override {
        annotations: said.annotations.as_ref().map(|hints| annotations(hints)),
        output_schema: said
            .output_schema
            .as_ref()
            .map(|schema| Value::Object(schema.value.clone())),
    }
}

fn annotations(said: &Annotations) -> Map<String, Value> {
    let mut hints = Map::new();
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
