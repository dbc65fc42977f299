//! The control plane: which listings are accepted, who accepted them, and the proof of it.
//!
//! An [`Edge`] keeps plugins, their snapshots, the changes that wait for a person, tokens and the
//! audit log in one data folder, and serves all of it as one HTTP API ([`serve`]). It never dials a
//! node and never starts or reads anything of a plugin: nodes poll it and report what their servers
//! list, whoever installs a plugin describes it in the API's types, and the edge decides.
//!
//! What it decides is in two pure modules: [`function`], the state machine of one function, and
//! [`version`], that of one plugin version. The store loads their states, steps them, and writes the
//! difference together with the audit entries that tell of it, in one transaction.

mod api;
pub mod function;
pub mod serve;
pub mod small;
mod store;
pub mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use oz0_api::token::{CreateToken, CreatedToken};
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
}

impl Options {
    /// The usual ones for a data folder: a node is alive for 75 s after its last request.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), live_for: Duration::from_secs(75) }
    }
}

/// An edge; cheap to clone, and clones are one edge.
#[derive(Clone)]
pub struct Edge {
    store: Arc<Store>,
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
        let store = Store::open(&options.data, options.live_for).await?;
        Ok(Self { store: Arc::new(store) })
    }

    /// The file with the first admin token, which commands on this data folder use.
    pub fn admin_token_file(&self) -> PathBuf {
        self.store.root().join("admin.token")
    }

    /// A token for somebody in the process that the edge lives in: its own node, or the command
    /// that started it. The live token of that kind and name is revoked, so that each start leaves
    /// one, and the secret need not be kept anywhere but in memory.
    pub async fn reissue_token(&self, create: &CreateToken) -> Result<CreatedToken, StoreError> {
        self.store.reissue_token(create).await
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
