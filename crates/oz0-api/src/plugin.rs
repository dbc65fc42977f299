//! A plugin as it reaches the edge: a description in plain types.
//!
//! The edge never opens a plugin's folder or bundle. Whoever registers a plugin has loaded it and
//! says here what the edge decides on: which tools there are and where their calls go, what the
//! author overrides, and what the committed measured listing says.

use std::collections::{BTreeMap, BTreeSet};

use oz0_listing::{Digest, FunctionId, Listing, ListingHash, Pointer, ToolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::change::Change;
use crate::id::{
    ConnectionName, Endpoint, FunctionGrant, NodeName, PluginName, PluginVersion, SecretName,
    UnixMillis, VersionRange,
};
use crate::node::LeftOut;
use crate::policy::{Approval, Hook, Rule};
use crate::rollout::{Rollout, text};

/// The terms on which a version is installed; query parameters of its `PUT`.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The folder that the plugin is run from until now, where another one is to take its place.
    #[serde(default)]
    pub instead_of: Option<String>,
    /// Only where a version of the plugin is installed: one that was removed stays removed.
    #[serde(default)]
    pub update: bool,
    /// The nodes that run it as a candidate, while all others go on with the installed version; without, every node runs it.
    #[serde(default, with = "text")]
    #[schemars(with = "Option<String>", regex(pattern = "^(nodes:.+|percent:[0-9]{1,3})$"))]
    pub rollout: Option<Rollout>,
    /// Also where the installed version is a newer one.
    #[serde(default)]
    pub downgrade: bool,
}

/// What a plugin's version is, for the edge.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginDescription {
    /// The manifest's `name`.
    pub name: PluginName,
    /// The manifest's `version`.
    pub version: PluginVersion,
    /// The bundle's digest; in dev mode the folder's source digest, which moves with its files.
    pub digest: Digest,
    /// Whether the version is a bundle or a folder that is run in place.
    pub source: Source,
    /// The manifest's `title`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The manifest's `description`.
    #[serde(default)]
    pub description: String,
    /// The tools by ID.
    pub tools: BTreeMap<ToolId, ToolDescription>,
    /// The rules that the manifest suggests for its own functions, the first first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<Rule>,
    /// The functions that are called around calls, in the order of the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
    /// What `tools.listing.json` says, where the plugin has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Vec<Measured>>,
    /// The parts of other plugins that it uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub uses: BTreeMap<PluginName, Uses>,
    /// The names of its agents.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// The names of its skills.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub skills: BTreeSet<String>,
    /// The secrets that its processes are given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<SecretName, Need>,
    /// Its accounts at outside systems.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connections: BTreeMap<ConnectionName, ConnectionDescription>,
}

/// Whether a plugin's processes run without a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// They do not.
    Required,
    /// They do.
    Optional,
}

/// An account at an outside system, as a manifest has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionDescription {
    /// The secrets that connecting asks for, in the manifest's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretName>,
    /// What differs from account to account, with its default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Option<String>>,
    /// The functions that need each of the system's scopes: those whose calls get the token.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<String, BTreeSet<FunctionId>>,
}

/// What a plugin uses of another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uses {
    /// The versions that work; any, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionRange>,
    /// Its functions, or whole tools.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<FunctionGrant>,
    /// Its agents.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// Its skills.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub skills: BTreeSet<String>,
}

/// The media type of a bundle.
pub const BUNDLE_TYPE: &str = "application/vnd.oz0.bundle";

/// Where a version's files are.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A bundle: its files never change under one version.
    Bundle,
    /// Dev mode: this folder, run in place.
    Dev {
        /// The folder's absolute path on the node's machine.
        folder: String,
    },
}

impl Source {
    /// Whether it is a folder run in place.
    pub fn is_dev(&self) -> bool {
        matches!(self, Self::Dev { .. })
    }
}

/// One tool of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDescription {
    /// What serves it.
    pub backend: Backend,
    /// The manifest's overrides, by the function's bare name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, Override>,
    /// Which calls of the whole tool a person is asked about.
    #[serde(default, skip_serializing_if = "Approval::is_never")]
    pub approval: Approval,
    /// The bare names of the functions of which a person decides every call.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub requires_approval: BTreeSet<String>,
    /// The connection that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionName>,
    /// The URL of a remote server as the manifest has it, placeholders and all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl ToolDescription {
    /// A tool of which nothing is said but what serves it.
    pub fn new(backend: Backend) -> Self {
        Self {
            backend,
            overrides: BTreeMap::new(),
            approval: Approval::Never,
            requires_approval: BTreeSet::new(),
            connection: None,
            url: None,
        }
    }

    /// The endpoint of a remote tool.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match &self.backend {
            Backend::Remote { endpoint } => Some(endpoint),
            Backend::Process | Backend::Package => None,
        }
    }
}

/// What serves a tool.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Backend {
    /// `mcp:`, a child process.
    Process,
    /// `package:`, a child process out of a package registry.
    Package,
    /// `url:`, a remote server.
    Remote {
        /// Where its calls go.
        endpoint: Endpoint,
    },
}

/// What the manifest merges over a function's listing. Never hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Override {
    /// Hints, each replacing the server's one of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<serde_json::Map<String, serde_json::Value>>,
    /// A whole output schema, instead of the server's: half of one and half of the other would be
    /// neither's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<serde_json::Value>,
    /// Where in the arguments the text stands that gets the AI label.
    #[serde(default, rename = "ai_label", skip_serializing_if = "Option::is_none")]
    pub ai_label: Option<Pointer>,
}

impl Override {
    /// `listing` with this merged over it: what models and MCP clients read. The result is escaped
    /// and canonical like any listing; `None` where the merge is no listing any more (an override
    /// with two member names that escape to one), and then nothing is served rather than half.
    pub fn merge(&self, listing: &Listing) -> Option<Listing> {
        if *self == Self::default() {
            return Some(listing.clone());
        }
        let mut value: serde_json::Value = serde_json::from_str(listing.canonical()).ok()?;
        let members = value.as_object_mut()?;
        if let Some(hints) = &self.annotations {
            let merged = members
                .entry("annotations")
                .or_insert_with(|| serde_json::Value::Object(serde_json::Map::new()));
            if let Some(merged) = merged.as_object_mut() {
                merged.extend(hints.clone());
            } else {
                *merged = serde_json::Value::Object(hints.clone());
            }
        }
        if let Some(schema) = &self.output_schema {
            members.insert("outputSchema".to_owned(), schema.clone());
        }
        Listing::read(&value.to_string(), &[]).ok()
    }
}

/// One function of the committed `tools.listing.json`.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The function.
    pub id: FunctionId,
    /// The hash of its listing as `plugin test` measured it.
    pub hash: ListingHash,
}

/// Where a version stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionState {
    /// Assigned to some nodes, while the others run the installed version.
    Candidate,
    /// Assigned to every node that runs no candidate.
    Installed,
    /// Another version of the plugin took its place; a rollback brings it back.
    Replaced,
    /// It was taken back: a candidate that was not promoted, or an installed version that went for the one before it.
    Withdrawn,
    /// Its plugin was removed. Its snapshot stays.
    Removed,
}

impl VersionState {
    /// Every state, for tables and tests.
    pub const ALL: [Self; 5] =
        [Self::Candidate, Self::Installed, Self::Replaced, Self::Withdrawn, Self::Removed];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Installed => "installed",
            Self::Replaced => "replaced",
            Self::Withdrawn => "withdrawn",
            Self::Removed => "removed",
        }
    }
}

/// A plugin in `plugin list`.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct PluginStatus {
    /// Its name.
    pub name: PluginName,
    /// The version that nodes run.
    pub version: PluginVersion,
    /// That version's digest.
    pub digest: Digest,
    /// Whether it is a bundle or a folder run in place.
    pub source: Source,
    /// The manifest's `title`.
    pub title: Option<String>,
    /// The manifest's `description`.
    pub description: String,
    /// Since when it is installed.
    pub installed_at: UnixMillis,
    /// Its tools.
    pub tools: Vec<ToolStatus>,
    /// Its functions, callable or not.
    pub functions: Vec<FunctionStatus>,
    /// What waits for approval.
    pub changes: Vec<Change>,
    /// Functions whose snapshot differs from the measured listing. Nothing is blocked by it.
    pub mismatches: BTreeSet<FunctionId>,
    /// The version that a rollback of this one brings back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PluginVersion>,
    /// Another version, which some nodes run in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Box<Candidate>>,
}

/// A version that some nodes run, with a snapshot and changes of its own.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Candidate {
    /// On which nodes.
    pub rollout: Rollout,
    /// Those of them that the edge knows.
    pub nodes: Vec<NodeName>,
    /// What stands on it.
    pub status: PluginStatus,
}

/// A tool in `plugin list`.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct ToolStatus {
    /// Its ID.
    pub tool: ToolId,
    /// The endpoint that the manifest names, of a remote tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// Whether its first complete listing was taken.
    pub snapshot: bool,
    /// What each node says of it.
    pub nodes: Vec<ToolOnNode>,
}

/// What a node last said of a tool.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct ToolOnNode {
    /// The node.
    pub node: NodeName,
    /// When it said so.
    pub at: UnixMillis,
    /// What it lists.
    pub functions: Vec<FunctionId>,
    /// What it left out, and why.
    pub left_out: Vec<LeftOut>,
    /// Why there is no listing, where its last one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The version that the node goes on with because of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<PluginVersion>,
}

/// A function in `plugin list`.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct FunctionStatus {
    /// Its ID.
    pub id: FunctionId,
    /// The name models know it by ([`oz0_listing::ModelName`] of the ID).
    pub model_name: String,
    /// Whether its calls go through, somewhere.
    pub state: FunctionState,
    /// The accepted hashes: one, but where nodes list differently.
    pub accepted: Vec<ListingHash>,
}

/// Whether a function's calls go through.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FunctionState {
    /// A node that is alive lists it as accepted, and no node lists it otherwise.
    Callable,
    /// Accepted, and no node that is alive lists it.
    NotListed,
    /// Accepted, and its calls are refused on every node that is alive: it lists itself as accepted and
    /// cannot be called so, or its tool's server could not be started or listed.
    NotCallable {
        /// Why, in one line.
        reason: String,
    },
    /// What some node lists waits for approval; on other nodes it may be callable.
    Waiting,
    /// Its tool's endpoint moved, and the move waits for approval.
    EndpointWaiting,
    /// Another function has its model name: one of another plugin had it first, or one of its own plugin
    /// would have it as well, and then neither has it.
    LeftOut {
        /// That plugin.
        plugin: PluginName,
        /// That function.
        function: FunctionId,
    },
}

/// The catalog: what models and MCP clients read, and what waits beside it.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Catalog {
    /// Every function of every installed plugin, by ID; those of a candidate beside those of the installed version.
    pub functions: Vec<CatalogFunction>,
}

/// A function in the catalog.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct CatalogFunction {
    /// Its ID.
    pub id: FunctionId,
    /// The name models know it by ([`oz0_listing::ModelName`] of the ID).
    pub model_name: String,
    /// Its plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// Whether that version is a candidate, which some nodes run in place of the installed one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub candidate: bool,
    /// Whether its calls go through.
    pub state: FunctionState,
    /// The snapshot's listings: one, but where nodes list differently; none for a function that was
    /// never accepted.
    pub accepted: Vec<CatalogListing>,
    /// What waits for approval, with the new listings.
    pub changes: Vec<Change>,
}

/// One accepted listing.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct CatalogListing {
    /// Its hash, which the overrides do not touch.
    pub hash: ListingHash,
    /// The listing as its server gave it when it was accepted: escaped, canonical.
    pub snapshot: Box<RawValue>,
    /// The listing with the manifest's overrides merged over it: what is served.
    pub served: Option<Box<RawValue>>,
}
