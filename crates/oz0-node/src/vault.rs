//! What this node is given of secrets and connections: in memory alone, for what runs here, and for as long as it does.
//!
//! The edge says in its poll which plugins' credentials changed, and from that moment on what was held of them is not used any
//! more: the next to need it asks the edge, and waits. So a connection that somebody ended is ended here as soon as the node
//! hears of it. A token is asked for again before it ends, which has the edge renew it. Where the edge cannot be reached, what
//! it said last holds: for as long as the token counts, and the node goes on without its edge.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::credential::{Credential, Credentials, Sensitive};
use oz0_api::node::Assignment;
use oz0_api::plugin::PluginDescription;
use oz0_api::{Client as Edge, ClientError, Code, ConnectionName, PluginName};
use oz0_listing::{FunctionId, ToolId};
use oz0_mcp::{AUTHORIZATION, BoundHeaders, HeaderValue};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::refusal::{Unconnected, Why};

/// A token that ends within that time is asked for again.
const AHEAD: Duration = Duration::from_secs(20);
/// Between two questions about one that does not get younger.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// Between two questions to an edge that does not answer: the first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Shorter values, and lines of values, are not looked for in what servers say: they are found in anything.
const LEAST_TOLD: usize = 6;

/// The key in a call's `_meta`, which is this product's alone.
pub(crate) const META: &str = "oz0/connections";

/// Which calls of one plugin carry the token of which connection.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    functions: HashMap<FunctionId, BTreeMap<ConnectionName, BTreeSet<String>>>,
}

impl Grants {
    pub(crate) fn of(description: &PluginDescription) -> Self {
        let mut functions: HashMap<FunctionId, BTreeMap<ConnectionName, BTreeSet<String>>> =
            HashMap::new();
        for (name, connection) in &description.connections {
            for (scope, of) in &connection.scopes {
                for function in of {
                    // A remote server gets the token that is for it, and no other account's.
                    let may = description.tools.get(&function.tool()).is_some_and(|tool| {
                        tool.endpoint().is_none() || tool.connection.as_ref() == Some(name)
                    });
                    if may {
                        let own = functions.entry(function.clone()).or_default();
                        own.entry(name.clone()).or_default().insert(scope.clone());
                    }
                }
            }
        }
        Self { functions }
    }
}

/// What is held of one plugin's credentials.
#[derive(Debug, Default)]
pub(crate) struct Held {
    given: Credentials,
    at: Option<Instant>,
}

impl Held {
    /// The secrets that are set, by name.
    pub(crate) fn secrets(&self) -> BTreeMap<String, String> {
        let pair = |(name, value): (&oz0_api::SecretName, &Sensitive)| {
            (name.to_string(), value.expose().to_owned())
        };
        self.given.secrets.iter().map(pair).collect()
    }

    /// The params that a connection was connected with.
    pub(crate) fn params(&self, name: &ConnectionName) -> Option<&BTreeMap<String, String>> {
        self.given.connections.get(name).map(|connection| &connection.params)
    }

    /// A connection whose token counts.
    fn connection(&self, name: &ConnectionName) -> Result<&Credential, Unconnected> {
        let connection = self.given.connections.get(name).ok_or(Unconnected::Not)?;
        let age = self.at.map_or(Duration::MAX, |at| at.elapsed());
        let valid = connection.valid_for_ms.map(Duration::from_millis);
        if connection.failure.is_some() || valid.is_some_and(|valid| age >= valid) {
            return Err(Unconnected::Ended);
        }
        Ok(connection)
    }

    /// Whether something of it ends soon, and there may be another.
    fn is_ending(&self) -> bool {
        let Some(age) = self.at.map(|at| at.elapsed()) else { return true };
        let mut lives = self.given.connections.values().filter_map(|one| one.valid_for_ms);
        lives.any(|life| match Duration::from_millis(life) {
            // It had ended when it was asked for.
            Duration::ZERO => age >= ASK_EVERY,
            life => age + AHEAD.min(life / 4) >= life,
        })
    }

    /// What is different in `other`, of what servers are started with.
    fn differs(&self, other: &Self) -> Difference {
        let (one, other) = (&self.given, &other.given);
        let names = one.connections.keys().chain(other.connections.keys());
        let start = |given: &Credentials, name: &ConnectionName| {
            given.connections.get(name).map(|one| (one.connected_at, one.params.clone()))
        };
        Difference {
            secrets: one.secrets != other.secrets,
            connections: names
                .filter(|name| start(one, name) != start(other, name))
                .cloned()
                .collect(),
        }
    }
}

/// What changed of what a plugin's servers are started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) secrets: bool,
    pub(crate) connections: BTreeSet<ConnectionName>,
}

impl Difference {
    fn is_none(&self) -> bool {
        !self.secrets && self.connections.is_empty()
    }

    /// Whether a plugin's servers are to be started anew because of it: processes have secrets from their start on, and a
    /// remote server is opened as one account, at the place that its params say. A process gets tokens call by call.
    pub(crate) fn concerns(&self, assignment: &Assignment) -> bool {
        let tools =
            assignment.description.iter().flat_map(|description| description.tools.values());
        self.secrets
            || tools.into_iter().any(|tool| {
                tool.endpoint().is_some()
                    && tool.connection.as_ref().is_some_and(|name| self.connections.contains(name))
            })
    }
}

#[derive(Default)]
struct Slot {
    state: Mutex<State>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    held: Option<Arc<Held>>,
    /// How often the edge said that it changed, and how often it had when `held` was asked for.
    changes: u64,
    of: u64,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is held, where nothing speaks against it.
    fn young(&self) -> Option<Arc<Held>> {
        let state = self.state();
        state.held.clone().filter(|held| state.of == state.changes && !held.is_ending())
    }
}

/// What is held, by plugin.
pub(crate) struct Vault {
    edge: Edge,
    slots: Mutex<HashMap<PluginName, Arc<Slot>>>,
    /// Who is told of plugins whose servers may have to be started anew.
    differs: mpsc::UnboundedSender<(PluginName, Difference)>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    pub(crate) fn new(
        edge: Edge,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<(PluginName, Difference)>) {
        let (differs, told) = mpsc::unbounded_channel();
        (Arc::new(Self { edge, slots: Mutex::default(), differs }), told)
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<PluginName, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a plugin is given now. The error is for people.
    pub(crate) async fn current(&self, plugin: &PluginName) -> Result<Arc<Held>, String> {
        self.ask(plugin)
            .await
            .map_err(|error| format!("the edge did not say what it is given: {error}"))
    }

    async fn ask(&self, plugin: &PluginName) -> Result<Arc<Held>, ClientError> {
        let slot = Arc::clone(self.slots().entry(plugin.clone()).or_default());
        if let Some(held) = slot.young() {
            return Ok(held);
        }
        let _asking = slot.asking.lock().await;
        if let Some(held) = slot.young() {
            return Ok(held);
        }
        let changes = slot.state().changes;
        let at = Instant::now();
        match self.edge.credentials(plugin).await {
            Ok(given) => {
                let held = Arc::new(Held { given, at: Some(at) });
                let mut state = slot.state();
                let before = state.held.replace(Arc::clone(&held));
                state.of = changes;
                drop(state);
                if let Some(before) = before {
                    let difference = before.differs(&held);
                    if !difference.is_none() {
                        let _ = self.differs.send((plugin.clone(), difference));
                    }
                }
                Ok(held)
            }
            // It says no: nothing is this node's any more.
            Err(error @ ClientError::Problem(_)) => Err(error),
            Err(error) => {
                let state = slot.state();
                // It may end soon, and counts until then; what the edge said has changed does not.
                state.held.clone().filter(|_| state.of == state.changes).ok_or(error)
            }
        }
    }

    /// The edge says that what a plugin is given has changed: nothing that is held of it is used any more.
    pub(crate) fn change(self: &Arc<Self>, plugin: &PluginName) {
        let Some(slot) = self.slots().get(plugin).cloned() else { return };
        slot.state().changes += 1;
        let (vault, plugin) = (Arc::clone(self), plugin.clone());
        // Servers have secrets from their start on, so somebody must look also when nobody calls.
        tokio::spawn(async move {
            let mut wait = FIRST_WAIT;
            loop {
                match vault.ask(&plugin).await {
                    Ok(_) => return,
                    Err(error) if error.code() == Some(Code::NotFound) => return,
                    Err(_) => {
                        tokio::time::sleep(wait).await;
                        wait = (wait * 2).min(LONGEST_WAIT);
                    }
                }
                if !vault.slots().contains_key(&plugin) {
                    return;
                }
            }
        });
    }

    /// Of all plugins.
    pub(crate) fn change_all(self: &Arc<Self>) {
        let plugins: Vec<PluginName> = self.slots().keys().cloned().collect();
        for plugin in &plugins {
            self.change(plugin);
        }
    }

    /// Forgets what is held of plugins that are not run here any more.
    pub(crate) fn keep(&self, runs: impl Fn(&PluginName) -> bool) {
        self.slots().retain(|plugin, _| runs(plugin));
    }

    /// What a call of this function carries in `_meta`; nothing where no scope names it.
    pub(crate) async fn carried(
        &self,
        plugin: &PluginName,
        grants: &Grants,
        function: &FunctionId,
    ) -> Result<Option<Box<RawValue>>, Why> {
        #[derive(Serialize)]
        struct Carried<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            token: Option<&'a Sensitive>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            secrets: &'a BTreeMap<oz0_api::SecretName, Sensitive>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            params: &'a BTreeMap<String, String>,
        }
        let Some(connections) = grants.functions.get(function) else { return Ok(None) };
        let refuse = |name: &ConnectionName, what| Why::Unconnected(name.clone(), what);
        let Ok(held) = self.current(plugin).await else {
            let name = connections.keys().next().expect("a function is under some connection");
            return Err(refuse(name, Unconnected::Unknown));
        };
        let mut carried = BTreeMap::new();
        for (name, scopes) in connections {
            let connection = held.connection(name).map_err(|what| refuse(name, what))?;
            if let Some(granted) = &connection.scopes
                && scopes.is_disjoint(granted)
            {
                return Err(refuse(name, Unconnected::Scope));
            }
            let Credential { token, secrets, params, .. } = connection;
            carried.insert(name.as_str(), Carried { token: token.as_ref(), secrets, params });
        }
        Ok(serde_json::value::to_raw_value(&carried).ok())
    }

    /// What is known to be secret of a plugin, taken out of a text that its servers had a part in.
    pub(crate) fn without_secrets<'t>(
        &self,
        plugin: &PluginName,
        others: impl Iterator<Item = &'t str>,
        text: &'t str,
    ) -> Cow<'t, str> {
        let slot = self.slots().get(plugin).cloned();
        let held = slot.and_then(|slot| slot.state().held.clone());
        let mut values: BTreeSet<String> = others.map(str::to_owned).collect();
        if let Some(held) = &held {
            let connections = held.given.connections.values();
            let of = connections.flat_map(|one| one.token.iter().chain(one.secrets.values()));
            let all = held.given.secrets.values().chain(of);
            values.extend(all.map(|value| value.expose().to_owned()));
        }
        let lines: Vec<String> =
            values.iter().flat_map(|value| value.lines()).map(str::to_owned).collect();
        values.extend(lines);
        // In JSON some of its characters may be escapes.
        let quoted: Vec<String> = values
            .iter()
            .map(|value| serde_json::Value::from(value.as_str()).to_string())
            .map(|quoted| quoted[1..quoted.len() - 1].to_owned())
            .collect();
        values.extend(quoted);
        let mut text = Cow::Borrowed(text);
        // The longest first: one may be the beginning of another.
        let mut values: Vec<&String> =
            values.iter().filter(|value| value.len() >= LEAST_TOLD).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for value in values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), "[secret]"));
            }
        }
        text
    }
}

/// The headers of a remote server that is reached with a connection, with its token in them.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    pub(crate) vault: Arc<Vault>,
    pub(crate) plugin: PluginName,
    pub(crate) connection: ConnectionName,
    pub(crate) headers: BoundHeaders,
}

impl Bearer {
    /// Sees to it that what is sent next has a token that counts; without one nothing is to be sent.
    pub(crate) async fn refresh(&self) -> Result<(), Unconnected> {
        let set = async {
            let held = self.vault.current(&self.plugin).await.map_err(|_| Unconnected::Unknown)?;
            let connection = held.connection(&self.connection)?;
            // One that has params alone opens nothing.
            let Some(token) = &connection.token else { return Ok(None) };
            HeaderValue::try_from(format!("Bearer {}", token.expose()))
                .map(Some)
                .map_err(|_| Unconnected::Unsendable)
        };
        match set.await {
            Ok(Some(value)) => self.headers.set(AUTHORIZATION, value),
            Ok(None) => {}
            Err(what) => {
                self.headers.unset(&AUTHORIZATION);
                return Err(what);
            }
        }
        Ok(())
    }
}

/// Whether a tool of this version is reached with a connection, and with which.
pub(crate) fn connection_of<'a>(
    description: &'a PluginDescription,
    tool: &ToolId,
) -> Option<&'a ConnectionName> {
    description.tools.get(tool)?.connection.as_ref()
}
