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
mod place;
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
pub use place::{BundlesAt, PlaceError, PostgresAt, StoreAt};
pub use seal::{NoKey, SealError, SealKey};
use store::Store;
pub use store::{Backup, Migration, StoreError};

/// How an edge is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data folder. Made where there is none, closed to other users, and locked: two edges
    /// cannot share one.
    pub data: PathBuf,
    /// Where the store is.
    pub store: StoreAt,
    /// Where bundles are.
    pub bundles: BundlesAt,
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
            store: StoreAt::default(),
            bundles: BundlesAt::default(),
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
        let store =
            Store::open(&options.data, &options.store, options.live_for, options.key.as_ref())
                .await?;
        let store = Arc::new(store);
        // Only whoever has the store's lock may touch them.
        let bundles = Bundles::at(&options.bundles, &options.data)?;
        let shared = !matches!(
            (&options.store, &options.bundles),
            (StoreAt::Folder, _) | (_, BundlesAt::Data)
        );
        bundles.sweep(&store.known_digests().await?, shared).await?;
        store::watch(&store);
        let (accounts, bounds) = (Arc::default(), options.bounds);
        Ok(Self { store, bundles: Arc::new(bundles), accounts, bounds })
    }

    /// Brings a store's schema to what this oz0 reads, without an edge on it. An edge that starts does so as well.
    ///
    /// # Errors
    ///
    /// [`StoreError`], as when an edge opens the store.
    pub async fn migrate(options: &Options) -> Result<Migration, StoreError> {
        store::migrate(&options.data, &options.store).await
    }

    /// Writes everything that a store holds, and the bundles of its versions, into one new file. An edge may run on the store
    /// meanwhile: the file holds one moment of it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where there is no store, it cannot be read, or the file is there or cannot be written.
    pub async fn back_up(options: &Options, file: &Path) -> Result<Backup, StoreError> {
        let bundles = Bundles::at(&options.bundles, &options.data)?;
        store::back_up(&options.data, &options.store, &bundles, file).await
    }

    /// Brings what a backup holds into a store that is not there yet, of either kind. Afterwards `admin.token` in the data
    /// folder holds an admin token, and the one before that was named `admin` counts no more.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the backup is not whole or of a newer oz0, or something is where it was to go; then nothing was
    /// changed there.
    pub async fn restore(options: &Options, file: &Path) -> Result<Backup, StoreError> {
        let bundles = Bundles::at(&options.bundles, &options.data)?;
        let key = options.key.as_ref();
        store::restore(&options.data, &options.store, key, &bundles, file).await
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
