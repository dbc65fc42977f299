//! Several edges over one database: what one decides, the nodes of another hear at once, and what one holds in memory is
//! not believed by another that it does not hold.

use std::time::{Duration, Instant};

use oz0_api::approval::{ApprovalState, Decide};
use oz0_api::call::{Ask, CallState, JobResult};
use oz0_api::node::{Poll, PollQuery};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, Code};
use oz0_edge::{Edge, Options, StoreAt, StoreError};
use oz0_peers::postgres::Postgres;
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::approvals::ask;
use crate::credentials;
use crate::database::{server, store_at};
use crate::house::{House, hash, plugin, refused, tell};

/// Two edges over one store.
#[expect(clippy::struct_field_names, reason = "one and two")]
struct Two {
    one: House,
    two: House,
    options: Options,
}

impl Two {
    async fn new() -> Self {
        Self::at(server()).await
    }

    async fn at(server: &Postgres) -> Self {
        let folder = TempDir::new().unwrap();
        let store = store_at(folder.path(), server.folder());
        let options = Options { store, ..Options::new(folder.path().join("data")) };
        let one = House::open_with(folder, options.clone()).await;
        let two = one.beside(&options).await;
        Self { one, two, options }
    }

    /// A node with a client of each edge.
    async fn node(&self, name: &str) -> (Client, Client) {
        let create =
            CreateToken { kind: TokenKind::Node, name: name.parse().unwrap(), may_approve: false };
        let token = self.one.admin.create_token(&create).await.unwrap().secret;
        (self.one.local.with_token(&token), self.two.local.with_token(&token))
    }
}

fn since(poll: &Poll, wait: u64) -> PollQuery {
    PollQuery {
        edge: Some(poll.edge.clone()),
        plugins: poll.plugins.revision,
        decisions: poll.decisions.revision,
        head: poll.head.clone(),
        wait: Some(wait),
        ..PollQuery::default()
    }
}

fn start() -> PollQuery {
    PollQuery { wait: Some(0), ..PollQuery::default() }
}

/// Asks until it is so; a condition that does not come ends the test.
async fn until(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is().await {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_at_one_edge_wakes_the_nodes_of_the_other() {
    let edges = Two::new().await;
    let (_, node) = edges.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    edges.one.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    tell(&node, &team, "team", &[("hello", "Other.")]).await;
    let poll = node.poll(&start()).await.unwrap();
    let query = since(&poll, 30);
    let waits = tokio::spawn(async move { node.poll(&query).await.unwrap() });
    until("the poll waits", async || {
        edges.one.local.nodes().await.unwrap().iter().any(|node| node.live)
    })
    .await;
    edges.one.approve_all("team").await;
    // Well before the poll would end by itself.
    let told = tokio::time::timeout(Duration::from_secs(20), waits).await.unwrap().unwrap();
    assert_eq!(told.decisions.changed[0].accepted[0].hash, hash("hello", "Other."));
    // Both say the same of it, and the log of both is one.
    let log = edges.two.log().await;
    assert_eq!(log, edges.one.log().await);
    let written: std::collections::BTreeSet<_> = log.iter().map(|entry| &entry.edge).collect();
    assert_eq!(written.len(), 2, "each has a chain of its own");
    assert!(log.windows(2).all(|pair| pair[0].position < pair[1].position));
    for edge in [&edges.one, &edges.two] {
        let check = edge.local.verify_audit().await.unwrap();
        assert!(check.faults.is_empty() && check.chains.len() == 2, "{check:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_goes_from_one_edge_to_the_other_and_need_not_begin_anew() {
    let edges = Two::new().await;
    let (at_one, at_two) = edges.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    edges.one.install(&team).await;
    tell(&at_one, &team, "team", &[("hello", "Hello.")]).await;
    let poll = at_one.poll(&start()).await.unwrap();
    assert_eq!(poll.decisions.changed.len(), 1);
    let again = at_two.poll(&since(&poll, 0)).await.unwrap();
    assert!(!again.reset && again.decisions.changed.is_empty(), "{again:?}");
    assert_eq!(again.edge, poll.edge);

    // It ends at one edge, and neither believes it to be there; it comes back at the other, and both do.
    at_one.leave().await.unwrap();
    for edge in [&edges.one, &edges.two] {
        assert!(!edge.local.nodes().await.unwrap()[0].live);
    }
    let tier = PollQuery { tier: Some(1), ..since(&again, 0) };
    at_two.poll(&tier).await.unwrap();
    for edge in [&edges.one, &edges.two] {
        let node = edge.local.nodes().await.unwrap().remove(0);
        assert!(node.live && node.tier == Some(1), "{node:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_asked_for_at_one_edge_is_run_by_a_node_of_the_other() {
    let edges = Two::new().await;
    let (_, node) = edges.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    edges.one.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    let worker = tokio::spawn(async move {
        let now = node.poll(&start()).await.unwrap();
        let poll = node.poll(&PollQuery { jobs: true, ..since(&now, 30) }).await.unwrap();
        let result = RawValue::from_string("{\"content\":[]}".to_owned()).unwrap();
        node.answer(&poll.jobs[0].id, &JobResult::Result(result)).await.unwrap();
    });
    until("the node is there", async || {
        edges.one.local.nodes().await.unwrap().iter().any(|node| node.live)
    })
    .await;
    let call = Ask {
        function: "team.hello".parse().unwrap(),
        arguments: RawValue::from_string("{}".to_owned()).unwrap(),
        timeout_ms: Some(30_000),
        node: None,
    };
    let call = edges.one.local.call(&call).await.unwrap();
    assert_eq!(call.state, CallState::Done);
    worker.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_node_waits_at_one_edge_is_decided_at_the_other() {
    let edges = Two::new().await;
    let (node, at_two) = edges.node("node-1").await;
    let approval = node.ask_approval(&ask("{}")).await.unwrap();
    let id = approval.id.clone();
    let waits = tokio::spawn({
        let (node, id) = (node.clone(), id.clone());
        async move { node.await_approval(&id).await.unwrap() }
    });
    // The edge that is asked does not see the node, and believes the one that does.
    until("it is shown", async || {
        edges.two.local.approvals().await.unwrap().approvals.iter().any(|one| one.id == id)
    })
    .await;
    edges.two.admin.approve_call(&id, &Decide::default()).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(20), waits).await.unwrap().unwrap();
    assert_eq!(told.state, ApprovalState::Approved);
    // It was handed out, once for both.
    assert_eq!(at_two.await_approval(&id).await.unwrap().state, ApprovalState::Used);

    // One whose node comes to the other edge is that edge's from then on.
    let approval = node.ask_approval(&ask("{}")).await.unwrap();
    let id = approval.id.clone();
    let waits = tokio::spawn({
        let id = id.clone();
        async move { at_two.await_approval(&id).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    edges.one.admin.approve_call(&id, &Decide::default()).await.unwrap();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Approved);

    // One that nobody asks about any more is lost at every edge.
    let approval = node.ask_approval(&ask("{}")).await.unwrap();
    until("it is lost", async || edges.two.local.approvals().await.unwrap().approvals.is_empty())
        .await;
    let late = edges.two.admin.approve_call(&approval.id, &Decide::default()).await;
    assert_eq!(refused(late), Code::Stale);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_at_an_edge_that_ended_is_lost_and_nothing_else_is() {
    let edges = Two::new().await;
    let (at_one, at_two) = edges.node("node-1").await;
    let gone = at_one.ask_approval(&ask("{\"n\":1}")).await.unwrap();
    let kept = at_two.ask_approval(&ask("{\"n\":2}")).await.unwrap();
    let (ended, two, id) = (edges.one, edges.two, kept.id.clone());
    let waits = tokio::spawn(async move {
        loop {
            let told = at_two.await_approval(&id).await.unwrap();
            if told.state != ApprovalState::Pending {
                return told.state;
            }
        }
    });
    drop(ended.end().await);
    until("the ended edge's call is closed", async || {
        let approvals = two.local.approvals().await.unwrap().approvals;
        assert!(approvals.iter().any(|one| one.id == kept.id));
        approvals.len() == 1
    })
    .await;
    let late = two.admin.approve_call(&gone.id, &Decide::default()).await;
    assert_eq!(refused(late), Code::Stale);
    two.admin.approve_call(&kept.id, &Decide::default()).await.unwrap();
    assert_eq!(waits.await.unwrap(), ApprovalState::Approved);
    assert!(two.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_of_two_edges_at_once_are_one_after_another() {
    let edges = Two::new().await;
    let team = plugin("team", "1.0.0", &["team"]);
    edges.one.install(&team).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (one, two) = edges.node(&format!("node-{number}")).await;
        let team = team.clone();
        tasks.spawn(async move {
            for round in 0..6 {
                let node = if round % 2 == 0 { &one } else { &two };
                let text = format!("Text {number} {round}.");
                tell(node, &team, "team", &[("hello", &text)]).await;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let check = edges.two.local.verify_audit().await.unwrap();
    assert!(check.faults.is_empty(), "{check:?}");
    assert_eq!(edges.one.count("plugin.tools.snapshot").await, 1, "one node was the first");
    let log = edges.one.log().await;
    let positions: Vec<i64> = log.iter().map(|entry| entry.position).collect();
    assert_eq!(positions, (1..=i64::try_from(log.len()).unwrap()).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_outlives_its_database_and_says_that_it_is_not_ready_meanwhile() {
    // A server of its own, which others do not miss.
    let server = Postgres::start().unwrap();
    let edges = Two::at(&server).await;
    let (node, _) = edges.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    edges.one.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    for how in ["stop fast", "stop immediate"] {
        server.tell(how).unwrap();
        until("it says so", async || edges.one.local.ready().await.is_err()).await;
        assert_eq!(refused(edges.one.admin.remove(&team.name).await), Code::Internal);
        server.tell("start").unwrap();
        for edge in [&edges.one, &edges.two] {
            until("it is ready again", async || edge.local.ready().await.is_ok()).await;
        }
        // What was acknowledged is there, and the edges hear each other again.
        assert_eq!(edges.two.states().await.len(), 1);
        let poll = node.poll(&start()).await.unwrap();
        let text = format!("After {how}.");
        tell(&node, &team, "team", &[("hello", &text)]).await;
        let (query, waiting) = (since(&poll, 30), node.clone());
        let waits = tokio::spawn(async move { waiting.poll(&query).await.unwrap() });
        edges.two.approve_all("team").await;
        let told = tokio::time::timeout(Duration::from_secs(20), waits).await.unwrap().unwrap();
        assert_eq!(told.decisions.changed[0].accepted[0].hash, hash("hello", &text));
    }
    assert!(edges.one.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_folder_keeps_its_store_where_it_was_kept() {
    let edges = Two::new().await;
    let (one, options) = (edges.one.end().await, edges.options);
    let error = Edge::open(&Options { store: StoreAt::Folder, ..options.clone() }).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::OtherStore { .. }), "{error}");
    assert!(error.to_string().ends_with("keeps its store in PostgreSQL, and not in the folder"));
    // Another store than the one whose changes it knows.
    let other = TempDir::new().unwrap();
    let store = store_at(other.path(), server().folder());
    let error = Edge::open(&Options { store: store.clone(), ..options.clone() }).await.unwrap_err();
    assert!(error.to_string().contains("it is new, and this folder had the store of"), "{error}");
    // The folder of a file.
    let house = House::open_with(TempDir::new().unwrap(), Options::new(other.path().join("data")));
    drop(house.await.end().await);
    let error = Edge::open(&Options { store, ..Options::new(other.path().join("data")) }).await;
    assert!(matches!(error.unwrap_err(), StoreError::OtherStore { .. }));
    let again = Edge::open(&options).await.unwrap();
    again.close().await;
    drop(one);
}

#[tokio::test]
async fn a_database_that_was_put_back_takes_nothing_more_from_an_edge_that_knows_better() {
    let edges = Two::new().await;
    let folder = edges.one.folder.path();
    edges.one.node("node-1").await;
    // The last entry of this edge is gone, as after a restore of an older copy of the database.
    let cut = "DROP TRIGGER audit_is_append_only ON audit;
         DELETE FROM audit WHERE position = (SELECT MAX(position) FROM audit);
         UPDATE audit_heads h SET (seq, hash) =
             (SELECT a.seq, a.hash FROM audit a WHERE a.edge = h.edge ORDER BY a.seq DESC LIMIT 1)
             WHERE EXISTS (SELECT 1 FROM audit a WHERE a.edge = h.edge);";
    crate::database::edit(folder, cut).await.unwrap();
    let create =
        CreateToken { kind: TokenKind::Client, name: "c".parse().unwrap(), may_approve: false };
    let error = edges.one.admin.create_token(&create).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unavailable), "{error}");
    assert!(error.to_string().contains("does not have entry"), "{error}");
    assert!(edges.one.local.ready().await.is_err());
    let folder = edges.one.end().await;
    let error = Edge::open(&edges.options).await.unwrap_err();
    assert!(error.to_string().contains("ends earlier now"), "{error}");
    drop(folder);
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named_without_its_password() {
    let folder = TempDir::new().unwrap();
    let store: StoreAt = "postgres://oz0:hunter2@127.0.0.1:1/oz0".parse().unwrap();
    let error = Edge::open(&Options { store, ..Options::new(folder.path()) }).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_over_one_database_seal_with_one_key() {
    let edges = Two::new().await;
    let (plugin, secret) = (credentials::name("team"), credentials::secret("TEAM_KEY"));
    edges.one.install(&credentials::team("1.0.0")).await;
    edges.one.admin.set_secret(&plugin, &secret, &credentials::set("one")).await.unwrap();
    // The other one was given none, and makes none of its own.
    assert!(!edges.two.data().join("seal.key").exists());
    let set = edges.two.admin.set_secret(&plugin, &secret, &credentials::set("two")).await;
    let error = set.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unavailable));
    assert!(error.to_string().contains("seal.key"), "{error}");

    // An edge with another key does not start; one with the same opens what the first sealed.
    let folder = TempDir::new().unwrap();
    let another = "0123456789abcdef".repeat(4).parse().unwrap();
    let options =
        Options { data: folder.path().join("data"), key: Some(another), ..edges.options.clone() };
    let refused = Edge::open(&options).await.map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::Seal(_)), "{refused}");
    assert!(refused.hint().is_some_and(|hint| hint.contains("OZ0_SEAL_KEY")), "{refused}");
    let key = std::fs::read_to_string(edges.one.data().join("seal.key")).unwrap();
    let options = Options { key: Some(key.parse().unwrap()), ..edges.options.clone() };
    let third = edges.one.beside(&options).await;
    let given = third.node("node-1").await.credentials(&plugin).await.unwrap();
    assert_eq!(given.secrets[&secret].expose(), "one");
}
