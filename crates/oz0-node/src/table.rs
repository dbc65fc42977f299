//! The table that calls and listings look into: which functions there are, which accepted listings they have, and whose
//! each model name is.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use oz0_api::Revision;
use oz0_listing::{FunctionId, ListingHash, ModelName};
use oz0_mcp::server::{Functions, Splice};
use oz0_policy::{FunctionType, Hints};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hooks::Watch;
use crate::metrics::{FunctionCalls, Metrics};
use crate::options::Arguments;
use crate::policy::{PluginPolicy, Rules};
use crate::refusal::{Refusal, Why};
use crate::schema::Schemas;
use crate::server::Server;
use crate::vault::Grants;

/// An accepted listing.
pub(crate) struct Accepted {
    pub(crate) hash: ListingHash,
    /// What is served: the pinned listing with its overrides, under the server's name of the function.
    pub(crate) served: Option<Box<RawValue>>,
    /// The same as clients get it, under the model name.
    pub(crate) item: Option<Box<str>>,
    /// What kind of call it makes, by what is served.
    pub(crate) kind: FunctionType,
    pub(crate) schemas: OnceLock<Schemas>,
    calls: OnceLock<Arc<FunctionCalls>>,
}

impl Accepted {
    pub(crate) fn new(id: &FunctionId, hash: ListingHash, served: Option<Box<RawValue>>) -> Self {
        let item = served.as_ref().and_then(|served| item(id, served.get()));
        let kind = kind(served.as_ref().map_or("{}", |served| served.get()));
        Self { hash, served, item, kind, schemas: OnceLock::new(), calls: OnceLock::new() }
    }

    pub(crate) fn is_served(&self) -> bool {
        self.item.is_some()
    }

    /// Its schemas, compiled when they are first needed.
    pub(crate) fn schemas(&self, arguments: Arguments) -> &Schemas {
        self.schemas.get_or_init(|| {
            Schemas::of(self.served.as_ref().map_or("{}", |served| served.get()), arguments)
        })
    }
}

/// What kind of call a function makes by its listing.
fn kind(served: &str) -> FunctionType {
    let listing: serde_json::Value = serde_json::from_str(served).unwrap_or_default();
    let hint = |name: &str| listing.get("annotations")?.get(name)?.as_bool();
    Hints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        open_world: hint("openWorldHint"),
    }
    .function_type()
}

/// A function as an MCP client gets it: its listing under its model name. MCP wants an input schema of every function,
/// and a client refuses a whole listing for one without; where there is none, any object will do.
fn item(id: &FunctionId, served: &str) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        name: &'a RawValue,
        #[serde(borrow, rename = "inputSchema", default)]
        input: Option<&'a RawValue>,
    }
    let parts: Parts<'_> = serde_json::from_str(served).ok()?;
    let name = serde_json::Value::from(ModelName::of(id).as_str()).to_string();
    let mut splice = Splice::new(served);
    match parts.input {
        Some(input) if !input.get().starts_with('{') => return None,
        Some(_) => splice.replace_value(parts.name, name).ok()?,
        None => {
            let more = format!(r#"{name},"inputSchema":{{"type":"object"}}"#);
            splice.replace_value(parts.name, more).ok()?;
        }
    }
    Some(splice.apply().into())
}

/// What a function has to say for its having its model name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// It was accepted under it.
    Accepted,
    /// It is only listed.
    Listed,
    /// The edge has said that the name is another's.
    LeftOut,
}

/// A function that a call can name.
pub(crate) struct Entry {
    pub(crate) id: FunctionId,
    pub(crate) server: Arc<Server>,
    pub(crate) accepted: Vec<Arc<Accepted>>,
    pub(crate) left_out_for: Option<FunctionId>,
    /// What its plugin says of calls.
    pub(crate) policy: Arc<PluginPolicy>,
    /// Which of its plugin's calls carry tokens.
    pub(crate) grants: Arc<Grants>,
    /// Another function of the same plugin has the same model name.
    pub(crate) clashes: bool,
}

impl Entry {
    /// What is accepted with this hash.
    pub(crate) fn accepted(&self, hash: ListingHash) -> Option<&Arc<Accepted>> {
        self.accepted.iter().find(|accepted| accepted.hash == hash)
    }

    /// Whether it was ever accepted.
    pub(crate) fn is_known(&self) -> bool {
        !self.accepted.is_empty()
    }

    /// What is counted of its calls. A function that nobody accepted has no numbers of its own: its server names it.
    pub(crate) fn calls(&self, metrics: &Metrics) -> &Arc<FunctionCalls> {
        match self.accepted.first() {
            Some(accepted) => {
                accepted.calls.get_or_init(|| metrics.function(&self.server.plugin, &self.id))
            }
            None => &self.server.metrics.unaccepted,
        }
    }

    /// How strong its claim to its model name is, the strongest first.
    pub(crate) fn claim(&self) -> Claim {
        match self.left_out_for {
            Some(_) => Claim::LeftOut,
            None if self.is_known() => Claim::Accepted,
            None => Claim::Listed,
        }
    }

    /// Why it is not called, whatever its server lists.
    pub(crate) fn barred(&self) -> Option<Why> {
        if self.server.moved {
            return Some(Why::Moved);
        }
        if self.clashes {
            return Some(Why::LeftOut);
        }
        self.left_out_for.clone().map(Why::NameTaken)
    }

    pub(crate) fn refusal(&self, why: Why) -> Refusal {
        Refusal {
            function: self.id.clone(),
            plugin: self.server.plugin.clone(),
            version: self.server.version.clone(),
            why,
        }
    }

    /// What clients see of it.
    pub(crate) fn shown(&self) -> Option<&str> {
        if self.barred().is_some() {
            return None;
        }
        let accepted = match self.server.last() {
            Some(listed) => self.accepted(listed.functions.get(&self.id)?.hash),
            // Nothing speaks against it yet, and no call goes through before something speaks for it.
            None => self.accepted.last(),
        };
        accepted?.item.as_deref()
    }
}

/// What is called and listed.
pub(crate) struct Table {
    pub(crate) functions: HashMap<FunctionId, Arc<Entry>>,
    /// Whose each model name is. Any number of functions can have one, and it is one's at most.
    pub(crate) names: HashMap<Box<str>, Arc<Entry>>,
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) visible: Arc<Functions>,
    /// The tenant's rules.
    pub(crate) tenant: Arc<Rules>,
    /// The functions that are called around calls, of every plugin that is installed, run here or not.
    pub(crate) hooks: Arc<[Watch]>,
    /// Whether the edge's plugin set is here.
    pub(crate) complete: bool,
    /// How far of what the edge decided all of this is.
    pub(crate) revision: Revision,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            functions: HashMap::new(),
            names: HashMap::new(),
            servers: Vec::new(),
            visible: Arc::default(),
            tenant: Arc::default(),
            hooks: Arc::new([]),
            complete: false,
            revision: Revision::default(),
        }
    }
}

impl Table {
    /// The function of this ID, whether or not it has its model name.
    pub(crate) fn function(&self, id: &FunctionId) -> Option<&Arc<Entry>> {
        self.functions.get(id)
    }

    /// The function that has this model name; where none has it, one that would.
    pub(crate) fn named(&self, name: &str) -> Option<&Arc<Entry>> {
        self.names.get(name)
    }

    /// Every server.
    pub(crate) fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }
}

pub(crate) type Entries = HashMap<FunctionId, Arc<Entry>>;
pub(crate) type Names = HashMap<Box<str>, Arc<Entry>>;

/// Settles whose each model name is. Of two in one plugin it is neither's. Across plugins a function that nobody accepted
/// takes no name from one that somebody did, and the edge says which of two accepted ones had it first.
pub(crate) fn named(entries: HashMap<FunctionId, Entry>) -> (Entries, Names) {
    let mut by_name: BTreeMap<ModelName, Vec<Entry>> = BTreeMap::new();
    for entry in entries.into_values() {
        by_name.entry(ModelName::of(&entry.id)).or_default().push(entry);
    }
    let (mut functions, mut names) = (Entries::new(), Names::new());
    for (name, mut claims) in by_name {
        claims.sort_by(|one, other| one.claim().cmp(&other.claim()).then(one.id.cmp(&other.id)));
        let twins = |one: &Entry, other: &Entry| {
            one.id != other.id && one.server.plugin == other.server.plugin
        };
        let clashing: Vec<bool> =
            claims.iter().map(|one| claims.iter().any(|other| twins(one, other))).collect();
        for (mut entry, clashes) in claims.into_iter().zip(clashing) {
            entry.clashes = clashes;
            let entry = Arc::new(entry);
            names.entry(name.as_str().into()).or_insert_with(|| Arc::clone(&entry));
            functions.insert(entry.id.clone(), entry);
        }
    }
    (functions, names)
}
