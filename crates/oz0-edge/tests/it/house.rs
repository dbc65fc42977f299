//! An edge in a temporary folder, and somebody of each kind who talks to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use oz0_api::audit::{AuditEntry, AuditQuery};
use oz0_api::change::{Approve, Approved, Change};
use oz0_api::memory::pipe;
use oz0_api::node::{LeftOut, ListedFunction, Outcome, Report, Verdicts};
use oz0_api::plugin::{
    Backend, FunctionState, PluginDescription, PluginStatus, Source, ToolDescription,
};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{ChangeId, Client, ClientError, Code};
use oz0_edge::{Edge, Options, StoreError};
use oz0_listing::{Digest, FunctionId, Listing, ListingHash};
use oz0_plugin::{Mode, Plugin, PluginFile};
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::database;

/// An edge that serves a pipe in memory.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) edge: Edge,
    /// Somebody at the local socket.
    pub(crate) local: Client,
    /// A person.
    pub(crate) admin: Client,
    stop: Option<oneshot::Sender<()>>,
    served: tokio::task::JoinHandle<()>,
    database: Database,
}

/// What of a house is not in its folder, which goes with it.
struct Database(Option<PathBuf>);

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            database::forget(folder);
        }
    }
}

/// Opens an edge. What the one before had begun may hold its folder a moment longer.
pub(crate) async fn reopen(options: &Options) -> Result<Edge, StoreError> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match Edge::open(options).await {
            Err(StoreError::InUse { .. }) if Instant::now() < until => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            opened => return opened,
        }
    }
}

pub(crate) fn options(folder: &Path) -> Options {
    Options { store: database::store(folder), ..Options::new(folder.join("data")) }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::open(TempDir::new().unwrap()).await
    }

    pub(crate) async fn open(folder: TempDir) -> Self {
        let options = options(folder.path());
        Self::open_with(folder, options).await
    }

    /// An edge for which a node is dead soon after it spoke.
    pub(crate) async fn forgetful(live_for: Duration) -> Self {
        let folder = TempDir::new().unwrap();
        let options = Options { live_for, ..options(folder.path()) };
        Self::open_with(folder, options).await
    }

    pub(crate) async fn open_with(folder: TempDir, options: Options) -> Self {
        let edge = reopen(&options).await.unwrap();
        let (connector, listener) = pipe();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn({
            let edge = edge.clone();
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                edge.serve_memory(listener, stopped).await;
            }
        });
        let local = Client::memory(connector);
        // Over one store, the first edge alone has one.
        let token = std::fs::read_to_string(edge.admin_token_file()).unwrap_or_default();
        let admin = local.with_token(&token);
        let database = Database(Some(folder.path().to_owned()));
        Self { folder, edge, local, admin, stop: Some(stop), served, database }
    }

    /// Another edge over the store of this one, in a folder of its own.
    pub(crate) async fn beside(&self, options: &Options) -> Self {
        let folder = TempDir::new().unwrap();
        let options = Options { data: folder.path().join("data"), ..options.clone() };
        let mut other = Self::open_with(folder, options).await;
        let token = std::fs::read_to_string(self.edge.admin_token_file()).unwrap();
        other.admin = other.local.with_token(&token);
        other
    }

    /// Ends the edge and opens another one on the same folder.
    pub(crate) async fn restart(self) -> Self {
        Self::open(self.end().await).await
    }

    /// Ends the edge and gives its folder back.
    pub(crate) async fn end(mut self) -> TempDir {
        drop(self.stop.take());
        self.served.abort();
        let _ = (&mut self.served).await;
        self.edge.close().await;
        let Self { folder, mut database, .. } = self;
        database.0 = None;
        folder
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A node with a token of its own.
    pub(crate) async fn node(&self, name: &str) -> Client {
        let create =
            CreateToken { kind: TokenKind::Node, name: name.parse().unwrap(), may_approve: false };
        self.local.with_token(&self.admin.create_token(&create).await.unwrap().secret)
    }

    pub(crate) async fn install(&self, description: &PluginDescription) -> PluginStatus {
        self.try_install(description).await.unwrap()
    }

    pub(crate) async fn try_install(
        &self,
        description: &PluginDescription,
    ) -> Result<PluginStatus, ClientError> {
        bring(&self.admin, description).await;
        self.admin.install(description).await
    }

    pub(crate) async fn changes(&self, plugin: &str) -> Vec<Change> {
        self.admin.changes(&plugin.parse().unwrap()).await.unwrap().changes
    }

    /// The open changes as `function kind nodes`.
    pub(crate) async fn waiting(&self, plugin: &str) -> Vec<String> {
        self.check_overview().await;
        let line = |change: &Change| {
            let nodes: Vec<&str> = change.nodes.iter().map(|seen| seen.node.as_str()).collect();
            let what = change
                .function
                .as_ref()
                .map_or_else(|| change.tool.to_string(), ToString::to_string);
            format!("{what} {} {}", change.kind.as_str(), nodes.join(","))
        };
        self.changes(plugin).await.iter().map(line).collect()
    }

    pub(crate) async fn approve(&self, plugin: &str, ids: &[ChangeId]) -> Approved {
        let approve = Approve { changes: ids.to_vec() };
        self.admin.approve(&plugin.parse().unwrap(), &approve).await.unwrap()
    }

    pub(crate) async fn approve_all(&self, plugin: &str) -> Approved {
        let ids: Vec<ChangeId> =
            self.changes(plugin).await.into_iter().map(|change| change.id).collect();
        self.approve(plugin, &ids).await
    }

    /// What pages read in a few statements is what the API answers one by one.
    async fn check_overview(&self) {
        let desk = self.edge.desk();
        let (all, plugins) = (desk.plugins().await.unwrap(), self.admin.plugins().await.unwrap());
        assert_eq!(all.len(), plugins.len());
        for (own, plugin) in all.iter().zip(&plugins) {
            assert_eq!(own.before, plugin.before);
            let candidate = plugin.candidate.as_ref().map(|candidate| &candidate.status);
            assert_eq!(own.candidate.is_some(), candidate.is_some());
            for (own, version) in own.versions().zip(std::iter::once(plugin).chain(candidate)) {
                assert_eq!(own.description.version, version.version);
                assert_eq!(
                    as_json(&own.functions),
                    as_json(&version.functions),
                    "{}",
                    version.name
                );
                assert_eq!(as_json(&own.tools), as_json(&version.tools), "{}", version.name);
                assert_eq!(own.mismatches, version.mismatches);
                let waiting: Vec<_> = own.waiting.iter().map(|change| &change.id).collect();
                let changes: Vec<_> = version.changes.iter().map(|change| &change.id).collect();
                assert_eq!(waiting, changes, "{}", version.name);
                let ids: Vec<_> = changes.into_iter().cloned().collect();
                let named = desk.changes(&version.name, &ids).await.unwrap();
                assert_eq!(as_json(&named), as_json(&version.changes));
            }
        }
        let catalog = self.admin.catalog().await.unwrap().functions;
        for function in &catalog {
            let same: Vec<_> = catalog.iter().filter(|one| one.id == function.id).collect();
            let found = desk.function(&function.id).await.unwrap();
            assert_eq!(as_json(&found), as_json(&same), "{}", function.id);
        }
    }

    /// The states of every function, as `function state`.
    pub(crate) async fn states(&self) -> BTreeMap<String, FunctionState> {
        self.check_overview().await;
        let catalog = self.local.catalog().await.unwrap();
        catalog
            .functions
            .into_iter()
            .map(|function| (function.id.to_string(), function.state))
            .collect()
    }

    pub(crate) async fn log(&self) -> Vec<AuditEntry> {
        let query = AuditQuery { limit: Some(1000), ..AuditQuery::default() };
        self.local.audit(&query).await.unwrap().entries
    }

    /// The actions of the log.
    pub(crate) async fn acts(&self) -> Vec<String> {
        self.log().await.into_iter().map(|entry| entry.action).collect()
    }

    pub(crate) async fn count(&self, action: &str) -> usize {
        self.acts().await.iter().filter(|act| *act == action).count()
    }
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text)
}

/// The bundle of a description that [`plugin`] made, other files of which may have made its digest another.
static BUNDLES: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The digest of a bundle of this plugin and version in which this is written, besides.
pub(crate) fn bundle(name: &str, version: &str, besides: &str) -> Digest {
    let manifest = format!(
        "name: {name}\nversion: {version}\nlicense: Apache-2.0\ndescription: What {name} does.\ntools:\n  t:\n    mcp: {{command: [server]}}\n"
    );
    let file = |path: &str, text: &str| PluginFile {
        path: path.to_owned(),
        mode: Mode::Plain,
        bytes: text.as_bytes().into(),
    };
    let files = vec![
        file("LICENSE", include_str!("../../../../LICENSE")),
        file("README.md", "# A plugin of a test\n"),
        file("besides.txt", besides),
        file("oz0-plugin.yaml", &manifest),
    ];
    let plugin = Plugin::from_files(Path::new("a test's"), files).unwrap();
    let mut bytes = Vec::new();
    let digest = oz0_bundle::pack(&plugin, &mut bytes).unwrap().digest;
    BUNDLES.lock().unwrap().insert(digest.to_string(), bytes);
    digest
}

/// Brings the edge the bundle that a description is of.
pub(crate) async fn bring(admin: &Client, description: &PluginDescription) {
    let digest = description.digest;
    let bytes = BUNDLES.lock().unwrap().get(&digest.to_string()).cloned();
    if let (Source::Bundle, Some(bytes)) = (&description.source, bytes) {
        admin.put_bundle(digest, bytes.into()).await.unwrap();
    }
}

/// A bundle whose tools are child processes.
pub(crate) fn plugin(name: &str, version: &str, tools: &[&str]) -> PluginDescription {
    PluginDescription {
        name: name.parse().unwrap(),
        version: version.parse().unwrap(),
        digest: bundle(name, version, ""),
        source: Source::Bundle,
        title: None,
        description: format!("What {name} does."),
        tools: tools
            .iter()
            .map(|tool| {
                let tool_description = ToolDescription::new(Backend::Process);
                ((*tool).try_into().unwrap(), tool_description)
            })
            .collect(),
        policy: Vec::new(),
        hooks: Vec::new(),
        measured: None,
        uses: BTreeMap::new(),
        agents: BTreeSet::new(),
        skills: BTreeSet::new(),
        secrets: BTreeMap::new(),
        connections: BTreeMap::new(),
    }
}

/// The same run from a folder.
pub(crate) fn dev(mut description: PluginDescription) -> PluginDescription {
    description.source = Source::Dev { folder: "/home/somebody/plugin".to_owned() };
    description
}

/// A function named `name` that says `text`.
pub(crate) fn listing(name: &str, text: &str) -> Listing {
    let raw = serde_json::json!({
        "name": name, "description": text, "inputSchema": {"type": "object"},
    });
    Listing::read(&raw.to_string(), &[]).unwrap()
}

pub(crate) fn hash(name: &str, text: &str) -> ListingHash {
    listing(name, text).hash()
}

pub(crate) fn listed(tool: &str, listing: &Listing) -> ListedFunction {
    ListedFunction {
        id: FunctionId::new(&tool.try_into().unwrap(), listing.name()).unwrap(),
        hash: listing.hash(),
        listing: RawValue::from_string(listing.canonical().to_owned()).unwrap(),
        uncallable: None,
    }
}

/// A report of a complete listing: each function by its name and text.
pub(crate) fn report(
    description: &PluginDescription,
    tool: &str,
    functions: &[(&str, &str)],
) -> Report {
    let functions =
        functions.iter().map(|(name, text)| listed(tool, &listing(name, text))).collect();
    complete(description, tool, functions, Vec::new())
}

pub(crate) fn complete(
    description: &PluginDescription,
    tool: &str,
    functions: Vec<ListedFunction>,
    left_out: Vec<LeftOut>,
) -> Report {
    outcome(description, tool, Outcome::Complete { functions, left_out })
}

pub(crate) fn outcome(description: &PluginDescription, tool: &str, outcome: Outcome) -> Report {
    let tool = tool.try_into().unwrap();
    Report {
        plugin: description.name.clone(),
        version: description.version.clone(),
        digest: description.digest,
        endpoint: description.tools.get(&tool).and_then(|tool| tool.endpoint().cloned()),
        tool,
        outcome,
    }
}

pub(crate) async fn tell(
    node: &Client,
    description: &PluginDescription,
    tool: &str,
    functions: &[(&str, &str)],
) -> Verdicts {
    node.report(&report(description, tool, functions)).await.unwrap()
}

/// What is said no to, and how.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>) -> Code {
    result.unwrap_err().code().expect("a problem of the edge")
}

fn as_json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap()
}
