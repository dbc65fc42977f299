//! What measuring a plugin found.

use oz0_diagnostic::{Diagnostic, Level};
use oz0_listing::diff::{self, Difference};
use oz0_listing::file::ListingFile;
use oz0_listing::{Function, FunctionId, PluginListing, ToolId};
use oz0_mcp::{Era, ProtocolVersion};
use oz0_server::{MissingLayer, Tier};

/// What the test node saw.
#[derive(Debug)]
pub struct Measurement {
    /// What the plugin's own servers list. Remote tools are not in it: their committed snapshots stand for them.
    pub listing: PluginListing,
    /// Each server that was started, in the manifest's order.
    pub servers: Vec<Server>,
    /// Remote tools, which were not dialled, and whether a snapshot stands for each.
    pub remote: Vec<Remote>,
    /// What is wrong, in the manifest's order.
    pub findings: Vec<Diagnostic>,
}

impl Measurement {
    /// Whether an error was found: then the listing is not what a node would see, and is not written.
    pub fn failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Error)
    }
}

/// One server, as it was seen.
#[derive(Debug)]
pub struct Server {
    /// Its tool.
    pub tool: ToolId,
    /// What it says it is: for people only.
    pub says: Option<String>,
    /// The protocol version that was agreed.
    pub protocol: ProtocolVersion,
    /// That version's era.
    pub era: Era,
    /// How many functions it lists that are in the listing.
    pub functions: usize,
    /// How many pages its listing has.
    pub pages: usize,
    /// How well it was contained.
    pub tier: Tier,
    /// The layers of containment that were missing.
    pub missing: Vec<MissingLayer>,
}

/// A remote tool.
#[derive(Debug)]
pub struct Remote {
    /// The tool.
    pub tool: ToolId,
    /// How many functions its committed snapshot has; none without one.
    pub snapshot: Option<usize>,
}

/// How a function differs from what the committed listing says of it.
#[derive(Debug)]
pub struct Change {
    /// Which function.
    pub id: FunctionId,
    /// What differs.
    pub difference: Difference,
}

/// What changed since the listing that the plugin has, in the order of the functions' IDs.
pub fn changes(committed: &ListingFile, measured: &PluginListing) -> Vec<Change> {
    let find = |functions: &[Function], id: &FunctionId| {
        functions.iter().position(|function| function.id == *id)
    };
    let mut changes = Vec::new();
    for new in &measured.functions {
        let difference = match find(&committed.functions, &new.id) {
            Some(at) if committed.functions[at].hash == new.hash => continue,
            Some(at) => diff::compare(&committed.functions[at].listing, &new.listing),
            None => diff::appeared(&new.listing),
        };
        changes.push(Change { id: new.id.clone(), difference });
    }
    for old in &committed.functions {
        if find(&measured.functions, &old.id).is_none() {
            let difference = diff::vanished(&old.listing);
            changes.push(Change { id: old.id.clone(), difference });
        }
    }
    changes.sort_by(|a, b| a.id.cmp(&b.id));
    changes
}
