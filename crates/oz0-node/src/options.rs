//! How a node behaves. All of it is the operator's; nothing here is a manifest's or a server's to say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use oz0_api::PluginName;
use oz0_api::credential::Sensitive;
use oz0_server::Shares;

use crate::asked::Asked;
use crate::event::Tell;

/// How a node is run.
#[derive(Debug, Clone)]
pub struct NodeOptions {
    /// How old a listing may be when a call relies on it.
    pub verify_every: VerifyEvery,
    /// After how long without any listing an idle server is listed. Default 60 s.
    pub idle: Duration,
    /// What becomes of results that do not match the output schema.
    pub validate: Validate,
    /// Whether arguments that the input schema does not name are refused.
    pub arguments: Arguments,
    /// How much is taken, and how long is waited.
    pub limits: NodeLimits,
    /// How long a node goes on with what it holds when it has lost its edge. Default 1 h.
    pub edge_grace: Duration,
    /// How long a client that lists waits for servers that have not listed yet. Default 5 s.
    pub settle: Duration,
    /// How long it waits, all in all, while the environment of one of them is being made. Default: no longer than that.
    pub install: Duration,
    /// How long a call waits for a person who is asked about it. Default 10 min, 24 h at most.
    pub approval_timeout: Duration,
    /// The line that stands at the end of text which a manifest's `ai_label` points at. Default `[AI-generated]`.
    pub ai_label: String,
    /// The values of secrets that plugins declare, by name; they stand before what the edge keeps.
    pub secrets: BTreeMap<String, Sensitive>,
    /// The values of secrets that only one plugin is given, by name; they stand before those for all.
    pub secrets_of: BTreeMap<PluginName, BTreeMap<String, Sensitive>>,
    /// What plugins asked for when a person started them, and so all that they are given. One that is not in it is held
    /// to what it asks for when this node first runs it.
    pub asked: BTreeMap<PluginName, Asked>,
    /// The folders of this machine that each plugin's servers may use. A plugin that is not in it is given none.
    pub shares: BTreeMap<PluginName, Shares>,
    /// The only plugins that this node runs, whatever else the edge has; all of them where there are none.
    pub only: Option<BTreeSet<PluginName>>,
    /// Plugins that this node runs from this folder or not at all, whatever the edge comes to say.
    pub folders: BTreeMap<PluginName, PathBuf>,
    /// Whether folders are run in place: only where the edge's machine is this one, since their paths are of that machine.
    pub in_place: bool,
    /// Whether MCP clients over HTTP need a token that the edge knows. Without it one that is shown is checked all the
    /// same, and names its client. The edge's word on a token holds for 5 s, and where the edge cannot be reached, for as
    /// long as the node goes on without it.
    pub clients_need_tokens: bool,
    /// The file in which this node remembers, from one life to the next, what may be forgotten at no cost but time.
    pub memory: Option<PathBuf>,
    /// The folder in which this node keeps the bundles that it runs. Without one it runs folders alone.
    pub bundles: Option<PathBuf>,
    /// Who is told what happens.
    pub tell: Tell,
}

/// What stands under text that a machine wrote, where the operator says nothing else.
pub const AI_LABEL: &str = "[AI-generated]";

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            verify_every: VerifyEvery::default(),
            idle: Duration::from_mins(1),
            validate: Validate::default(),
            arguments: Arguments::default(),
            limits: NodeLimits::default(),
            edge_grace: Duration::from_hours(1),
            settle: Duration::from_secs(5),
            install: Duration::ZERO,
            approval_timeout: Duration::from_mins(10),
            ai_label: AI_LABEL.to_owned(),
            secrets: BTreeMap::new(),
            secrets_of: BTreeMap::new(),
            asked: BTreeMap::new(),
            shares: BTreeMap::new(),
            only: None,
            folders: BTreeMap::new(),
            in_place: true,
            clients_need_tokens: false,
            memory: None,
            bundles: None,
            tell: Tell::default(),
        }
    }
}

/// How old a server's listing may be, counted from when it was asked for, when a call relies on it. An older one is
/// listed anew, and the call waits; 0 lists before every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyEvery {
    /// Of a server that is a process of this node. Default 2 s.
    pub process: Duration,
    /// Of a remote one. Default 30 s.
    pub remote: Duration,
}

impl VerifyEvery {
    /// The same for every server.
    pub const fn all(every: Duration) -> Self {
        Self { process: every, remote: every }
    }
}

impl Default for VerifyEvery {
    fn default() -> Self {
        Self { process: Duration::from_secs(2), remote: Duration::from_secs(30) }
    }
}

/// What becomes of structured results that do not match the output schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Validate {
    /// Nothing is checked.
    Off,
    /// They pass, and [`Event::ResultMismatch`](crate::Event::ResultMismatch) tells of it.
    #[default]
    Warn,
    /// They are refused.
    Refuse,
}

/// Which arguments are let through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Arguments {
    /// What the pinned input schema allows.
    #[default]
    AsListed,
    /// Only what it names, whether or not it says `additionalProperties: false`; and a function whose schema cannot be
    /// checked is not called.
    Strict,
}

/// How much is taken, and how long is waited. Above each there is an error that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLimits {
    /// Calls in flight of one server. Default 64.
    pub in_flight: usize,
    /// Bytes of a call's parameters. Default 4 MiB.
    pub request: usize,
    /// Bytes of a call's result. Default 16 MiB.
    pub result: usize,
    /// For a server to start and to open its connection. Default 30 s.
    pub start: Duration,
    /// For a call whose server is being started. Default 10 s.
    pub patience: Duration,
    /// For a whole listing. Default 10 s.
    pub listing: Duration,
    /// For one call. Default 60 s.
    pub call: Duration,
    /// For calls in flight when their server is to be stopped. Default 5 s.
    pub drain: Duration,
}

impl Default for NodeLimits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            request: 4 << 20,
            result: 16 << 20,
            start: Duration::from_secs(30),
            patience: Duration::from_secs(10),
            listing: Duration::from_secs(10),
            call: Duration::from_mins(1),
            drain: Duration::from_secs(5),
        }
    }
}
