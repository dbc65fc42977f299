//! What the servers of simulated nodes list, and which calls reached them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use oz0_api::NodeName;
use oz0_api::node::ListedFunction;
use oz0_listing::{FunctionId, Listing, ToolId};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

/// A call as its server would have written it down.
#[derive(Debug, Clone)]
pub struct Made {
    /// The node that made it.
    pub node: NodeName,
    /// The function.
    pub function: FunctionId,
    /// Its arguments.
    pub arguments: Value,
    /// What the function said of itself.
    pub text: String,
}

/// What a tool lists.
#[derive(Debug)]
pub struct Tool {
    /// What each function says of itself, by its name.
    pub texts: BTreeMap<String, String>,
    /// The same, as every node reports it.
    pub(crate) reported: Vec<ListedFunction>,
}

/// What every tool lists.
pub(crate) type Listed = BTreeMap<ToolId, Arc<Tool>>;

/// The servers of every simulated node; clones are one world.
#[derive(Debug, Clone)]
pub struct World {
    listed: watch::Sender<Listed>,
    made: Arc<Mutex<Vec<Made>>>,
    /// Whether nodes fetch the bundles of what they are to run.
    pub(crate) fetches: bool,
}

impl Default for World {
    fn default() -> Self {
        Self { listed: watch::Sender::new(Listed::new()), made: Arc::default(), fetches: true }
    }
}

impl World {
    /// Every server of this tool lists these functions from now on, each with what it says of itself.
    pub fn list(&self, tool: &ToolId, functions: BTreeMap<String, String>) {
        let reported = functions.iter().map(|(name, text)| reported(tool, name, text)).collect();
        self.listed.send_modify(|listed| {
            listed.insert(tool.clone(), Arc::new(Tool { texts: functions, reported }));
        });
    }

    pub(crate) fn listed(&self) -> watch::Receiver<Listed> {
        self.listed.subscribe()
    }

    /// What a tool's function says of itself now.
    pub(crate) fn says(&self, function: &FunctionId) -> Option<String> {
        self.listed.borrow().get(&function.tool())?.texts.get(function.function()).cloned()
    }

    pub(crate) fn make(&self, made: Made) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(made);
    }

    /// The calls that were made.
    pub fn made(&self) -> Vec<Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The listing of a function that says this of itself.
///
/// # Panics
///
/// Never: a name and a text make a listing.
pub(crate) fn listing(name: &str, text: &str) -> Listing {
    let raw = json!({
        "name": name,
        "description": text,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object"},
    });
    Listing::read(&raw.to_string(), &[]).expect("a name and a text make a listing")
}

/// The same, as a node reports it.
fn reported(tool: &ToolId, name: &str, text: &str) -> ListedFunction {
    let listing = listing(name, text);
    ListedFunction {
        id: FunctionId::new(tool, name).expect("a function's name"),
        hash: listing.hash(),
        listing: RawValue::from_string(listing.canonical().to_owned()).expect("it is JSON"),
        uncallable: None,
    }
}
