//! How a node stands with its edge, and what follows for calls.

use super::{Roster, Standing};
use crate::refusal::Why;

impl Roster {
    /// Why nothing at all is called: the edge is lost for longer than this node goes on without it, or does not know
    /// it any more.
    pub(crate) fn cut_off(&self) -> Option<Why> {
        match self.standing() {
            Standing::Lost { since, .. } if since.elapsed() > self.host.options.edge_grace => {
                Some(Why::EdgeLost)
            }
            Standing::Dismissed { reason } => Some(Why::Dismissed(reason)),
            Standing::OutOfService { reason } => Some(Why::OutOfService(reason)),
            Standing::Good | Standing::Lost { .. } => None,
        }
    }

    /// Whether this node can call anything.
    pub(crate) fn ready(&self) -> Result<(), &'static str> {
        match self.cut_off() {
            Some(Why::Dismissed(_)) => Err("the edge does not know this node"),
            Some(Why::OutOfService(_)) => Err("the edge is out of service"),
            Some(_) => Err("the edge is away for longer than this node goes on without it"),
            None if !self.table().complete => Err("this node has no plugin set from its edge"),
            None => Ok(()),
        }
    }

    /// Why the edge is not there.
    pub(crate) fn lost_because(&self) -> Option<String> {
        match self.standing() {
            Standing::Good => None,
            Standing::Lost { reason, .. }
            | Standing::Dismissed { reason }
            | Standing::OutOfService { reason } => Some(reason),
        }
    }
}
