//! A folder that is run in place: what it is, and what becomes of it as its author writes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use oz0_api::plugin::{Install, PluginDescription, PluginStatus, Source};
use oz0_api::{Client, ClientError, Code, PluginName};
use oz0_plugin::Plugin;

use crate::asked::Asked;
use crate::describe::{DescribeError, describe};

/// Between two looks at the folder.
const LOOK: Duration = Duration::from_millis(250);
/// How long files must have kept still before they are read.
const STILL: Duration = Duration::from_millis(100);

/// A plugin's folder in dev mode.
///
/// Its files may change as often as they like: each time they have, the edge hears of the new digest, and the node
/// starts its servers anew. The version keeps its first snapshot all the while, so an edit that changes a listing
/// waits for approval, as it would in production.
///
/// An edit of the manifest that asks for more than it asked for when the folder was first described, which is when a
/// person started it, is not taken: nobody was asked. What was loaded goes on, and an edit that asks for less is taken.
///
/// Files that servers write while they run belong into `.oz0ignore`, or each of them starts the servers anew.
#[derive(Debug, Clone)]
pub struct DevFolder {
    root: PathBuf,
    asked: Arc<OnceLock<Asked>>,
}

/// What became of an edit.
#[derive(Debug)]
#[non_exhaustive]
pub enum DevEvent {
    /// The files changed, and the edge has them.
    Changed(Box<PluginStatus>),
    /// The files do not load any more. What was loaded before goes on.
    Broken(DescribeError),
    /// The manifest asks for more than it did at the start. What was loaded before goes on.
    AsksMore {
        /// For what, in words.
        asks: Vec<String>,
    },
    /// The edge does not take them, or is not there. It is asked again.
    NotTaken(ClientError),
    /// The plugin was removed. Its folder is followed no longer, so it stays removed until somebody runs it again.
    Removed(PluginName),
}

/// What tells one state of the files from another.
type Stamp = Vec<(String, u64, Option<SystemTime>)>;

impl DevFolder {
    /// The plugin in the folder `root`.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        // Two spellings of one folder are one folder.
        Ok(Self { root: root.canonicalize()?, asked: Arc::default() })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the plugin is now. The first time also says what it may ask for from then on. Blocks.
    pub fn describe(&self) -> Result<PluginDescription, DescribeError> {
        let (description, asks) = self.read()?;
        let _ = self.asked.set(asks);
        Ok(description)
    }

    /// What the manifest asked for when it was first described; nothing before.
    pub fn asked(&self) -> Option<&Asked> {
        self.asked.get()
    }

    /// What the plugin is now, and what it asks for beyond the start.
    fn look(&self) -> Result<(PluginDescription, Vec<String>), DescribeError> {
        let (description, asks) = self.read()?;
        let more = asks.beyond(self.asked.get_or_init(|| asks.clone()));
        Ok((description, more))
    }

    fn read(&self) -> Result<(PluginDescription, Asked), DescribeError> {
        let plugin = Plugin::load(&self.root)?;
        let source = Source::Dev { folder: self.root.to_string_lossy().into_owned() };
        let description = describe(&plugin, source)?;
        Ok((description, plugin.manifest().map(Asked::by).unwrap_or_default()))
    }

    /// Watches the files until the plugin is removed, and registers each change with the edge as somebody who may install. `registered` is
    /// what the edge has now.
    pub async fn keep(
        self,
        admin: Client,
        registered: PluginDescription,
        tell: impl Fn(DevEvent) + Send,
    ) {
        let mut registered = registered;
        let mut known: Option<Stamp> = None;
        let mut broken: Option<String> = None;
        loop {
            let began = Instant::now();
            let now = self.blocking(Self::stamp).await;
            // A large folder is not looked at all the time.
            let pause = LOOK.max(began.elapsed() * 20);
            if known == now && now.is_some() {
                tokio::time::sleep(pause).await;
                continue;
            }
            tokio::time::sleep(STILL).await;
            if self.blocking(Self::stamp).await != now {
                continue;
            }
            match self.blocking(Self::look).await {
                Ok((description, _)) if description == registered => {
                    known = now;
                    broken = None;
                }
                Ok((_, asks)) if !asks.is_empty() => {
                    known = now;
                    broken = None;
                    tell(DevEvent::AsksMore { asks });
                }
                Ok((description, _)) => {
                    match self.update(&admin, &registered, &description).await {
                        Err(ClientError::Problem(problem)) if problem.code == Code::NotFound => {
                            tell(DevEvent::Removed(description.name));
                            return;
                        }
                        Ok(status) => {
                            registered = description;
                            known = now;
                            broken = None;
                            tell(DevEvent::Changed(Box::new(status)));
                        }
                        Err(error) => {
                            let refused = matches!(error, ClientError::Problem(_));
                            tell(DevEvent::NotTaken(error));
                            if refused {
                                known = now;
                            } else {
                                tokio::time::sleep(pause).await;
                            }
                        }
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    // Files that change while they are read are read again.
                    let passing = matches!(
                        &error,
                        DescribeError::Load(oz0_plugin::LoadError::Changed { .. })
                    );
                    if !passing {
                        known = now;
                        if broken.as_ref() != Some(&text) {
                            broken = Some(text);
                            tell(DevEvent::Broken(error));
                        }
                    }
                }
            }
        }
    }

    /// An edit changes what is installed; it brings nothing back that was removed.
    async fn update(
        &self,
        admin: &Client,
        registered: &PluginDescription,
        edited: &PluginDescription,
    ) -> Result<PluginStatus, ClientError> {
        let update = edited.name == registered.name;
        admin.install_on(edited, &Install { update, ..Install::default() }).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let folder = self.clone();
        match tokio::task::spawn_blocking(move || look(&folder)).await {
            Ok(seen) => seen,
            // Only a runtime that is going away takes a look back, and this future with it.
            Err(_) => std::future::pending().await,
        }
    }

    /// `None` where the folder cannot be walked.
    fn stamp(&self) -> Option<Stamp> {
        let plugin = Plugin::load(&self.root).ok()?;
        let of = |file: &oz0_plugin::PackedFile| {
            let metadata = std::fs::symlink_metadata(self.root.join(&file.path)).ok();
            let modified = metadata.and_then(|metadata| metadata.modified().ok());
            (file.path.clone(), file.len, modified)
        };
        Some(plugin.packed().iter().map(of).collect())
    }
}
