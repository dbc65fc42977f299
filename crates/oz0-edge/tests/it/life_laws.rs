//! The store against a model of a plugin's life: after any history each node is told to run what the model says, also when the
//! edge was started again in between, or the node was away.

use oz0_api::plugin::{Install, PluginDescription};
use oz0_api::rollout::Rollout;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, NodeName, PluginVersion};
use proptest::prelude::*;

use crate::candidates::Follower;
use crate::house::{House, bring, plugin, tell};

const NODES: [&str; 3] = ["berlin", "paris", "rome"];
const VERSIONS: [&str; 4] = ["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"];

#[derive(Debug, Clone)]
enum Op {
    Install {
        version: usize,
        downgrade: bool,
    },
    /// To the nodes whose bit is set, or to this share of them.
    Offer {
        version: usize,
        downgrade: bool,
        mask: u8,
        percent: Option<u8>,
    },
    Promote,
    Rollback,
    Remove,
    /// A node lists what it runs, as far as it knows.
    List {
        node: usize,
        text: u8,
    },
    /// A node asks; the others do not, and are away for as long.
    Poll {
        node: usize,
    },
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let version = 0..VERSIONS.len();
    prop_oneof![
        3 => (version.clone(), any::<bool>())
            .prop_map(|(version, downgrade)| Op::Install { version, downgrade }),
        5 => (version, any::<bool>(), 1..8_u8, prop::option::of(1..=100_u8)).prop_map(
            |(version, downgrade, mask, percent)| Op::Offer { version, downgrade, mask, percent }),
        3 => Just(Op::Promote),
        3 => Just(Op::Rollback),
        1 => Just(Op::Remove),
        4 => (0..NODES.len(), 0..3_u8).prop_map(|(node, text)| Op::List { node, text }),
        4 => (0..NODES.len()).prop_map(|node| Op::Poll { node }),
        1 => Just(Op::Restart),
    ]
}

#[derive(Debug, Default)]
struct Model {
    installed: Option<usize>,
    candidate: Option<(usize, Rollout)>,
    /// What a rollback goes back to, the last first to go.
    replaced: Vec<usize>,
}

impl Model {
    fn is_older(&self, version: usize) -> bool {
        self.installed.is_some_and(|installed| version < installed)
    }

    fn come(&mut self, version: usize) {
        self.replaced.retain(|one| *one != version);
    }

    /// Whether it is done.
    fn apply(&mut self, op: &Op) -> bool {
        match op {
            Op::Install { version, .. } if self.installed == Some(*version) => true,
            Op::Install { .. } if self.candidate.is_some() => false,
            Op::Install { version, downgrade } => {
                if self.is_older(*version) && !downgrade {
                    return false;
                }
                self.replaced.extend(self.installed);
                self.come(*version);
                self.installed = Some(*version);
                true
            }
            Op::Offer { version, downgrade, .. } => {
                let is_known = self.candidate.as_ref().map(|(known, _)| *known);
                let other = is_known.is_some_and(|known| known != *version);
                let older = is_known.is_none() && self.is_older(*version) && !downgrade;
                if self.installed.is_none() || self.installed == Some(*version) || other || older {
                    return false;
                }
                self.come(*version);
                self.candidate = Some((*version, rollout(op).expect("it is an offer")));
                true
            }
            Op::Promote => match self.candidate.take() {
                Some((version, _)) => {
                    self.replaced.extend(self.installed);
                    self.installed = Some(version);
                    true
                }
                None => false,
            },
            Op::Rollback => {
                if self.candidate.take().is_some() {
                    return true;
                }
                match (self.installed, self.replaced.pop()) {
                    (Some(_), Some(before)) => {
                        self.installed = Some(before);
                        true
                    }
                    _ => false,
                }
            }
            Op::Remove => {
                let was = self.installed.is_some();
                *self = Self::default();
                was
            }
            Op::List { .. } | Op::Poll { .. } | Op::Restart => true,
        }
    }

    fn on(&self, node: &NodeName) -> Option<&'static str> {
        let offered = self.candidate.as_ref().filter(|(version, rollout)| {
            let version: PluginVersion = VERSIONS[*version].parse().unwrap();
            rollout.includes(&"team".parse().unwrap(), &version, node)
        });
        offered.map(|(version, _)| *version).or(self.installed).map(|version| VERSIONS[version])
    }

    /// The version that a rollback takes back, and a promotion brings.
    fn last(&self) -> PluginVersion {
        let version = self.candidate.as_ref().map(|(version, _)| *version).or(self.installed);
        VERSIONS[version.unwrap_or(0)].parse().unwrap()
    }
}

fn rollout(op: &Op) -> Option<Rollout> {
    let Op::Offer { mask, percent, .. } = op else { return None };
    let named = || {
        let named = NODES.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
        Rollout::Nodes(named.map(|(_, name)| name.parse().unwrap()).collect())
    };
    Some(percent.map_or_else(named, |percent| Rollout::Percent(percent.try_into().unwrap())))
}

async fn run(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let mut house = House::new().await;
    let versions: Vec<PluginDescription> =
        VERSIONS.iter().map(|version| plugin("team", version, &["team"])).collect();
    let mut secrets = Vec::new();
    for name in NODES {
        let create =
            CreateToken { kind: TokenKind::Node, name: name.parse().unwrap(), may_approve: false };
        secrets.push(house.admin.create_token(&create).await.unwrap().secret);
    }
    let clients = |house: &House| -> Vec<Client> {
        secrets.iter().map(|secret| house.local.with_token(secret)).collect()
    };
    let mut followers: Vec<Follower> = clients(&house).into_iter().map(Follower::new).collect();
    let mut model = Model::default();
    let name = "team".parse().unwrap();
    for op in ops {
        let last = model.last();
        let expected = model.apply(&op);
        let done = match &op {
            Op::Install { version, downgrade } | Op::Offer { version, downgrade, .. } => {
                bring(&house.admin, &versions[*version]).await;
                let terms =
                    Install { rollout: rollout(&op), downgrade: *downgrade, ..Install::default() };
                house.admin.install_on(&versions[*version], &terms).await.is_ok()
            }
            Op::Promote => house.admin.promote(&name, &last).await.is_ok(),
            Op::Rollback => house.admin.rollback(&name, &last).await.is_ok(),
            Op::Remove => house.admin.remove(&name).await.is_ok(),
            Op::List { node, text } => {
                let runs = followers[*node].version_of("team").await;
                if let Some(version) = runs {
                    let at = VERSIONS.iter().position(|one| *one == version).unwrap();
                    let client = &clients(&house)[*node];
                    let said = format!("Text {text}.");
                    tell(client, &versions[at], "team", &[("hello", &said)]).await;
                }
                true
            }
            Op::Poll { node } => {
                followers[*node].follow().await;
                true
            }
            Op::Restart => {
                house = house.restart().await;
                for (follower, client) in followers.iter_mut().zip(clients(&house)) {
                    follower.reconnect(client);
                }
                true
            }
        };
        prop_assert_eq!(done, expected, "{:?} of {:?}", op, model);
        if let Op::Poll { node } | Op::List { node, .. } = &op {
            let runs = followers[*node].runs.get("team").map(PluginVersion::as_str);
            prop_assert_eq!(runs, model.on(&NODES[*node].parse().unwrap()), "{:?}", model);
        }
    }
    // Whoever was away comes to the same, and so does a node that begins.
    let fresh: Vec<Follower> = clients(&house).into_iter().map(Follower::new).collect();
    for (at, (mut old, mut new)) in followers.into_iter().zip(fresh).enumerate() {
        let expected = model.on(&NODES[at].parse().unwrap());
        let (was_away, begins) = (old.version_of("team").await, new.version_of("team").await);
        prop_assert_eq!(was_away.as_deref(), expected);
        prop_assert_eq!(begins.as_deref(), expected);
        // What is decided of what it runs is the same as well, however it came to it.
        if let Some(version) = expected {
            let key = format!("team {version} team.hello");
            prop_assert_eq!(old.decided.get(&key), new.decided.get(&key), "{}", key);
        }
    }
    let check = house.local.verify_audit().await.unwrap();
    prop_assert!(check.faults.is_empty(), "{:?}", check);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn each_node_is_told_to_run_what_the_model_says(ops in prop::collection::vec(op(), 10..50)) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(run(ops))?;
    }
}
