//! Candidates: which nodes run them, what is approved of them, and what becomes of them.

use std::collections::BTreeMap;

use oz0_api::node::{Outcome, Poll, PollQuery, Verdict};
use oz0_api::plugin::{Install, PluginDescription, PluginStatus, Uses};
use oz0_api::rollout::Rollout;
use oz0_api::{Client, ClientError, Code, PluginVersion, Problem};

use crate::house::{House, bring, bundle, outcome, plugin, refused, report, tell};

/// The versions that a node is to run, as it learns of them by its polls.
pub(crate) struct Follower {
    client: Client,
    query: PollQuery,
    pub(crate) runs: BTreeMap<String, PluginVersion>,
    /// What it was told is accepted, by plugin, version and function.
    pub(crate) decided: BTreeMap<String, usize>,
}

impl Follower {
    pub(crate) fn new(client: Client) -> Self {
        let query = PollQuery { wait: Some(0), ..PollQuery::default() };
        Self { client, query, runs: BTreeMap::new(), decided: BTreeMap::new() }
    }

    /// The same node, by another way to its edge.
    pub(crate) fn reconnect(&mut self, client: Client) {
        self.client = client;
    }

    /// Asks once; what it runs is what it was told last of each plugin.
    pub(crate) async fn follow(&mut self) -> &BTreeMap<String, PluginVersion> {
        let poll: Poll = self.client.poll(&self.query).await.unwrap();
        if poll.reset {
            self.runs.clear();
            self.decided.clear();
        }
        self.query.edge = Some(poll.edge);
        self.query.plugins = poll.plugins.revision;
        self.query.decisions = poll.decisions.revision;
        let (come, gone): (Vec<_>, Vec<_>) =
            poll.plugins.changed.into_iter().partition(|one| one.description.is_some());
        for assignment in come {
            self.runs.insert(assignment.plugin.to_string(), assignment.version);
        }
        for assignment in gone {
            let plugin = assignment.plugin.as_str();
            if self.runs.get(plugin) == Some(&assignment.version) {
                self.runs.remove(plugin);
            }
        }
        for decision in poll.decisions.changed {
            let key = format!("{} {} {}", decision.plugin, decision.version, decision.function);
            self.decided.insert(key, decision.accepted.len());
        }
        &self.runs
    }

    pub(crate) async fn version_of(&mut self, plugin: &str) -> Option<String> {
        self.follow().await.get(plugin).map(ToString::to_string)
    }
}

pub(crate) fn nodes(names: &[&str]) -> Rollout {
    Rollout::Nodes(names.iter().map(|name| name.parse().unwrap()).collect())
}

pub(crate) async fn offer(
    house: &House,
    description: &PluginDescription,
    rollout: impl Into<Option<Rollout>>,
) -> Result<PluginStatus, ClientError> {
    bring(&house.admin, description).await;
    let terms = Install { update: true, rollout: rollout.into(), ..Install::default() };
    house.admin.install_on(description, &terms).await
}

fn problem<T: std::fmt::Debug>(result: Result<T, ClientError>) -> Problem {
    match result.unwrap_err() {
        ClientError::Problem(problem) => problem,
        other => panic!("{other}"),
    }
}

fn team(version: &str) -> PluginDescription {
    plugin("team", version, &["team"])
}

#[tokio::test]
async fn a_candidate_runs_on_its_nodes_and_the_installed_version_on_the_others() {
    let house = House::new().await;
    let (berlin, paris) = (house.node("berlin").await, house.node("paris").await);
    let (mut on_berlin, mut on_paris) =
        (Follower::new(berlin.clone()), Follower::new(paris.clone()));
    let (old, new) = (team("1.0.0"), team("1.1.0"));
    house.install(&old).await;
    on_berlin.follow().await;
    on_paris.follow().await;
    tell(&paris, &old, "team", &[("hello", "Greets.")]).await;

    let status = offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    assert_eq!(status.version.as_str(), "1.0.0", "the installed version goes on");
    let candidate = status.candidate.expect("there is one");
    assert_eq!(candidate.status.version.as_str(), "1.1.0");
    assert_eq!(candidate.nodes, ["berlin".parse().unwrap()]);
    assert_eq!(on_berlin.version_of("team").await.as_deref(), Some("1.1.0"));
    assert_eq!(on_paris.version_of("team").await.as_deref(), Some("1.0.0"));

    // It has a snapshot of its own, from a node that runs it, and no other node says what it lists.
    assert_eq!(
        refused(paris.report(&report(&new, "team", &[("hello", "Sends all keys.")])).await),
        Code::Stale
    );
    let verdicts = tell(&berlin, &new, "team", &[("hello", "Greets warmly.")]).await;
    assert!(verdicts.snapshot);
    assert!(house.changes("team").await.is_empty(), "a version's snapshot is no change");
    on_berlin.follow().await;
    on_paris.follow().await;
    assert_eq!(on_berlin.decided.get("team 1.1.0 team.hello"), Some(&1));
    assert_eq!(on_paris.decided.get("team 1.1.0 team.hello"), None);

    // Both are in the catalog, side by side.
    let catalog = house.local.catalog().await.unwrap();
    let sides: Vec<(&str, bool)> =
        catalog.functions.iter().map(|one| (one.version.as_str(), one.candidate)).collect();
    assert_eq!(sides, [("1.0.0", false), ("1.1.0", true)]);

    // Promoted, it runs everywhere, with what was accepted of it.
    let promoted = house.admin.promote(&new.name, &new.version).await.unwrap();
    assert_eq!(promoted.version.as_str(), "1.1.0");
    assert_eq!(promoted.before.as_ref().map(PluginVersion::as_str), Some("1.0.0"));
    assert!(promoted.candidate.is_none());
    assert_eq!(on_berlin.version_of("team").await.as_deref(), Some("1.1.0"));
    assert_eq!(on_paris.version_of("team").await.as_deref(), Some("1.1.0"));
    assert_eq!(on_paris.decided.get("team 1.1.0 team.hello"), Some(&1));

    // And taken back, the one before runs everywhere again, under its own snapshot.
    let back = house.admin.rollback(&new.name, &new.version).await.unwrap();
    assert_eq!(back.version.as_str(), "1.0.0");
    for follower in [&mut on_berlin, &mut on_paris] {
        assert_eq!(follower.version_of("team").await.as_deref(), Some("1.0.0"));
        assert_eq!(follower.decided.get("team 1.0.0 team.hello"), Some(&1));
    }
    let acts: Vec<String> =
        house.acts().await.into_iter().filter(|act| act.starts_with("plugin.")).collect();
    assert_eq!(
        acts,
        [
            "plugin.install",
            "plugin.tools.snapshot",
            "plugin.update",
            "plugin.tools.snapshot",
            "plugin.promote",
            "plugin.rollback",
        ]
    );
}

#[tokio::test]
async fn an_approval_is_of_one_version() {
    let house = House::new().await;
    let (berlin, paris) = (house.node("berlin").await, house.node("paris").await);
    let (old, new) = (team("1.0.0"), team("1.1.0"));
    house.install(&old).await;
    tell(&paris, &old, "team", &[("hello", "Greets.")]).await;
    Follower::new(berlin.clone()).follow().await;
    offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    tell(&berlin, &new, "team", &[("hello", "Greets.")]).await;

    // The same text changes in both, and is two changes.
    tell(&paris, &old, "team", &[("hello", "Sends.")]).await;
    tell(&berlin, &new, "team", &[("hello", "Sends.")]).await;
    let changes = house.changes("team").await;
    let of: Vec<&str> = changes.iter().map(|change| change.version.as_str()).collect();
    assert_eq!(of, ["1.0.0", "1.1.0"]);
    let approved = house.approve("team", &[changes[1].id.clone()]).await;
    assert_eq!((approved.approved.len(), approved.stale.len()), (1, 0));
    let left = house.changes("team").await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].version.as_str(), "1.0.0");
    let plugins = house.local.plugins().await.unwrap();
    assert_eq!(plugins[0].changes.len(), 1);
    assert!(plugins[0].candidate.as_ref().unwrap().status.changes.is_empty());

    // What waits in the installed version waits on, whatever becomes of the candidate.
    house.admin.rollback(&new.name, &new.version).await.unwrap();
    assert_eq!(house.changes("team").await.len(), 1);
    assert_eq!(house.approve("team", &[changes[1].id.clone()]).await.stale.len(), 1);
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_changes_nothing() {
    let house = House::new().await;
    let mut berlin = Follower::new(house.node("berlin").await);
    let (one, two, three) = (team("1.0.0"), team("2.0.0"), team("3.0.0"));
    let not_there = problem(offer(&house, &two, nodes(&["berlin"])).await);
    assert_eq!(not_there.message, "no plugin named team is installed");
    house.install(&two).await;
    berlin.follow().await;

    let unknown = problem(offer(&house, &three, nodes(&["rome"])).await);
    assert_eq!(unknown.code, Code::NotFound);
    assert_eq!(unknown.message, "team 3.0.0 is not taken: no node named rome has joined");
    let older = problem(offer(&house, &one, None).await);
    assert_eq!(older.message, "team 1.0.0 is older than 2.0.0, which is installed");
    assert!(older.hint.unwrap().contains("--downgrade"));
    let itself = problem(offer(&house, &two, nodes(&["berlin"])).await);
    assert_eq!(itself.code, Code::Conflict);
    let other_files =
        PluginDescription { digest: bundle("team", "2.0.0", "other files"), ..two.clone() };
    assert!(
        problem(offer(&house, &other_files, None).await).message.contains("is known with digest")
    );
    let nothing = problem(house.admin.promote(&two.name, &two.version).await);
    assert_eq!(nothing.message, "team has no candidate: every node runs 2.0.0");
    let first = problem(house.admin.rollback(&two.name, &two.version).await);
    assert_eq!(first.message, "team 2.0.0 has no version before it to go back to");
    assert_eq!(berlin.version_of("team").await.as_deref(), Some("2.0.0"));
    assert_eq!(house.acts().await.iter().filter(|act| act.starts_with("plugin.")).count(), 1);

    // While there is a candidate, no other version comes, and the same one only to other nodes.
    offer(&house, &three, nodes(&["berlin"])).await.unwrap();
    let four = team("4.0.0");
    for rollout in [None, Some(nodes(&["berlin"]))] {
        let second = problem(offer(&house, &four, rollout).await);
        assert_eq!(second.message, "team 4.0.0 is not taken: team 3.0.0 is a candidate");
        assert!(second.hint.unwrap().contains("oz0 plugin promote team"));
    }
    assert_eq!(problem(house.try_install(&three).await).code, Code::Conflict);
    assert_eq!(problem(house.admin.promote(&four.name, &four.version).await).code, Code::Stale);
    assert_eq!(problem(house.admin.rollback(&two.name, &two.version).await).code, Code::Stale);
    assert_eq!(berlin.version_of("team").await.as_deref(), Some("3.0.0"));
    let wider = offer(&house, &three, Some("percent:100".parse().unwrap())).await.unwrap();
    assert_eq!(wider.candidate.unwrap().rollout, "percent:100".parse().unwrap());

    // A folder that is run in place is none, and neither is anything installed under it meanwhile.
    house.admin.remove(&two.name).await.unwrap();
    assert_eq!(berlin.version_of("team").await, None);
    house.install(&one).await;
    assert_eq!(berlin.version_of("team").await.as_deref(), Some("1.0.0"));
    let gone = problem(house.admin.rollback(&one.name, &one.version).await);
    assert!(gone.message.contains("no version before it"), "{gone}");
    let dev = crate::house::dev(PluginDescription { digest: crate::house::digest("x"), ..four });
    let in_place = problem(offer(&house, &dev, nodes(&["berlin"])).await);
    assert!(in_place.message.contains("run from a folder"), "{in_place}");
}

#[tokio::test]
async fn a_node_that_cannot_run_the_candidate_says_with_what_it_goes_on() {
    let house = House::new().await;
    let berlin = house.node("berlin").await;
    let (old, new) = (team("1.0.0"), team("1.1.0"));
    house.install(&old).await;
    Follower::new(berlin.clone()).follow().await;
    tell(&berlin, &old, "team", &[("hello", "Greets.")]).await;
    offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    let failed = Outcome::Failed {
        reason: "it needs the secret KEY".to_owned(),
        goes_on: Some(old.version.clone()),
    };
    berlin.report(&outcome(&new, "team", failed)).await.unwrap();
    let plugins = house.local.plugins().await.unwrap();
    let candidate = plugins[0].candidate.as_ref().unwrap();
    let seen = &candidate.status.tools[0].nodes[0];
    assert_eq!(seen.goes_on.as_ref(), Some(&old.version));
    // What it lists of that one counts, and so does what is decided of it.
    tell(&berlin, &old, "team", &[("hello", "Sends.")]).await;
    assert_eq!(house.waiting("team").await, ["team.hello changed berlin"]);
    let plugins = house.local.plugins().await.unwrap();
    assert_eq!(plugins[0].tools[0].nodes.len(), 1, "it is a node of the installed version");
}

#[tokio::test]
async fn who_uses_a_plugin_stands_in_the_way_of_a_version_that_it_cannot_use() {
    let house = House::new().await;
    let berlin = house.node("berlin").await;
    let measured = |mut description: PluginDescription, functions: &[&str]| {
        let of = |name: &&str| oz0_api::plugin::Measured {
            id: format!("team.{name}").parse().unwrap(),
            hash: crate::house::hash(name, "x"),
        };
        description.measured = Some(functions.iter().map(of).collect());
        description
    };
    house.install(&measured(team("1.0.0"), &["hello", "bye"])).await;
    let uses = |range: &str, tools: &[&str], agents: &[&str]| Uses {
        version: Some(range.parse().unwrap()),
        tools: tools.iter().map(|tool| tool.parse().unwrap()).collect(),
        agents: agents.iter().map(|agent| (*agent).to_owned()).collect(),
        ..Uses::default()
    };
    let mut triage = plugin("triage", "1.0.0", &["triage"]);
    triage.uses.insert("team".parse().unwrap(), uses(">=1, <2", &["team.hello"], &[]));
    house.install(&triage).await;
    let mut desk = plugin("desk", "0.3.0", &["desk"]);
    desk.uses.insert("team".parse().unwrap(), uses("*", &["team.*", "team.bye"], &["greeter"]));
    house.install(&desk).await;
    Follower::new(berlin.clone()).follow().await;

    let mut two = measured(team("2.0.0"), &["hello"]);
    two.agents.insert("greeter".to_owned());
    for rollout in [None, Some(nodes(&["berlin"]))] {
        let no = problem(offer(&house, &two, rollout).await);
        assert_eq!(
            no.message,
            "team 2.0.0 is not taken, for what uses team could not go on: desk 0.3.0 uses the function team.bye; \
             triage 1.0.0 uses versions >=1, <2"
        );
        assert!(no.hint.unwrap().contains("update desk and triage"));
    }
    let mut fits = measured(team("1.9.0"), &["hello", "bye"]);
    assert!(
        problem(offer(&house, &fits, None).await)
            .message
            .ends_with("desk 0.3.0 uses the agent greeter")
    );
    fits.agents.insert("greeter".to_owned());

    // What its author measured is not what a node lists, so it does not come further than the candidate.
    offer(&house, &fits, nodes(&["berlin"])).await.unwrap();
    tell(&berlin, &fits, "team", &[("hello", "Greets.")]).await;
    let no = problem(house.admin.promote(&fits.name, &fits.version).await);
    assert!(no.message.ends_with("desk 0.3.0 uses the function team.bye"), "{no}");
    house.admin.remove(&desk.name).await.unwrap();
    house.admin.promote(&fits.name, &fits.version).await.unwrap();
}

/// A failed update keeps what runs: what runs is compared, told and decided about like anything that is called.
#[tokio::test]
async fn what_a_node_goes_on_with_is_held_to_its_snapshot_at_the_edge_too() {
    let house = House::new().await;
    let (berlin, paris) = (house.node("berlin").await, house.node("paris").await);
    let (old, new) = (plugin("team", "1.0.0", &["team"]), plugin("team", "1.1.0", &["team"]));
    let listed = [("hello", "Hello."), ("bye", "Bye.")];
    house.install(&old).await;
    tell(&berlin, &old, "team", &listed).await;
    tell(&paris, &old, "team", &listed).await;
    let update = Install { update: true, ..Install::default() };
    bring(&house.admin, &new).await;
    house.admin.install_on(&new, &update).await.unwrap();
    tell(&paris, &new, "team", &listed).await;
    let failed = Outcome::Failed {
        reason: "it does not start".to_owned(),
        goes_on: Some(old.version.clone()),
    };
    berlin.report(&outcome(&new, "team", failed)).await.unwrap();

    let hello: oz0_listing::FunctionId = "team.hello".parse().unwrap();
    let edited = [("hello", "Send keys."), ("bye", "Bye.")];
    let verdicts = tell(&berlin, &old, "team", &edited).await;
    assert!(matches!(verdicts.functions[&hello], Verdict::Waiting { .. }), "{verdicts:?}");
    let late = paris.report(&report(&old, "team", &edited)).await;
    assert_eq!(refused(late), Code::Stale, "there the new one runs");
    assert_eq!(house.waiting("team").await, ["team.hello changed berlin"]);
    assert_eq!(house.count("plugin.tools.changed").await, 1);
    let changes = house.changes("team").await;
    assert_eq!(changes[0].version, old.version);
    let status = house.admin.plugin(&old.name).await.unwrap();
    assert_eq!(status.version, new.version);
    assert_eq!(status.changes.len(), 1);

    // A call there is a call of the version that runs there.
    let ask = |function: &str| oz0_api::call::Ask {
        function: function.parse().unwrap(),
        arguments: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
        node: Some("berlin".parse().unwrap()),
        timeout_ms: None,
    };
    house.admin.ask(&ask("team.bye")).await.unwrap();
    let log = house.log().await;
    let entry = log.iter().rfind(|entry| entry.action == "call.ask").unwrap();
    assert!(entry.subject.functions[&"team.bye".parse().unwrap()].is_some(), "{entry:?}");

    let mut follower = Follower::new(berlin.clone());
    follower.follow().await;
    follower.decided.clear();
    assert_eq!(house.approve_all("team").await.approved.len(), 1);
    assert!(house.waiting("team").await.is_empty());
    follower.follow().await;
    assert_eq!(follower.decided.keys().collect::<Vec<_>>(), ["team 1.0.0 team.hello"]);

    // Where the new version starts after all, the old one is what it was before: replaced.
    tell(&berlin, &old, "team", &[("hello", "Once more."), ("bye", "Bye.")]).await;
    tell(&berlin, &new, "team", &listed).await;
    assert!(house.waiting("team").await.is_empty());
    assert_eq!(refused(berlin.report(&report(&old, "team", &edited)).await), Code::Stale);
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_moved_endpoint_is_approved_for_its_version_alone() {
    let house = House::new().await;
    let (berlin, paris) = (house.node("berlin").await, house.node("paris").await);
    let weather = |version: &str, host: &str| {
        let mut description = plugin("weather", version, &["wx"]);
        let tool = description.tools.values_mut().next().unwrap();
        tool.backend = oz0_api::plugin::Backend::Remote {
            endpoint: format!("https://{host}/mcp").parse().unwrap(),
        };
        description
    };
    let (old, new, next) = (
        weather("1.0.0", "a.example"),
        weather("1.1.0", "b.example"),
        weather("1.2.0", "b.example"),
    );
    house.install(&old).await;
    Follower::new(berlin.clone()).follow().await;
    tell(&paris, &old, "wx", &[("today", "The weather.")]).await;
    offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    let moved = house.changes("weather").await;
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0].version.as_str(), "1.1.0");
    assert_eq!(house.approve_all("weather").await.approved.len(), 1);
    let pinned = |poll: &Poll| poll.plugins.changed[0].moved.len();
    let fresh = PollQuery { wait: Some(0), ..PollQuery::default() };
    assert_eq!(pinned(&paris.poll(&fresh).await.unwrap()), 0, "it goes on where it was approved");

    // A candidate that was never installed is no beginning: the next version moves from where the installed one is.
    tell(&berlin, &new, "wx", &[("today", "The weather.")]).await;
    house.admin.rollback(&new.name, &new.version).await.unwrap();
    offer(&house, &next, nodes(&["berlin"])).await.unwrap();
    assert_eq!(house.changes("weather").await.len(), 1, "it moved from a.example");
    house.admin.rollback(&next.name, &next.version).await.unwrap();

    // Once it is installed, its origin is where the next one starts.
    offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    house.admin.promote(&new.name, &new.version).await.unwrap();
    assert!(house.changes("weather").await.is_empty());
    offer(&house, &next, nodes(&["berlin"])).await.unwrap();
    assert!(house.changes("weather").await.is_empty());
}

#[tokio::test]
async fn a_candidates_name_takes_none_from_what_runs_everywhere() {
    let house = House::new().await;
    let berlin = house.node("berlin").await;
    Follower::new(berlin.clone()).follow().await;
    let old = plugin("team", "1.0.0", &["a"]);
    let new = plugin("team", "1.1.0", &["a", "a__b"]);
    house.install(&old).await;
    tell(&house.node("paris").await, &old, "a", &[("b__c", "One.")]).await;
    offer(&house, &new, nodes(&["berlin"])).await.unwrap();
    tell(&berlin, &new, "a__b", &[("c", "The same name.")]).await;
    tell(&berlin, &new, "a", &[("other", "Another.")]).await;
    let catalog = house.local.catalog().await.unwrap();
    let state = |id: &str, candidate: bool| {
        let found = catalog
            .functions
            .iter()
            .find(|one| one.id.as_str() == id && one.candidate == candidate);
        found.map(|one| format!("{:?}", one.state))
    };
    assert!(!state("a.b__c", false).unwrap().contains("LeftOut"), "{:?}", state("a.b__c", false));
    assert!(state("a__b.c", true).unwrap().contains("LeftOut"));
}

#[tokio::test]
async fn a_bundle_is_for_nodes_and_for_whoever_installs() {
    let house = House::new().await;
    let berlin = house.node("berlin").await;
    let old = team("1.0.0");
    house.install(&old).await;
    let create = oz0_api::token::CreateToken {
        kind: oz0_api::token::TokenKind::Client,
        name: "claude".parse().unwrap(),
        may_approve: true,
    };
    let client = house.local.with_token(&house.admin.create_token(&create).await.unwrap().secret);
    assert_eq!(
        house.admin.bundle(old.digest).await.unwrap(),
        berlin.bundle(old.digest).await.unwrap()
    );
    for nobody in [&house.local, &client] {
        assert_eq!(refused(nobody.bundle(old.digest).await), Code::Forbidden);
        assert_eq!(refused(nobody.promote(&old.name, &old.version).await), Code::Forbidden);
        assert_eq!(refused(nobody.rollback(&old.name, &old.version).await), Code::Forbidden);
    }
}

#[test]
fn a_node_that_is_in_a_share_is_in_every_larger_one() {
    let (plugin, version) = ("team".parse().unwrap(), "1.1.0".parse().unwrap());
    let names: Vec<oz0_api::NodeName> =
        (0..1_000).map(|number| format!("node-{number}").parse().unwrap()).collect();
    let mut before = std::collections::BTreeSet::new();
    for share in 1..=100_u8 {
        let rollout = Rollout::Percent(share.try_into().unwrap());
        let now: std::collections::BTreeSet<_> =
            names.iter().filter(|node| rollout.includes(&plugin, &version, node)).collect();
        assert!(before.is_subset(&now), "{share}");
        // Of 1,000 nodes a share's own standard deviation is at most 16.
        assert!(now.len().abs_diff(usize::from(share) * 10) < 80, "{share}: {}", now.len());
        before = now;
    }
    assert_eq!(before.len(), names.len(), "all of them are a hundred of a hundred");
    // Which nodes they are is no edge's own matter, and stays so: these are the first of 100, at 5 of a hundred.
    let rollout: Rollout = "percent:5".parse().unwrap();
    let first: Vec<&str> = names[..100]
        .iter()
        .filter(|node| rollout.includes(&plugin, &version, node))
        .map(oz0_api::NodeName::as_str)
        .collect();
    insta::assert_snapshot!(first.join(" "));
    for wrong in ["percent:0", "percent:101", "percent:x", "nodes:", "nodes:A", "berlin", ""] {
        assert!(wrong.parse::<Rollout>().is_err(), "{wrong}");
    }
    for right in ["percent:7", "nodes:berlin", "nodes:berlin,paris"] {
        assert_eq!(right.parse::<Rollout>().unwrap().to_string(), right);
    }
}
