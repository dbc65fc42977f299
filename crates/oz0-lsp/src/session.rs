//! What is known of one editor: its documents, its settings, the last check of each plugin; and the task that checks.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oz0_lint::Request;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::{Diagnostic, MessageType, Uri};

use crate::check::{Checked, Depth, Outcome, check};
use crate::documents::Documents;
use crate::place::Places;
use crate::text::Encoding;
use crate::uri::uri_of;

/// How long nothing must be touched before a check begins: about the pause between two words.
const PAUSE: Duration = Duration::from_millis(120);

/// A plugin whose rules took longer is not read as a whole between two words: the rule that reads every file of the folder
/// waits until nothing was touched for as long as [`REST`].
const QUICK: Duration = Duration::from_millis(100);
const REST: Duration = Duration::from_secs(2);

/// How long a plugin whose files change while it is read is left alone, and how often in a row.
const BREATH: Duration = Duration::from_millis(250);
const TRIES: usize = 8;

/// How the editor and the server speak, settled when they met.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(crate) struct Manner {
    pub(crate) encoding: Encoding,
    /// Whether edits can say which version of a document they are of.
    pub(crate) versioned_edits: bool,
    /// Whether hovers and documentation are read as Markdown.
    pub(crate) markdown: bool,
    /// Whether the editor tells of changes on the disk when it is asked to.
    pub(crate) watches: bool,
    /// Whether the editor answers questions about its configuration.
    pub(crate) configures: bool,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) documents: Documents,
    pub(crate) manner: Manner,
    /// Whether the editor asked for the verified level.
    pub(crate) verified: bool,
    /// The last check of each plugin.
    checked: BTreeMap<PathBuf, Arc<Checked>>,
    touched: Touched,
}

/// What was touched since the last look at it.
#[derive(Debug, Default)]
struct Touched {
    files: BTreeSet<PathBuf>,
    everything: bool,
    /// When a check may begin.
    not_before: Option<Instant>,
}

impl Touched {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.everything
    }

    fn is_about(&self, root: &Path) -> bool {
        self.everything || self.files.iter().any(|file| file.starts_with(root))
    }
}

/// A conversation with one editor.
#[derive(Debug)]
pub(crate) struct Session {
    state: Mutex<State>,
    wake: Notify,
    client: Client,
    /// Whether the server was started for the verified level.
    verified: bool,
}

impl Session {
    pub(crate) fn new(client: Client, verified: bool) -> Self {
        Self { state: Mutex::default(), wake: Notify::new(), client, verified }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What is known. Held for moments, and never while anything is read or waited for.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds it can leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn request(&self) -> Request {
        let verified = self.verified || self.state().verified;
        Request { verified, ..Request::default() }
    }

    /// The last check of the plugin that a file belongs to.
    pub(crate) fn checked(&self, path: &Path) -> Option<Arc<Checked>> {
        let state = self.state();
        path.ancestors().find_map(|folder| state.checked.get(folder)).cloned()
    }

    /// Notes that a file was touched, in the editor or on the disk. A document that was just opened is checked at once.
    pub(crate) fn touch(&self, path: PathBuf, at_once: bool) {
        let mut state = self.state();
        state.touched.files.insert(path);
        let pause = if at_once { Duration::ZERO } else { PAUSE };
        state.touched.not_before = Some(Instant::now() + pause);
        drop(state);
        self.wake.notify_one();
    }

    /// Notes that every plugin is to be checked anew.
    pub(crate) fn touch_everything(&self) {
        let mut state = self.state();
        state.touched.everything = true;
        state.touched.not_before.get_or_insert_with(Instant::now);
        drop(state);
        self.wake.notify_one();
    }

    /// Checks whatever is touched, for as long as the conversation lasts.
    pub(crate) async fn check_forever(self: Arc<Self>) {
        let mut shown = Shown::default();
        loop {
            let touched = {
                let state = self.state();
                (!state.touched.is_empty()).then(|| state.touched.not_before).flatten()
            };
            // What was touched comes first: what waits for a rest waits on.
            match touched.or_else(|| shown.next_whole()) {
                None => self.wake.notified().await,
                Some(then) if then > Instant::now() => {
                    tokio::select! {
                        () = tokio::time::sleep_until(then) => {}
                        () = self.wake.notified() => {}
                    }
                }
                Some(_) if touched.is_some() => self.check_touched(&mut shown).await,
                Some(_) => {
                    for root in shown.due() {
                        self.check_plugin(&root, true, &mut shown).await;
                    }
                }
            }
        }
    }

    async fn check_touched(self: &Arc<Self>, shown: &mut Shown) {
        let (touched, documents) = {
            let mut state = self.state();
            (std::mem::take(&mut state.touched), state.documents.clone())
        };
        let found = spawn_blocking(move || {
            let plugin_of = |path: &PathBuf| documents.plugin_of(path);
            documents.paths().filter_map(plugin_of).collect::<BTreeSet<PathBuf>>()
        });
        let Ok(plugins) = found.await else { return };
        let gone: Vec<PathBuf> =
            shown.plugins().filter(|root| !plugins.contains(*root)).cloned().collect();
        for root in gone {
            self.forget(&root, shown).await;
        }
        for root in plugins {
            if touched.is_about(&root) || !shown.has(&root) {
                self.check_plugin(&root, touched.everything, shown).await;
            }
        }
    }

    /// Checks a plugin: all of it where that is quick, or asked for as the `whole`.
    async fn check_plugin(self: &Arc<Self>, root: &Path, whole: bool, shown: &mut Shown) {
        let (documents, before) = {
            let state = self.state();
            (state.documents.clone(), state.checked.get(root).cloned())
        };
        let depth = match before {
            Some(before) if !whole && shown.is_slow(root) => Depth::WithoutFiles(before),
            _ => Depth::Whole,
        };
        let is_whole = matches!(depth, Depth::Whole);
        shown.begin(root).whole_at = (!is_whole).then(|| Instant::now() + REST);
        let request = self.request();
        let session = Arc::clone(self);
        let folder = root.to_owned();
        let outcome = spawn_blocking(move || {
            let overtaken = || session.state().touched.is_about(&folder);
            let outcome = check(&folder, documents, &request, &depth, &overtaken);
            let encoding = session.state().manner.encoding;
            let told = match &outcome {
                Outcome::Checked(checked) => told(checked, encoding),
                _ => Told::new(),
            };
            (outcome, told)
        });
        let Ok((outcome, told)) = outcome.await else {
            // It panicked, and said so on standard error.
            let message = format!("the check of {} broke", root.display());
            self.client.log_message(MessageType::ERROR, message).await;
            return;
        };
        if self.state().touched.is_about(root) {
            // What was just found is about texts that nobody sees any more; the next check is waiting already.
            shown.begin(root);
            return;
        }
        match outcome {
            Outcome::Checked(checked) => {
                shown.succeeded(root);
                if is_whole {
                    shown.begin(root).is_slow = checked.took > QUICK;
                }
                self.show(checked, told, shown).await;
            }
            Outcome::Overtaken => self.try_again(root, shown).await,
            Outcome::Gone => self.forget(root, shown).await,
            Outcome::Failed(why) => self.fail(root, &why, shown).await,
        }
    }

    /// Files of the plugin changed on the disk while it was read.
    async fn try_again(&self, root: &Path, shown: &mut Shown) {
        if shown.tries(root) >= TRIES {
            let why = format!("files of {} change faster than they are read", root.display());
            self.fail(root, &why, shown).await;
            return;
        }
        let mut state = self.state();
        state.touched.files.insert(root.to_owned());
        state.touched.not_before = Some(Instant::now() + BREATH);
    }

    /// Shows what a check found, and takes away what is mended.
    async fn show(&self, checked: Checked, told: Told, shown: &mut Shown) {
        let root = checked.root.clone();
        let files = told
            .iter()
            .filter(|(_, file)| !file.found.is_empty())
            .map(|(path, file)| (path.clone(), file.uri.clone()))
            .collect();
        self.state().checked.insert(root.clone(), Arc::new(checked));
        for uri in shown.replace(&root, files) {
            if told.values().all(|file| file.uri != uri) {
                self.client.publish_diagnostics(uri, Vec::new(), None).await;
            }
        }
        for file in told.into_values() {
            self.client.publish_diagnostics(file.uri, file.found, file.version).await;
        }
    }

    /// Takes away what was shown of a plugin that is none any more, or that nobody has open.
    async fn forget(&self, root: &Path, shown: &mut Shown) {
        self.state().checked.remove(root);
        for uri in shown.remove(root) {
            self.client.publish_diagnostics(uri, Vec::new(), None).await;
        }
    }

    /// Says that a plugin could not be looked at, once, and takes away what was found before.
    async fn fail(&self, root: &Path, why: &str, shown: &mut Shown) {
        self.state().checked.remove(root);
        for uri in shown.replace(root, BTreeMap::new()) {
            self.client.publish_diagnostics(uri, Vec::new(), None).await;
        }
        if shown.failed(root, why) {
            let message = format!("oz0 could not check a plugin: {why}");
            self.client.show_message(MessageType::WARNING, message).await;
        }
    }
}

/// What the editor is told of each file of a plugin.
type Told = BTreeMap<PathBuf, ToldFile>;

struct ToldFile {
    uri: Uri,
    /// The version that was checked, of an open document.
    version: Option<i32>,
    found: Vec<Diagnostic>,
}

/// What a check has to tell: its findings, and to each open document that it was looked at, also where nothing is wrong with it.
fn told(checked: &Checked, encoding: Encoding) -> Told {
    let root = &checked.root;
    let mut told = Told::new();
    for (path, document) in checked.documents.below(root) {
        let path = root.join(path);
        if checked.documents.plugin_of(&path).as_ref() == Some(root) {
            let (uri, version) = (document.uri.clone(), Some(document.version));
            told.insert(path, ToldFile { uri, version, found: Vec::new() });
        }
    }
    let mut places = Places::new(root, &checked.documents, encoding);
    for problem in &checked.problems {
        let found = places.diagnostic(problem);
        match told.entry(places.path(problem.span.file())) {
            Entry::Occupied(entry) => entry.into_mut().found.push(found),
            Entry::Vacant(entry) => {
                if let Some(uri) = uri_of(entry.key()) {
                    entry.insert(ToldFile { uri, version: None, found: vec![found] });
                }
            }
        }
    }
    told
}

/// What the editor shows of each plugin.
#[derive(Debug, Default)]
struct Shown(BTreeMap<PathBuf, ShownPlugin>);

#[derive(Debug, Default)]
struct ShownPlugin {
    /// The files that have findings, and their addresses.
    files: BTreeMap<PathBuf, Uri>,
    /// Why it could not be looked at, where the last check said so.
    failure: Option<String>,
    /// How often in a row its files changed while they were read.
    tries: usize,
    /// Whether the rules took long when last all of them ran.
    is_slow: bool,
    /// When all of them run again, where the last check left one out.
    whole_at: Option<Instant>,
}

impl Shown {
    fn plugins(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    fn has(&self, root: &Path) -> bool {
        self.0.contains_key(root)
    }

    fn is_slow(&self, root: &Path) -> bool {
        self.0.get(root).is_some_and(|plugin| plugin.is_slow)
    }

    /// When the next plugin is to be checked as a whole.
    fn next_whole(&self) -> Option<Instant> {
        self.0.values().filter_map(|plugin| plugin.whole_at).min()
    }

    /// The plugins whose time to be checked as a whole has come.
    fn due(&self) -> Vec<PathBuf> {
        let now = Instant::now();
        let due = self.0.iter().filter(|(_, it)| it.whole_at.is_some_and(|then| then <= now));
        due.map(|(root, _)| root.clone()).collect()
    }

    fn begin(&mut self, root: &Path) -> &mut ShownPlugin {
        self.0.entry(root.to_owned()).or_default()
    }

    fn succeeded(&mut self, root: &Path) {
        let plugin = self.begin(root);
        plugin.failure = None;
        plugin.tries = 0;
    }

    fn tries(&mut self, root: &Path) -> usize {
        let plugin = self.begin(root);
        plugin.tries += 1;
        plugin.tries
    }

    /// Whether this is news.
    fn failed(&mut self, root: &Path, why: &str) -> bool {
        let plugin = self.begin(root);
        plugin.tries = 0;
        plugin.failure.replace(why.to_owned()).as_deref() != Some(why)
    }

    /// Notes which files have findings; the addresses that had some and have none now, also not of another plugin.
    fn replace(&mut self, root: &Path, files: BTreeMap<PathBuf, Uri>) -> Vec<Uri> {
        let before = std::mem::replace(&mut self.begin(root).files, files);
        let still = |uri: &Uri| {
            self.0.values().any(|plugin| plugin.files.values().any(|other| other == uri))
        };
        before.into_values().filter(|uri| !still(uri)).collect()
    }

    fn remove(&mut self, root: &Path) -> Vec<Uri> {
        let mended = self.replace(root, BTreeMap::new());
        self.0.remove(root);
        mended
    }
}
