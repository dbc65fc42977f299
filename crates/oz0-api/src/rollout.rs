//! Another version of a plugin, which some nodes run before all of them do: a candidate.
//!
//! Which nodes these are is said by name, or as a share of all. A share is drawn from each node's name by a hash, and from
//! nothing else: whoever asks gets the same answer, at any edge and at any time, and a node that is in at one share is in at
//! every larger one.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::id::{NodeName, PluginName, PluginVersion};

/// The nodes that run a candidate.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rollout {
    /// These.
    Nodes(BTreeSet<NodeName>),
    /// So many of a hundred.
    Percent(Percent),
}

/// A share of all nodes: 1 to 100 of a hundred.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(extend("minimum" = 1, "maximum" = 100))]
pub struct Percent(u8);

/// What is no rollout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RolloutError {
    /// A share outside 1 to 100.
    #[error("a share of the nodes is 1 to 100 of a hundred")]
    Percent,
    /// No node, or a name that no node has.
    #[error(
        "a candidate's nodes are named by their names, with commas between them, and there is one at least"
    )]
    Nodes,
    /// Neither.
    #[error("write `nodes:NAME,NAME` or `percent:NUMBER`")]
    Neither,
}

impl TryFrom<u8> for Percent {
    type Error = RolloutError;

    fn try_from(share: u8) -> Result<Self, RolloutError> {
        if (1..=100).contains(&share) { Ok(Self(share)) } else { Err(RolloutError::Percent) }
    }
}

impl From<Percent> for u8 {
    fn from(percent: Percent) -> Self {
        percent.0
    }
}

impl Rollout {
    /// Whether a node is one of them, for this version of this plugin. Each version draws anew, so that it is not always the
    /// same nodes that go first.
    pub fn includes(&self, plugin: &PluginName, version: &PluginVersion, node: &NodeName) -> bool {
        match self {
            Self::Nodes(nodes) => nodes.contains(node),
            Self::Percent(Percent(share)) => draw(plugin, version, node) < u64::from(*share),
        }
    }
}

/// A node's lot: 0 to 99.
fn draw(plugin: &PluginName, version: &PluginVersion, node: &NodeName) -> u64 {
    let mut hash = Sha256::new();
    for part in ["oz0.rollout.v1", plugin.as_str(), version.as_str(), node.as_str()] {
        // None of them holds a NUL, so no two lists of parts read alike.
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let bytes: [u8; 32] = hash.finalize().into();
    let high = bytes.iter().take(8).fold(0_u128, |high, byte| (high << 8) | u128::from(*byte));
    u64::try_from((high * 100) >> 64).unwrap_or(99)
}

/// `nodes:berlin,paris` or `percent:10`, as queries and the store have it.
impl fmt::Display for Rollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                f.write_str("nodes:")?;
                for (at, node) in nodes.iter().enumerate() {
                    write!(f, "{}{node}", if at == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            Self::Percent(Percent(share)) => write!(f, "percent:{share}"),
        }
    }
}

impl FromStr for Rollout {
    type Err = RolloutError;

    fn from_str(text: &str) -> Result<Self, RolloutError> {
        match text.split_once(':') {
            Some(("nodes", names)) => names
                .split(',')
                .map(|name| name.parse().map_err(|_| RolloutError::Nodes))
                .collect::<Result<_, _>>()
                .map(Self::Nodes),
            Some(("percent", share)) => {
                let share: u8 = share.parse().map_err(|_| RolloutError::Percent)?;
                share.try_into().map(Self::Percent)
            }
            _ => Err(RolloutError::Neither),
        }
    }
}

/// Rollouts in their text form, for queries.
pub(crate) mod text {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Rollout;

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(
        rollout: &Option<Rollout>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match rollout {
            Some(rollout) => serializer.collect_str(rollout),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Rollout>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// A version of a plugin that a person looked at, and decides about: if it is another one by now, nothing is done.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfVersion {
    /// The version: of a promotion the candidate, of a rollback the one that is to go.
    pub version: PluginVersion,
}
