//! The state machine of one function: as a table, and against a small model.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::NodeName;
use oz0_api::change::ChangeKind;
use oz0_edge::function::{Event, Function, Stale, Value};
use oz0_listing::{Digest, ListingHash};
use proptest::prelude::*;

fn value(number: u8) -> Value {
    if number == 0 {
        Value::Absent
    } else {
        Value::Listed(Digest::of([number]).to_string().parse::<ListingHash>().unwrap())
    }
}

fn node(number: u8) -> NodeName {
    format!("node-{number}").parse().unwrap()
}

fn run(events: &[Event]) -> Result<Function, Stale> {
    events
        .iter()
        .cloned()
        .try_fold(Function::Unpinned, |function, event| function.step(event, |_| true))
}

fn snapshot(n: u8, v: u8) -> Event {
    Event::Snapshot { node: node(n), value: value(v) }
}

fn listing(n: u8, v: u8) -> Event {
    Event::Listing { node: node(n), value: value(v) }
}

fn approve(v: u8) -> Event {
    Event::Approve { value: value(v) }
}

/// What happens, what is accepted then, and what waits.
type Case = (&'static str, Vec<Event>, Option<(Vec<u8>, Vec<(u8, ChangeKind)>)>);

#[test]
fn the_table_of_transitions_holds() {
    use ChangeKind::{Changed, Gone, New};
    let cases: Vec<Case> = vec![
        (
            "a listing without a snapshot trusts nothing",
            vec![listing(1, 1)],
            Some((vec![], vec![])),
        ),
        ("nothing can be approved without a snapshot", vec![approve(1)], None),
        ("the first listing is accepted", vec![snapshot(1, 1)], Some((vec![1], vec![]))),
        (
            "the second first listing is compared",
            vec![snapshot(1, 1), snapshot(2, 2)],
            Some((vec![1], vec![(2, Changed)])),
        ),
        (
            "a change waits",
            vec![snapshot(1, 1), listing(1, 2)],
            Some((vec![1], vec![(2, Changed)])),
        ),
        (
            "seen again it still waits",
            vec![snapshot(1, 1), listing(1, 2), listing(1, 2), listing(1, 2)],
            Some((vec![1], vec![(2, Changed)])),
        ),
        (
            "a revert closes",
            vec![snapshot(1, 1), listing(1, 2), listing(1, 1)],
            Some((vec![1], vec![])),
        ),
        (
            "an approval accepts, and the node that moved on drops the old text",
            vec![snapshot(1, 1), listing(1, 2), approve(2)],
            Some((vec![2], vec![])),
        ),
        (
            "the old text is a change then",
            vec![snapshot(1, 1), listing(1, 2), approve(2), listing(1, 1)],
            Some((vec![2], vec![(1, Changed)])),
        ),
        ("an approval of what nobody sees is stale", vec![snapshot(1, 1), approve(2)], None),
        (
            "an approval of what was seen before is stale",
            vec![snapshot(1, 1), listing(1, 2), listing(1, 3), approve(2)],
            None,
        ),
        ("an approval of what is accepted is stale", vec![snapshot(1, 1), approve(1)], None),
        (
            "two nodes, two accepted",
            vec![snapshot(1, 1), listing(2, 2), approve(2)],
            Some((vec![1, 2], vec![])),
        ),
        (
            "the last node to leave drops it",
            vec![snapshot(1, 1), listing(2, 2), approve(2), listing(1, 2)],
            Some((vec![2], vec![])),
        ),
        (
            "moving on to what is not accepted drops nothing",
            vec![snapshot(1, 1), listing(2, 2), approve(2), listing(1, 3)],
            Some((vec![1, 2], vec![(3, Changed)])),
        ),
        ("gone waits", vec![snapshot(1, 1), listing(1, 0)], Some((vec![1], vec![(0, Gone)]))),
        (
            "gone and approved, then back: new",
            vec![snapshot(1, 1), listing(1, 0), approve(0), listing(1, 1)],
            Some((vec![0], vec![(1, New)])),
        ),
        (
            "new and approved, then gone",
            vec![snapshot(1, 0), listing(1, 1), approve(1), listing(1, 0)],
            Some((vec![1], vec![(0, Gone)])),
        ),
        (
            "one node sees two texts in turn: only the last waits",
            vec![snapshot(1, 1), listing(1, 2), listing(1, 3)],
            Some((vec![1], vec![(3, Changed)])),
        ),
    ];
    for (what, events, expected) in cases {
        let got = run(&events).ok().map(|function| {
            let waiting: BTreeMap<Value, ChangeKind> =
                function.waiting().into_iter().map(|(v, waiting)| (v, waiting.kind)).collect();
            (function.accepted().to_vec(), waiting)
        });
        let expected = expected.map(|(accepted, waiting)| {
            (
                accepted.into_iter().map(value).collect::<Vec<_>>(),
                waiting.into_iter().map(|(v, kind)| (value(v), kind)).collect(),
            )
        });
        assert_eq!(got, expected, "{what}");
    }
}

#[test]
fn a_dead_nodes_text_is_judged_when_it_comes_back() {
    let only_two = |name: &NodeName| *name == node(2);
    let function = run(&[snapshot(1, 1), listing(2, 1)]).unwrap();
    let function = function.step(listing(2, 2), only_two).unwrap();
    let function = function.step(approve(2), only_two).unwrap();
    assert_eq!(function.accepted(), [value(2)], "the live node that listed it has another");
    assert!(function.waiting().is_empty(), "a node that is away opens no change");
    let function = function.step(listing(1, 1), |_| true).unwrap();
    assert_eq!(function.waiting().keys().copied().collect::<Vec<_>>(), [value(1)]);
}

#[derive(Debug, Clone)]
enum Op {
    Listing { node: u8, value: u8, live: u8 },
    Approve { value: u8, live: u8 },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..3_u8, 0..4_u8, 0..8_u8)
            .prop_map(|(node, value, live)| Op::Listing { node, value, live }),
        1 => (0..4_u8, 0..8_u8).prop_map(|(value, live)| Op::Approve { value, live }),
    ]
}

/// The same rules in another form: sets of who ever listed what, and no order.
#[derive(Default)]
struct Model {
    accepted: BTreeSet<u8>,
    now: BTreeMap<u8, u8>,
    ever: BTreeSet<(u8, u8)>,
}

impl Model {
    fn settle(&mut self, live: impl Fn(u8) -> bool) {
        // In the order of acceptance it makes no difference: a value that a live node lists now is
        // never dropped, and one that is dropped was listed by nobody alive.
        for value in self.accepted.clone() {
            let holders: Vec<u8> = self
                .now
                .keys()
                .copied()
                .filter(|node| live(*node) && self.ever.contains(&(*node, value)))
                .collect();
            let left = !holders.is_empty()
                && holders
                    .iter()
                    .all(|node| self.now[node] != value && self.accepted.contains(&self.now[node]));
            if left {
                self.accepted.remove(&value);
                self.now.retain(|_, now| *now != value);
                self.ever.retain(|(_, held)| *held != value);
            }
        }
        let now = &self.now;
        self.ever.retain(|(node, _)| now.contains_key(node));
        let accepted = &self.accepted;
        self.ever.retain(|(_, value)| accepted.contains(value));
    }
}

proptest! {
    #[test]
    fn every_history_is_that_of_the_model(first in 0..4_u8, ops in prop::collection::vec(op(), 0..60)) {
        let mut function = Function::Unpinned.step(snapshot(0, first), |_| true).unwrap();
        let mut model = Model::default();
        model.accepted.insert(first);
        model.now.insert(0, first);
        model.ever.insert((0, first));
        let mut approved: BTreeSet<Value> = BTreeSet::from([value(first)]);
        for op in ops {
            match op {
                Op::Listing { node: n, value: v, live } => {
                    let alive = |one: u8| one == n || live & (1 << one) != 0;
                    model.now.insert(n, v);
                    if model.accepted.contains(&v) {
                        model.ever.insert((n, v));
                    }
                    model.settle(alive);
                    let before = function.accepted().to_vec();
                    function = function
                        .step(listing(n, v), |name| (0..3).any(|one| node(one) == *name && alive(one)))
                        .unwrap();
                    prop_assert!(
                        function.accepted().iter().all(|one| before.contains(one)),
                        "a listing made something trusted"
                    );
                }
                Op::Approve { value: v, live } => {
                    let alive = |one: u8| live & (1 << one) != 0;
                    let seen = model.now.values().any(|now| *now == v);
                    let stale = !seen || model.accepted.contains(&v);
                    let stepped = function.clone().step(approve(v), |name| {
                        (0..3).any(|one| node(one) == *name && alive(one))
                    });
                    prop_assert_eq!(stepped.is_err(), stale);
                    if let Ok(next) = stepped {
                        model.accepted.insert(v);
                        for (n, now) in &model.now {
                            if *now == v {
                                model.ever.insert((*n, v));
                            }
                        }
                        model.settle(alive);
                        approved.insert(value(v));
                        function = next;
                    }
                }
            }
            let accepted: BTreeSet<Value> = function.accepted().iter().copied().collect();
            let expected: BTreeSet<Value> = model.accepted.iter().copied().map(value).collect();
            prop_assert_eq!(&accepted, &expected);
            prop_assert!(!accepted.is_empty(), "the last stays");
            prop_assert!(accepted.is_subset(&approved), "nothing is trusted that nobody accepted");
            // What waits is exactly what is seen and not accepted, each for exactly its nodes.
            let mut waiting = BTreeMap::<Value, BTreeSet<NodeName>>::new();
            for (n, v) in &model.now {
                if !model.accepted.contains(v) {
                    waiting.entry(value(*v)).or_default().insert(node(*n));
                }
            }
            let got: BTreeMap<Value, BTreeSet<NodeName>> =
                function.waiting().into_iter().map(|(v, waiting)| (v, waiting.nodes)).collect();
            prop_assert_eq!(got, waiting);
        }
    }

    #[test]
    fn a_state_that_is_stored_and_loaded_is_the_same(first in 0..4_u8, ops in prop::collection::vec(op(), 0..20)) {
        let mut function = Function::Unpinned.step(snapshot(0, first), |_| true).unwrap();
        for op in ops {
            let event = match op {
                Op::Listing { node, value, .. } => listing(node, value),
                Op::Approve { value, .. } => approve(value),
            };
            if let Ok(next) = function.clone().step(event, |_| true) {
                function = next;
            }
        }
        let seen = function.seen().map(|(node, sight)| (node.clone(), sight.clone())).collect();
        prop_assert_eq!(Function::stored(function.accepted().to_vec(), seen), function);
    }
}
