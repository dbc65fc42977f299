//! Secrets and connections: who may put them in, who gets them, and how they lie on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use oz0_api::credential::{Connect, Grant, Sensitive, SetSecret};
use oz0_api::node::PollQuery;
use oz0_api::plugin::{ConnectionDescription, Install, Need, PluginDescription};
use oz0_api::rollout::Rollout;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, Code, ConnectionName, PluginName, SecretName};
use oz0_edge::{Edge, Options, SealKey};
use sqlx::Connection as _;

use crate::database::edit;
use crate::house::{House, bring, options, plugin, refused};

/// A text that stands nowhere else.
const VALUE: &str = "v4lue-0f-a-s3cret";

pub(crate) fn name(text: &str) -> PluginName {
    text.parse().unwrap()
}

pub(crate) fn secret(text: &str) -> SecretName {
    text.parse().unwrap()
}

pub(crate) fn connection(text: &str) -> ConnectionName {
    text.parse().unwrap()
}

pub(crate) fn set(value: &str) -> SetSecret {
    SetSecret { value: Sensitive::new(value) }
}

/// A plugin that declares a required secret, an optional one, and a connection with a param and a scope.
pub(crate) fn team(version: &str) -> PluginDescription {
    let mut team = plugin("team", version, &["t"]);
    team.secrets = BTreeMap::from([
        (secret("TEAM_KEY"), Need::Required),
        (secret("TEAM_EXTRA"), Need::Optional),
    ]);
    let connection_of = ConnectionDescription {
        secrets: vec![secret("TRACKER_TOKEN")],
        params: BTreeMap::from([
            ("host".to_owned(), Some("api.example.com".to_owned())),
            ("project".to_owned(), None),
        ]),
        scopes: BTreeMap::from([(
            "issues:read".to_owned(),
            BTreeSet::from(["t.list".parse().unwrap()]),
        )]),
    };
    team.connections = BTreeMap::from([(connection("tracker"), connection_of)]);
    team
}

fn connect(value: &str) -> Connect {
    let secrets = BTreeMap::from([(secret("TRACKER_TOKEN"), Sensitive::new(value))]);
    Connect {
        params: BTreeMap::from([("project".to_owned(), "OPS".to_owned())]),
        with: Grant::Secrets(secrets),
    }
}

/// Whether a text stands in any file of a folder.
fn stands_in(folder: &Path, text: &str) -> Option<String> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = stands_in(&path, text) {
                return Some(found);
            }
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        {
            return Some(path.display().to_string());
        }
    }
    None
}

#[tokio::test]
async fn a_secret_is_set_shown_without_its_value_and_forgotten() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let listed = house.admin.secrets().await.unwrap().secrets;
    let line = |one: &oz0_api::credential::SecretInfo| {
        format!("{} {:?} {}", one.name, one.need, one.set_at.is_some())
    };
    let lines: Vec<String> = listed.iter().map(line).collect();
    assert_eq!(lines, ["TEAM_EXTRA Some(Optional) false", "TEAM_KEY Some(Required) false"]);

    let told =
        house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
    assert_eq!(told.set_by.as_deref(), Some("token:admin"));
    let node = house.node("node-1").await;
    let given = node.credentials(&name("team")).await.unwrap();
    assert_eq!(given.secrets[&secret("TEAM_KEY")].expose(), VALUE);
    assert_eq!(given.secrets.len(), 1);
    // Another value takes its place.
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set("another")).await.unwrap();
    let given = node.credentials(&name("team")).await.unwrap();
    assert_eq!(given.secrets[&secret("TEAM_KEY")].expose(), "another");

    house.admin.unset_secret(&name("team"), &secret("TEAM_KEY")).await.unwrap();
    assert!(node.credentials(&name("team")).await.unwrap().secrets.is_empty());
    let again = house.admin.unset_secret(&name("team"), &secret("TEAM_KEY")).await;
    assert_eq!(refused(again), Code::NotFound);
    let acts = house.acts().await;
    let own: Vec<&String> = acts.iter().filter(|act| act.starts_with("secret.")).collect();
    assert_eq!(own, ["secret.set", "secret.set", "secret.unset"]);
    let log = format!("{:?}", house.log().await);
    assert!(log.contains("TEAM_KEY") && !log.contains(VALUE), "{log}");
}

#[tokio::test]
async fn what_is_no_value_and_what_nobody_declares_is_not_kept() {
    let house = House::new().await;
    let somebody = |value: &str| {
        let (admin, set) = (house.admin.clone(), set(value));
        async move { admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set).await }
    };
    assert_eq!(refused(somebody(VALUE).await), Code::NotFound);
    house.install(&team("1.0.0")).await;
    assert_eq!(refused(somebody("").await), Code::Malformed);
    assert_eq!(refused(somebody("a\0b").await), Code::Malformed);
    assert_eq!(refused(somebody(&"x".repeat(64 * 1024 + 1)).await), Code::TooLarge);
    somebody(&"x".repeat(64 * 1024)).await.unwrap();
    let other = house.admin.set_secret(&name("team"), &secret("OTHER"), &set(VALUE)).await;
    assert_eq!(refused(other), Code::NotFound);
    // A connection's secret is no process's.
    let tracker =
        house.admin.set_secret(&name("team"), &secret("TRACKER_TOKEN"), &set(VALUE)).await;
    let oz0_api::ClientError::Problem(problem) = tracker.unwrap_err() else { panic!("a problem") };
    assert!(problem.hint.unwrap().contains("oz0 connection connect team/tracker"));
}

#[tokio::test]
async fn only_people_put_them_in_and_only_a_node_that_runs_the_plugin_gets_them() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let (team, key, tracker) = (name("team"), secret("TEAM_KEY"), connection("tracker"));
    let node = house.node("node-1").await;
    let client =
        CreateToken { kind: TokenKind::Client, name: "claude".parse().unwrap(), may_approve: true };
    let client = house.admin.create_token(&client).await.unwrap();
    let client = house.local.with_token(&client.secret);
    let join =
        CreateToken { kind: TokenKind::Join, name: "later".parse().unwrap(), may_approve: false };
    let join = house.admin.create_token(&join).await.unwrap();
    let join = house.local.with_token(&join.secret);
    for who in [&node, &client, &join, &house.local] {
        assert_eq!(refused(who.secrets().await), Code::Forbidden);
        assert_eq!(refused(who.set_secret(&team, &key, &set(VALUE)).await), Code::Forbidden);
        assert_eq!(refused(who.unset_secret(&team, &key).await), Code::Forbidden);
        assert_eq!(refused(who.connections().await), Code::Forbidden);
        assert_eq!(refused(who.connect(&team, &tracker, &connect(VALUE)).await), Code::Forbidden);
        assert_eq!(refused(who.disconnect(&team, &tracker).await), Code::Forbidden);
    }
    for who in [&house.admin, &client, &join, &house.local] {
        assert_eq!(refused(who.credentials(&team).await), Code::Forbidden);
    }
    house.admin.set_secret(&team, &key, &set(VALUE)).await.unwrap();
    node.credentials(&team).await.unwrap();
    // What a node is not to run is not its business, whether or not it is there.
    house.install(&plugin("other", "1.0.0", &["o"])).await;
    assert_eq!(refused(node.credentials(&name("nothing")).await), Code::NotFound);
    house.admin.remove(&team).await.unwrap();
    assert_eq!(refused(node.credentials(&team).await), Code::NotFound);
    // What was kept stays sealed, and is shown, so that somebody can forget it.
    let kept = house.admin.secrets().await.unwrap().secrets;
    assert_eq!((kept.len(), kept[0].need), (1, None));
    house.admin.unset_secret(&team, &key).await.unwrap();
}

#[tokio::test]
async fn a_node_gets_what_the_versions_declare_that_it_may_run() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let (canary, other) = (house.node("canary").await, house.node("other").await);
    let mut two = team("2.0.0");
    two.secrets.insert(secret("NEW_KEY"), Need::Required);
    bring(&house.admin, &two).await;
    let terms = Install {
        update: true,
        rollout: Some(Rollout::Nodes(BTreeSet::from(["canary".parse().unwrap()]))),
        ..Install::default()
    };
    for node in [&canary, &other] {
        node.poll(&PollQuery::default()).await.unwrap();
    }
    house.admin.install_on(&two, &terms).await.unwrap();
    for key in ["TEAM_KEY", "NEW_KEY"] {
        house.admin.set_secret(&name("team"), &secret(key), &set(VALUE)).await.unwrap();
    }
    let names = async |node: &Client| -> Vec<String> {
        let given = node.credentials(&name("team")).await.unwrap();
        given.secrets.keys().map(ToString::to_string).collect()
    };
    assert_eq!(names(&canary).await, ["NEW_KEY", "TEAM_KEY"]);
    assert_eq!(names(&other).await, ["TEAM_KEY"]);
}

#[tokio::test]
async fn a_connection_keeps_its_params_as_they_were_and_its_token() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let (team_name, tracker) = (name("team"), connection("tracker"));
    let info = house
        .admin
        .connect(&team_name, &tracker, &connect(VALUE))
        .await
        .unwrap()
        .connected
        .unwrap();
    assert_eq!(info.params["host"], "api.example.com");
    // A later default changes nothing.
    let mut two = team("1.1.0");
    let description = two.connections.get_mut(&tracker).unwrap();
    description.params.insert("host".to_owned(), Some("evil.example".to_owned()));
    house.install(&two).await;
    let node = house.node("node-1").await;
    let given = node.credentials(&team_name).await.unwrap();
    let credential = &given.connections[&tracker];
    assert_eq!(credential.token.as_ref().unwrap().expose(), VALUE);
    assert_eq!(credential.params["host"], "api.example.com");
    assert_eq!(credential.params["project"], "OPS");
    assert_eq!(credential.scopes, None, "whoever gave it knows what it may");

    let listed = house.admin.connections().await.unwrap().connections;
    let shown = serde_json::to_string(&listed).unwrap();
    assert!(shown.contains("OPS") && !shown.contains(VALUE), "{shown}");
    let gone = house.admin.disconnect(&team_name, &tracker).await.unwrap();
    assert_eq!(gone.revocation, oz0_api::credential::Revocation::NotOffered);
    assert!(node.credentials(&team_name).await.unwrap().connections.is_empty());
    assert_eq!(refused(house.admin.disconnect(&team_name, &tracker).await), Code::NotFound);
    let acts = house.acts().await;
    let own: Vec<&String> = acts.iter().filter(|act| act.starts_with("connection.")).collect();
    assert_eq!(own, ["connection.connect", "connection.disconnect"]);
    assert!(!format!("{:?}", house.log().await).contains(VALUE));
}

#[tokio::test]
async fn a_connection_takes_what_its_manifest_names_and_nothing_else() {
    let house = House::new().await;
    let mut team = team("1.0.0");
    let tool = team.tools.values_mut().next().unwrap();
    tool.connection = Some(connection("tracker"));
    tool.url = Some("https://{host}/mcp".to_owned());
    house.install(&team).await;
    let (team, tracker) = (name("team"), connection("tracker"));
    let good = connect(VALUE);
    let bad = |change: &dyn Fn(&mut Connect)| {
        let mut connect = good.clone();
        change(&mut connect);
        connect
    };
    let secrets = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| (secret(name), Sensitive::new(*value)));
        Grant::Secrets(pairs.collect())
    };
    for wrong in [
        bad(&|connect| connect.params.clear()),
        bad(&|connect| {
            connect.params.insert("other".to_owned(), "x".to_owned());
        }),
        bad(&|connect| {
            connect.params.insert("project".to_owned(), "two\nlines".to_owned());
        }),
        // It would be another place than it seems.
        bad(&|connect| {
            connect.params.insert("host".to_owned(), "evil.example/x?".to_owned());
        }),
        bad(&|connect| connect.with = secrets(&[])),
        bad(&|connect| connect.with = secrets(&[("TRACKER_TOKEN", "")])),
        bad(&|connect| connect.with = secrets(&[("TRACKER_TOKEN", "x"), ("OTHER", "y")])),
    ] {
        let answer = house.admin.connect(&team, &tracker, &wrong).await;
        assert_eq!(refused(answer), Code::Malformed, "{wrong:?}");
    }
    let unknown = house.admin.connect(&team, &connection("other"), &good).await;
    assert_eq!(refused(unknown), Code::NotFound);
    house.admin.connect(&team, &tracker, &good).await.unwrap();
}

#[tokio::test]
async fn no_value_is_anywhere_on_the_disk_and_no_row_opens_under_another_name() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
    let other = format!("{VALUE}-extra");
    house.admin.set_secret(&name("team"), &secret("TEAM_EXTRA"), &set(&other)).await.unwrap();
    let token = format!("{VALUE}-token");
    house.admin.connect(&name("team"), &connection("tracker"), &connect(&token)).await.unwrap();
    // In the log of the database too, before it is folded in, and after.
    assert_eq!(stands_in(&house.data(), VALUE), None);
    let folder = house.end().await;
    let data = folder.path().join("data");
    assert_eq!(stands_in(&data, VALUE), None);

    // Somebody who may write to the store moves one row's value to another's name.
    edit(
        folder.path(),
        "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'TEAM_EXTRA')
         WHERE name = 'TEAM_KEY'",
    )
    .await
    .unwrap();
    let house = House::open(folder).await;
    let error = house.node("node-1").await.credentials(&name("team")).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unavailable));
    assert!(error.to_string().contains("not what was sealed for this name"), "{error}");
}

#[tokio::test]
async fn without_its_key_nothing_opens_and_no_other_is_made() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
    let path = house.data().join("seal.key");
    let key = std::fs::read(&path).unwrap();
    let folder = house.end().await;
    std::fs::remove_file(&path).unwrap();

    let house = House::open(folder).await;
    let node = house.node("node-1").await;
    let error = node.credentials(&name("team")).await.unwrap_err();
    assert!(error.to_string().contains("seal.key"), "{error}");
    let set_again = house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set("x")).await;
    assert_eq!(refused(set_again), Code::Unavailable);
    assert!(!path.exists(), "another key would open nothing of it");
    // The rest of the edge goes on, and what nobody can open can be forgotten.
    house.admin.plugins().await.unwrap();
    let folder = house.end().await;

    // With another key it says so; with the one that it was sealed with it opens.
    let another: SealKey = "0123456789abcdef".repeat(4).parse().unwrap();
    let given = Options { key: Some(another), ..options(folder.path()) };
    let house = House::open_with(folder, given).await;
    let error = house.node("node-2").await.credentials(&name("team")).await.unwrap_err();
    assert!(error.to_string().contains("sealed with another key"), "{error}");
    let folder = house.end().await;
    let given: SealKey = String::from_utf8(key).unwrap().parse().unwrap();
    let given = Options { key: Some(given), ..options(folder.path()) };
    let house = House::open_with(folder, given).await;
    let given = house.node("node-3").await.credentials(&name("team")).await.unwrap();
    assert_eq!(given.secrets[&secret("TEAM_KEY")].expose(), VALUE);
    assert!(!path.exists(), "a key that is given is written nowhere");

    // Once everything that was sealed with a lost key is forgotten, there is a new one.
    house.admin.unset_secret(&name("team"), &secret("TEAM_KEY")).await.unwrap();
    let house = house.restart().await;
    assert!(path.exists());
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
}

#[tokio::test]
async fn a_poll_that_waits_names_the_plugin_and_no_value() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let node = house.node("node-1").await;
    let first = node.poll(&PollQuery::default()).await.unwrap();
    let query = PollQuery {
        edge: Some(first.edge.clone()),
        plugins: first.plugins.revision,
        decisions: first.decisions.revision,
        policy: first.policy.as_ref().unwrap().revision,
        head: first.head.clone(),
        wait: Some(30),
        ..PollQuery::default()
    };
    let waiting = tokio::spawn({
        let (node, query) = (node.clone(), query.clone());
        async move { node.poll(&query).await.unwrap() }
    });
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
    let woken = waiting.await.unwrap();
    let changed = woken.credentials.clone().unwrap();
    assert_eq!(changed.plugins, BTreeSet::from([name("team")]));
    assert!(!serde_json::to_string(&woken).unwrap().contains(VALUE));
    let query = PollQuery {
        plugins: woken.plugins.revision,
        decisions: woken.decisions.revision,
        credentials: changed.revision,
        head: woken.head,
        wait: Some(0),
        ..query
    };
    assert!(node.poll(&query).await.unwrap().credentials.is_none(), "once");
}

#[tokio::test]
async fn a_store_of_before_gets_the_tables_that_it_lacks() {
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let folder = house.end().await;
    let url = format!("sqlite://{}", folder.path().join("data/edge.db").display());
    let mut db = sqlx::SqliteConnection::connect(&url).await.unwrap();
    for statement in [
        "DROP TABLE secrets",
        "DROP TABLE connections",
        "DROP TABLE credentials",
        "DELETE FROM _sqlx_migrations WHERE version = 6",
    ] {
        sqlx::query(statement).execute(&mut db).await.unwrap();
    }
    db.close().await.unwrap();
    drop(Edge::open(&options(folder.path())).await.unwrap());
    let house = House::open(folder).await;
    house.admin.set_secret(&name("team"), &secret("TEAM_KEY"), &set(VALUE)).await.unwrap();
}
