//! What stands on one function of one plugin version: the state machine behind every refusal.
//!
//! The edge holds two things about a function: which values are accepted, and which value each node
//! sees now. A value is a listing's hash, or that the function is *not listed*: treating absence as
//! one more value makes removal, return and novelty the same case as a changed description. Open
//! changes are not a third thing that could disagree with the two; they follow from them
//! ([`Function::waiting`]).
//!
//! Everything is decided by [`Function::step`], which is pure. The store loads a function, steps it,
//! and writes the difference in the same transaction.
//!
//! | state | event | accepted after |
//! |---|---|---|
//! | unpinned | the tool's first complete listing | what that node lists |
//! | unpinned | any other | nothing: what was not first is never trusted by being seen |
//! | pinned | a listing, the first ones of other nodes included | as before, never more |
//! | pinned | approval of a value that a node sees now | as before and that value |
//! | pinned | approval of anything else | refused as stale |
//!
//! After each event a value is dropped when live nodes that listed it all see another accepted one;
//! what no live node ever listed stays, and so does the last. So after an approval the old text is a
//! change again, and a node that is away loses nothing by being away.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use oz0_api::NodeName;
use oz0_api::change::ChangeKind;
use oz0_listing::ListingHash;

/// What a node sees of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Its server does not list it.
    Absent,
    /// Its server lists it with this hash.
    Listed(ListingHash),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Listed(hash) => hash.fmt(f),
        }
    }
}

impl FromStr for Value {
    type Err = <ListingHash as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "absent" { Ok(Self::Absent) } else { text.parse().map(Self::Listed) }
    }
}

/// A function of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Function {
    /// Its tool has no snapshot.
    Unpinned,
    /// Its tool has one.
    Pinned(Pinned),
}

/// What is accepted, and what is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Never empty; the last accepted is last.
    accepted: Vec<Value>,
    seen: BTreeMap<NodeName, Sight>,
}

/// What one node sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// Now.
    pub now: Value,
    /// Accepted values that it listed before.
    pub before: BTreeSet<Value>,
}

/// What can happen to a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A complete listing of its tool, the first of all.
    Snapshot {
        /// Whose.
        node: NodeName,
        /// What it says of this function.
        value: Value,
    },
    /// A later complete listing of its tool.
    Listing {
        /// Whose.
        node: NodeName,
        /// What it says of this function.
        value: Value,
    },
    /// A person accepts this value.
    Approve {
        /// What was looked at.
        value: Value,
    },
}

/// An approval of what no node sees any more, or what is accepted already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale;

/// A change that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What kind.
    pub kind: ChangeKind,
    /// Who sees it.
    pub nodes: BTreeSet<NodeName>,
}

impl Function {
    /// A function that a snapshot does not have, as the nodes saw it that were compared with that
    /// snapshot so far: not being listed is what is accepted.
    pub fn outside<'a>(compared: impl IntoIterator<Item = &'a NodeName>) -> Self {
        let sight = Sight { now: Value::Absent, before: BTreeSet::new() };
        let seen = compared.into_iter().map(|node| (node.clone(), sight.clone())).collect();
        Self::Pinned(Pinned { accepted: vec![Value::Absent], seen })
    }

    /// A function as it was stored; `accepted` in the order of acceptance.
    pub fn stored(accepted: Vec<Value>, seen: BTreeMap<NodeName, Sight>) -> Self {
        if accepted.is_empty() { Self::Unpinned } else { Self::Pinned(Pinned { accepted, seen }) }
    }

    /// What becomes of it. `live` says which nodes are there now.
    pub fn step(self, event: Event, live: impl Fn(&NodeName) -> bool) -> Result<Self, Stale> {
        let mut pinned = match (self, event) {
            (Self::Unpinned, Event::Snapshot { node, value }) => {
                let sight = Sight { now: value, before: BTreeSet::new() };
                return Ok(Self::Pinned(Pinned {
                    accepted: vec![value],
                    seen: BTreeMap::from([(node, sight)]),
                }));
            }
            (Self::Unpinned, Event::Listing { .. }) => return Ok(Self::Unpinned),
            (Self::Unpinned, Event::Approve { .. }) => return Err(Stale),
            // Two first nodes: one made the snapshot, the other is compared with it.
            (
                Self::Pinned(mut pinned),
                Event::Snapshot { node, value } | Event::Listing { node, value },
            ) => {
                pinned.see(node, value);
                pinned
            }
            (Self::Pinned(mut pinned), Event::Approve { value }) => {
                let sees = pinned.seen.values().any(|sight| sight.now == value);
                if !sees || pinned.accepted.contains(&value) {
                    return Err(Stale);
                }
                pinned.accepted.push(value);
                pinned
            }
        };
        pinned.drop_left(live);
        Ok(Self::Pinned(pinned))
    }

    /// What is accepted, the last accepted last; empty without a snapshot.
    pub fn accepted(&self) -> &[Value] {
        match self {
            Self::Unpinned => &[],
            Self::Pinned(pinned) => &pinned.accepted,
        }
    }

    /// What each node sees.
    pub fn seen(&self) -> impl Iterator<Item = (&NodeName, &Sight)> {
        match self {
            Self::Unpinned => None,
            Self::Pinned(pinned) => Some(pinned.seen.iter()),
        }
        .into_iter()
        .flatten()
    }

    /// The same where this node sees nothing any more: it does not come back.
    pub fn without(mut self, node: &NodeName) -> Self {
        if let Self::Pinned(pinned) = &mut self {
            pinned.seen.remove(node);
        }
        self
    }

    /// What waits for approval, by what is seen.
    pub fn waiting(&self) -> BTreeMap<Value, Waiting> {
        let mut waiting = BTreeMap::<Value, Waiting>::new();
        for (node, sight) in self.seen() {
            if let Some(kind) = self.kind(sight.now) {
                waiting
                    .entry(sight.now)
                    .or_insert_with(|| Waiting { kind, nodes: BTreeSet::new() })
                    .nodes
                    .insert(node.clone());
            }
        }
        waiting
    }

    /// What kind of change `value` is; none where it is accepted, or nothing is decided.
    pub fn kind(&self, value: Value) -> Option<ChangeKind> {
        let accepted = self.accepted();
        if accepted.is_empty() || accepted.contains(&value) {
            return None;
        }
        Some(match value {
            Value::Absent => ChangeKind::Gone,
            Value::Listed(_) if accepted.iter().any(|one| *one != Value::Absent) => {
                ChangeKind::Changed
            }
            Value::Listed(_) => ChangeKind::New,
        })
    }
}

impl Pinned {
    fn see(&mut self, node: NodeName, value: Value) {
        let accepted = &self.accepted;
        let sight =
            self.seen.entry(node).or_insert_with(|| Sight { now: value, before: BTreeSet::new() });
        if sight.now != value && accepted.contains(&sight.now) {
            sight.before.insert(sight.now);
        }
        sight.before.remove(&value);
        sight.now = value;
    }

    fn drop_left(&mut self, live: impl Fn(&NodeName) -> bool) {
        for value in self.accepted.clone() {
            let mut held = self
                .seen
                .iter()
                .filter(|(node, sight)| {
                    live(node) && (sight.now == value || sight.before.contains(&value))
                })
                .map(|(_, sight)| sight.now)
                .peekable();
            let left = held.peek().is_some()
                && held.all(|now| now != value && self.accepted.contains(&now));
            if left {
                self.accepted.retain(|one| *one != value);
                // A node that is away saw it last: what it sees when it comes back is judged then.
                self.seen.retain(|_, sight| sight.now != value);
                for sight in self.seen.values_mut() {
                    sight.before.remove(&value);
                }
            }
        }
    }
}
