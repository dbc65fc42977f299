//! The control plane: which listings are accepted, who accepted them, and the proof of it.
//!
//! An [`Edge`] keeps plugins with their bundles, their snapshots, the changes that wait for a person, tokens and the
//! audit log in one data folder, and serves all of it as one HTTP API ([`serve`]). It never dials a
//! node and never starts anything of a plugin: nodes poll it and report what their servers list,
//! whoever installs a plugin describes it in the API's types, and the edge decides. Of a bundle it
//! checks that it is one, keeps it, and hands it to nodes.
//!
//! What it decides is in three pure modules: [`function`], the state machine of one function,
//! [`version`], that of a plugin's versions, and [`uses`], whether those who use a plugin can go on with another version of it. The store loads their states, steps them, and writes the
//! difference together with the audit entries that tell of it, in one transaction.

mod accounts;
mod api;
mod bundles;
pub mod function;
mod metrics;
pub mod openapi;
pub mod overview;
mod seal;
pub mod serve;
pub mod small;
mod store;
pub mod tls;
pub mod uses;
pub mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use accounts::Accounts;
pub use api::desk::{Desk, Person};
use bundles::Bundles;
use oz0_api::token::{CreateToken, CreatedToken};
pub use oz0_serve::Bounds;
use oz0_telemetry::metrics::Source;
pub use seal::{NoKey, SealError, SealKey};
use store::Store;
pub use store::StoreError;

/// How an edge is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data folder. Made where there is none, closed to other users, and locked: two edges
    /// cannot share one.
    pub data: PathBuf,
    /// How long after its last request a node counts as alive. Longer than a poll waits.
    pub live_for: Duration,
    /// How many connections each surface takes at once, and how long slow peers are waited for.
    pub bounds: Bounds,
    /// What secrets are sealed with; without it, the key in the data folder, which is made where there is none.
    pub key: Option<SealKey>,
}

impl Options {
    /// The usual ones for a data folder: a node is alive for 75 s after its last request.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            live_for: Duration::from_secs(75),
            bounds: Bounds::default(),
            key: None,
        }
    }
}

/// An edge; cheap to clone, and clones are one edge.
#[derive(Clone)]
pub struct Edge {
    store: Arc<Store>,
    bundles: Arc<Bundles>,
    accounts: Arc<Accounts>,
    bounds: Bounds,
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edge").field("data", &self.store.root()).finish_non_exhaustive()
    }
}

impl Edge {
    /// Opens the edge of a data folder. A folder that never had one gets a new store, and its first
    /// admin token in `admin.token`. A store that is missing, cut short, overwritten, of another
    /// edge, or older than it was is an error: nothing is trusted because of it.
    pub async fn open(options: &Options) -> Result<Self, StoreError> {
        let store = Store::open(&options.data, options.live_for, options.key.as_ref()).await?;
        // Only whoever has the store's lock may touch them.
        let bundles = Bundles::open(&options.data, &store.known_digests().await?)?;
        let bounds = options.bounds;
        let store = Arc::new(store);
        tokio::spawn(Store::beat(Arc::downgrade(&store)));
        let accounts = Arc::default();
        Ok(Self { store, bundles: Arc::new(bundles), accounts, bounds })
    }

    /// The file with the first admin token, which commands on this data folder use.
    pub fn admin_token_file(&self) -> PathBuf {
        self.store.root().join("admin.token")
    }

    /// A token for somebody in the process that the edge lives in: its own node, or the command
    /// that started it. The live token of that kind and name is revoked, so that each start leaves
    /// one, and the secret need not be kept anywhere but in memory.
    pub async fn reissue_token(&self, create: &CreateToken) -> Result<CreatedToken, StoreError> {
        self.store.reissue_token(&store::Actor::Edge, create).await
    }

    /// What it counts.
    pub fn metrics(&self) -> Arc<dyn Source> {
        Arc::new(metrics::Numbers(Arc::clone(&self.store)))
    }

    /// Whether what it acknowledges would be on the disk: something is written there, at most once a second.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.store.check().await
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        self.store.root()
    }

    /// From now on nobody is made to wait: long polls are answered at once, so that servers can end.
    pub fn wind_down(&self) {
        self.store.wind_down();
    }

    /// Ends the store's connections. What was acknowledged needs no such end.
    pub async fn close(&self) {
        self.store.close().await;
    }
}
