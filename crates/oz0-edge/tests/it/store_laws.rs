//! The store against the state machine: after any history, what the API says is what the pure
//! machine says, also when the edge was started again in between.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::{ChangeId, Client, NodeName};
use oz0_edge::function::{Event, Function, Value};
use proptest::prelude::*;

use crate::house::{House, plugin, tell};

#[derive(Debug, Clone)]
enum Op {
    /// A node lists these functions with these texts.
    Report { node: usize, listed: BTreeMap<u8, u8> },
    /// A person approves one of the changes that wait.
    Approve { pick: usize },
    /// The edge ends and starts again.
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..3_usize, prop::collection::btree_map(0..3_u8, 0..3_u8, 0..4))
            .prop_map(|(node, listed)| Op::Report { node, listed }),
        4 => any::<usize>().prop_map(|pick| Op::Approve { pick }),
        1 => Just(Op::Restart),
    ]
}

#[derive(Default)]
struct Model {
    snapshot: bool,
    compared: BTreeSet<NodeName>,
    /// Nodes whose last list was empty.
    silent: BTreeSet<NodeName>,
    functions: BTreeMap<String, Function>,
}

fn id(function: u8) -> String {
    format!("team.f{function}")
}

fn value(function: u8, text: u8) -> Value {
    let name = format!("f{function}");
    Value::Listed(crate::house::hash(&name, &format!("Text {text}.")))
}

impl Model {
    fn report(&mut self, node: &NodeName, listed: &BTreeMap<u8, u8>) {
        if listed.is_empty() {
            self.silent.insert(node.clone());
            return;
        }
        self.silent.remove(node);
        let listed: BTreeMap<String, Value> =
            listed.iter().map(|(f, text)| (id(*f), value(*f, *text))).collect();
        let ids: BTreeSet<String> = self.functions.keys().chain(listed.keys()).cloned().collect();
        for id in ids {
            let before = self.function(&id);
            let value = listed.get(&id).copied().unwrap_or(Value::Absent);
            let node = node.clone();
            let event = if self.snapshot {
                Event::Listing { node, value }
            } else {
                Event::Snapshot { node, value }
            };
            self.functions.insert(id, before.step(event, |_| true).unwrap());
        }
        self.snapshot = true;
        self.compared.insert(node.clone());
    }

    fn function(&self, id: &str) -> Function {
        match self.functions.get(id) {
            Some(function) => function.clone(),
            None if self.snapshot => Function::outside(&self.compared),
            None => Function::Unpinned,
        }
    }

    /// The accepted hashes and what waits, as text.
    fn seen(&self) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        for (id, function) in &self.functions {
            for value in function.accepted().iter().filter(|value| **value != Value::Absent) {
                seen.insert(format!("{id} accepts {value}"));
            }
            for (value, waiting) in function.waiting() {
                let nodes: Vec<_> = waiting.nodes.iter().map(NodeName::as_str).collect();
                let kind = waiting.kind.as_str();
                seen.insert(format!("{id} waits, {kind} {value} on {}", nodes.join(",")));
            }
        }
        seen
    }
}

/// The same out of the API, and the changes' IDs with what they are about.
async fn seen(house: &House) -> (BTreeSet<String>, Vec<(ChangeId, String, Value)>) {
    let mut seen = BTreeSet::new();
    for function in house.local.catalog().await.unwrap().functions {
        for accepted in function.accepted {
            seen.insert(format!("{} accepts {}", function.id, accepted.hash));
        }
    }
    let mut changes = Vec::new();
    for change in house.changes("team").await {
        let id = change.function.unwrap().to_string();
        let value = change.listed.map_or(Value::Absent, |side| Value::Listed(side.hash.unwrap()));
        let nodes: Vec<_> = change.nodes.iter().map(|seen| seen.node.as_str()).collect();
        let kind = change.kind.as_str();
        seen.insert(format!("{id} waits, {kind} {value} on {}", nodes.join(",")));
        changes.push((change.id, id, value));
    }
    (seen, changes)
}

async fn run(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let mut house = House::new().await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let names: Vec<NodeName> =
        (0..3).map(|number| format!("node-{number}").parse().unwrap()).collect();
    let mut nodes: Vec<Client> = Vec::new();
    let mut secrets = Vec::new();
    for name in &names {
        let create = oz0_api::token::CreateToken {
            kind: oz0_api::token::TokenKind::Node,
            name: name.clone(),
            may_approve: false,
        };
        secrets.push(house.admin.create_token(&create).await.unwrap().secret);
        nodes.push(house.local.with_token(secrets.last().unwrap()));
    }
    let mut model = Model::default();
    for op in ops {
        match &op {
            Op::Report { node, listed } => {
                model.report(&names[*node], listed);
                let listed: Vec<(String, String)> = listed
                    .iter()
                    .map(|(f, text)| (format!("f{f}"), format!("Text {text}.")))
                    .collect();
                let listed: Vec<(&str, &str)> =
                    listed.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
                tell(&nodes[*node], &team, "team", &listed).await;
            }
            Op::Approve { pick } => {
                let (_, changes) = seen(&house).await;
                if let Some((change, id, value)) =
                    pick.checked_rem(changes.len()).and_then(|at| changes.get(at))
                {
                    let answer = house.approve("team", std::slice::from_ref(change)).await;
                    let is_listed = model
                        .function(id)
                        .seen()
                        .any(|(node, sight)| sight.now == *value && !model.silent.contains(node));
                    prop_assert_eq!(answer.approved.len(), usize::from(is_listed));
                    if !is_listed {
                        continue;
                    }
                    let event = Event::Approve { value: *value };
                    let after = model.function(id).step(event, |_| true).unwrap();
                    model.functions.insert(id.clone(), after);
                }
            }
            Op::Restart => {
                house = house.restart().await;
                nodes = secrets.iter().map(|secret| house.local.with_token(secret)).collect();
            }
        }
        prop_assert_eq!(&seen(&house).await.0, &model.seen(), "after {:?}", op);
    }
    let check = house.local.verify_audit().await.unwrap();
    prop_assert!(check.faults.is_empty(), "{:?}", check);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_store_holds_what_the_machine_decides(ops in prop::collection::vec(op(), 10..40)) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(run(ops))?;
    }
}
