//! oz0 on one machine: the data folder, an edge and a node in one process, and how to find them.
//!
//! [`Up`] is what `oz0 up` runs: an edge and a node with their ports. [`Mcp`] is what `oz0 mcp` runs:
//! a node whose only client is on standard input and output, and no port at all. Any number of these
//! may run on one [`DataFolder`]: one of them is its edge, the others are nodes of it, and when the
//! edge's process ends, however it does, another one is the edge.
//!
//! [`EdgeAlone`] and [`JoinedNode`] are the same two apart, on machines of their own: `oz0 edge` and `oz0 node`.
//!
//! Every other command finds the edge with [`find_edge`].

mod alone;
mod endpoint;
mod error;
mod find;
mod folder;
mod joined;
mod kept;
mod limits;
mod mcp;
mod numbers;
mod place;
mod seat;
mod serving;
mod talk;
mod up;

pub use alone::{EdgeAlone, EdgeOptions};
pub use error::LocalError;
pub use find::{Credentials, Target, find_edge};
pub use folder::DataFolder;
pub use joined::{Joined, JoinedNode, JoinedOptions};
pub use kept::Kept;
pub use limits::raise_open_files;
pub use mcp::Mcp;
pub use talk::Say;
pub use up::{Addresses, Up, UpOptions};

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use oz0_api::PluginName;
pub use oz0_edge::openapi;
pub use oz0_edge::serve::{Front, Network};
pub use oz0_edge::small::open_regular;
pub use oz0_edge::tls::Tls;
pub use oz0_edge::{Backup, BundlesAt, Migration, NoKey, PlaceError, SealKey, StoreAt};
use oz0_node::{NodeOptions, Parts};
use oz0_server::{Environments, Launcher, TierChoice};

/// What every node of this machine is started with.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The program that becomes each server's sandbox: this one.
    pub program: PathBuf,
    /// Where locked environments are kept.
    pub cache: PathBuf,
    /// How servers are contained.
    pub tier: TierChoice,
    /// How the node behaves. Whom it tells, and which plugins it runs, is set here, not there.
    pub node: NodeOptions,
    /// Plugins that are given something by their names. One that is not run is an error: the name may be misspelt.
    pub named: BTreeSet<PluginName>,
    /// Who hears what happens, in words.
    pub say: Say,
}

impl Machine {
    /// That every plugin that is given something by its name is one of `run`.
    fn check_named(&self, run: &BTreeSet<PluginName>) -> Result<(), LocalError> {
        match self.named.difference(run).next() {
            Some(name) => Err(LocalError::NotRun { name: name.clone(), run: run.clone() }),
            None => Ok(()),
        }
    }

    /// What a node is made of.
    fn parts(&self, edge: oz0_api::Client) -> Result<Parts, LocalError> {
        let launcher =
            Launcher::new(&self.program, &self.cache, self.tier.clone()).map_err(|error| {
                LocalError::System { operation: "start servers", reason: error.to_string() }
            })?;
        let say = self.say.clone();
        let progress: oz0_server::environment::Progress =
            Arc::new(move |line: &str| say.line(line));
        let environments = Environments::new(&self.program, &self.cache, progress);
        Ok(Parts { edge, launcher, environments })
    }
}
