//! What calls carry of connections, what processes are given of secrets, and when either ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use oz0_api::credential::{ClientAuth, Connect, Grant, OauthGrant, Renewal, Sensitive, SetSecret};
use oz0_issuer::{Issuer, MARK};
use oz0_node::NodeOptions;
use serde_json::{Value, json};

use crate::house::{Caller, House, Plugin, eventually, every_call, function};

/// The value of a secret that stands nowhere else.
const VALUE: &str = "s3cr3t-of-the-process";

/// A connection with one secret, whose scopes name one function.
const TRACKER: &str = "connections:\n  tracker:\n    secrets: [TRACKER_TOKEN]\n    params: {host: {default: api.example.com}}\n    scopes: {read: [team.read], write: [team.write]}\n  other:\n    secrets: [OTHER_TOKEN]\n    scopes: {write: [team.write]}\n";

async fn connect(house: &House, name: &str, with: Grant, params: &[(&str, &str)]) {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let connect = Connect { params: params.collect(), with };
    let (plugin, name) = name.split_once('/').unwrap();
    house.admin.connect(&plugin.parse().unwrap(), &name.parse().unwrap(), &connect).await.unwrap();
}

fn pasted(name: &str, value: &str) -> Grant {
    Grant::Secrets(BTreeMap::from([(name.parse().unwrap(), Sensitive::new(value))]))
}

fn granted(issuer: &Issuer, life: u64, scopes: &[&str]) -> Grant {
    let (access, refresh) = issuer.grant();
    Grant::Oauth(Box::new(OauthGrant {
        token_endpoint: format!("{}/token", issuer.url()),
        revocation_endpoint: Some(format!("{}/revoke", issuer.url())),
        client_id: "client".to_owned(),
        client_secret: None,
        client_auth: ClientAuth::None,
        resource: None,
        access_token: Sensitive::new(access),
        expires_in: Some(life),
        renewal: Renewal::RefreshToken(Sensitive::new(refresh)),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
    }))
}

async fn disconnect(house: &House, name: &str) {
    let (plugin, name) = name.split_once('/').unwrap();
    house.admin.disconnect(&plugin.parse().unwrap(), &name.parse().unwrap()).await.unwrap();
}

/// What a call's `_meta` had under the key of connections, as its server got it.
async fn carried(caller: &Caller, name: &str) -> Option<Value> {
    let called = caller.call(name, r#"{"x": 1}"#).await;
    let value: Value = serde_json::from_str(called.raw()).unwrap();
    assert_ne!(value["isError"], true, "{value}");
    fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
        match value {
            Value::Object(members) => {
                members.get(key).or_else(|| members.values().find_map(|inner| find(inner, key)))
            }
            Value::Array(items) => items.iter().find_map(|inner| find(inner, key)),
            _ => None,
        }
    }
    find(&value["structuredContent"], "oz0/connections").cloned()
}

async fn is_carried(caller: &Caller, name: &str, expected: &Value) {
    eventually("its server gets the token", async || {
        caller.refusal(name).await.is_none()
            && carried(caller, name).await.as_ref() == Some(expected)
    })
    .await;
}

fn team(house: &House) -> Plugin {
    let plugin = Plugin::new(house, "team", &[("team", json!({}))], TRACKER);
    let functions = ["read", "write", "plain"].map(|name| function(name, "Does it."));
    plugin.list("team", &functions.each_ref().map(String::as_str));
    plugin
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_with_the_functions_of_its_scopes_and_no_others() {
    let house = House::new().await;
    let plugin = team(&house);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__plain").await, None);
    assert_eq!(
        caller.refusal("team__read").await.unwrap(),
        "team.read is not called: the connection team/tracker is not connected; connect it with: oz0 connection connect \
         team/tracker"
    );
    connect(&house, "team/tracker", pasted("TRACKER_TOKEN", "t-token"), &[]).await;
    let tracker = json!({"token": "t-token", "params": {"host": "api.example.com"}});
    is_carried(&caller, "team__read", &json!({"tracker": tracker})).await;
    assert_eq!(carried(&caller, "team__plain").await, None);
    // Two accounts for one function, and neither without the other.
    assert!(caller.refusal("team__write").await.unwrap().contains("team/other is not connected"));
    connect(&house, "team/other", pasted("OTHER_TOKEN", "o-token"), &[]).await;
    let both = json!({"tracker": tracker, "other": {"token": "o-token"}});
    is_carried(&caller, "team__write", &both).await;
    assert_eq!(carried(&caller, "team__read").await, Some(json!({"tracker": tracker})));

    // What a client says under this product's names is not its to say, whether or not there is something to say.
    for (name, expected) in
        [("team__read", Some(json!({"tracker": tracker}))), ("team__plain", None)]
    {
        let params = format!(
            r#"{{"name":"{name}","arguments":{{"x":1}},"_meta":{{"oz0/connections":{{"tracker":{{"token":"mine"}}}},"oz0\u002fother":1}}}}"#
        );
        let called = caller.call_with(&params).await;
        assert!(!called.raw().contains("mine") && !called.raw().contains("oz0/other"));
        assert_eq!(called.raw().contains("t-token"), expected.is_some(), "{}", called.raw());
    }
    // The edge's own calls go the same way.
    let call = house.ask("team.read", r#"{"x": 1}"#).await;
    let call = format!("{call:?}");
    // The edge keeps what comes of it for a while: what its server repeats of the token is not in that.
    assert!(call.contains("oz0/connections") && call.contains("[secret]"), "{call}");
    assert!(!call.contains("t-token"), "{call}");

    disconnect(&house, "team/tracker").await;
    eventually("calls that need it are refused", async || {
        caller.refusal("team__read").await.is_some_and(|text| text.contains("is not connected"))
    })
    .await;
    assert_eq!(caller.refusal("team__plain").await, None);
    connect(&house, "team/tracker", pasted("TRACKER_TOKEN", "t-second"), &[("host", "eu.example")])
        .await;
    let tracker = json!({"token": "t-second", "params": {"host": "eu.example"}});
    is_carried(&caller, "team__read", &json!({"tracker": tracker})).await;
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_was_not_granted_opens_nothing() {
    let issuer = Issuer::new();
    let house = House::new().await;
    let plugin = team(&house);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    connect(&house, "team/tracker", granted(&issuer, 3600, &["read"]), &[]).await;
    connect(&house, "team/other", pasted("OTHER_TOKEN", "o-token"), &[]).await;
    eventually("it is called", async || caller.refusal("team__read").await.is_none()).await;
    let text = caller.refusal("team__write").await.unwrap();
    assert!(text.contains("team/tracker was not granted a scope that this needs"), "{text}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_before_it_ends_and_refused_when_that_fails() {
    let issuer = Issuer::new();
    issuer.behave(|manner| manner.life = Duration::from_secs(2));
    let house = House::new().await;
    let plugin = team(&house);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    connect(&house, "team/tracker", granted(&issuer, 2, &["read"]), &[]).await;
    let tokens = Mutex::new(BTreeSet::new());
    eventually("three tokens were used, one after the other", async || {
        if caller.refusal("team__read").await.is_none()
            && let Some(carried) = carried(&caller, "team__read").await
        {
            let token = carried["tracker"]["token"].as_str().unwrap().to_owned();
            assert!(issuer.counts(&token), "what a call carries counts");
            tokens.lock().unwrap().insert(token);
        }
        tokens.lock().unwrap().len() >= 3
    })
    .await;
    issuer.behave(|manner| manner.refuses = true);
    eventually("it is refused when the last one ended", async || {
        let refusal = caller.refusal("team__read").await;
        refusal.is_some_and(|text| {
            assert!(!text.contains(MARK), "{text}");
            text.contains("team/tracker has no token that counts, and it could not be renewed")
        })
    })
    .await;
    let listed = house.admin.connections().await.unwrap();
    let failure = listed.connections.iter().find_map(|one| one.connected.clone()?.failure);
    assert!(failure.unwrap().contains("invalid_grant"));
    assert_eq!(caller.refusal("team__plain").await, None);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_its_edge_goes_on_with_what_it_was_given() {
    let house = House::new().await;
    let plugin = team(&house);
    house.install(&plugin).await;
    let options = NodeOptions { edge_grace: Duration::from_secs(2), ..every_call() };
    let node = house.node("node-1", options).await;
    let caller = Caller::of(&node).await;
    connect(&house, "team/tracker", pasted("TRACKER_TOKEN", "t-token"), &[]).await;
    eventually("it is called", async || caller.refusal("team__read").await.is_none()).await;
    house.lose_edge();
    eventually("its grace is over", async || match caller.refusal("team__read").await {
        None => false,
        Some(text) => text.contains("has not reached its edge"),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_the_processes_of_the_plugin_that_declares_it_and_no_other() {
    let house = House::new().await;
    let says = r#"{"name":"hello","description":"${env:TEAM_KEY}","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;
    let make = |name: &str, more: &str| {
        let plugin = Plugin::new(&house, name, &[(name, json!({}))], more);
        plugin.list(name, &[says]);
        plugin
    };
    let (team, other) = (
        make("team", "requires: {secrets: [TEAM_KEY]}\n"),
        make("other", "requires: {optional_secrets: [OTHER_KEY]}\n"),
    );
    house.install(&team).await;
    house.install(&other).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("other__hello").await, None);
    eventually("it says what is missing", async || {
        assert!(caller.refusal("team__hello").await.is_some());
        let events = house.events.lock().unwrap();
        events.iter().any(|event| event.to_string().contains("oz0 secret set team/TEAM_KEY"))
    })
    .await;
    let set = async |plugin: &str, name: &str, value: &str| {
        let set = SetSecret { value: Sensitive::new(value) };
        let (plugin, name) = (plugin.parse().unwrap(), name.parse().unwrap());
        house.admin.set_secret(&plugin, &name, &set).await.unwrap();
    };
    set("team", "TEAM_KEY", VALUE).await;
    eventually("it runs with it", async || caller.refusal("team__hello").await.is_none()).await;
    let listed = async |plugin: &str| {
        let name = plugin.parse().unwrap();
        let catalog = house.admin.catalog().await.unwrap();
        let own = catalog.functions.into_iter().filter(|one| one.plugin == name);
        format!("{:?}", own.collect::<Vec<_>>())
    };
    assert!(listed("team").await.contains(VALUE), "its own process says it");
    assert!(!listed("other").await.contains(VALUE));

    // Another value is another process; what a process lists is compared as ever.
    set("team", "TEAM_KEY", "s3cr3t-that-came-later").await;
    let refused = crate::house::changed("team.hello", "team");
    eventually("it runs with the other value", async || {
        caller.refusal("team__hello").await.as_deref() == Some(refused.as_str())
    })
    .await;
    set("team", "TEAM_KEY", VALUE).await;
    eventually("and with the first again", async || caller.refusal("team__hello").await.is_none())
        .await;

    // What an operator of the machine gave stands before what the edge keeps.
    node.shutdown().await;
    let secrets = BTreeMap::from([("TEAM_KEY".to_owned(), Sensitive::new("s3cr3t-of-the-flag"))]);
    let node = house.node("node-1", NodeOptions { secrets, ..every_call() }).await;
    let caller = Caller::of(&node).await;
    eventually("the flag's value is used", async || {
        caller.refusal("team__hello").await.as_deref() == Some(refused.as_str())
    })
    .await;
    house.admin.unset_secret(&"team".parse().unwrap(), &"TEAM_KEY".parse().unwrap()).await.unwrap();
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_blurts_out_of_a_secret_is_taken_out_of_what_people_are_told() {
    let house = House::new().await;
    let more = "requires: {secrets: [TEAM_KEY]}\n";
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], more);
    plugin.write(
        "oz0-plugin.yaml",
        &format!(
            "name: team\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  team:\n    \
             mcp: {{command: [sh, -c, 'echo \"the key is $TEAM_KEY\" >&2; exit 3']}}\n{more}"
        ),
    );
    house.install(&plugin).await;
    let set = SetSecret { value: Sensitive::new(VALUE) };
    house
        .admin
        .set_secret(&"team".parse().unwrap(), &"TEAM_KEY".parse().unwrap(), &set)
        .await
        .unwrap();
    let node = house.node("node-1", NodeOptions::default()).await;
    eventually("its failure is told", async || {
        let events = house.events.lock().unwrap();
        events.iter().any(|event| event.to_string().contains("the key is [secret]"))
    })
    .await;
    eventually("the edge was told", async || {
        let status = house.admin.plugin(&"team".parse().unwrap()).await.unwrap();
        let told = format!("{status:?}");
        assert!(!told.contains(VALUE), "{told}");
        told.contains("[secret]")
    })
    .await;
    let events = format!("{:?}", house.events.lock().unwrap());
    assert!(!events.contains(VALUE), "{events}");
    node.shutdown().await;
}

fn remote(plugin: &Plugin, url: &str, params: &str) {
    plugin.write(
        "oz0-plugin.yaml",
        &format!(
            "name: weather\nversion: 1.0.0\nkind: connector\ndescription: A test.\nlicense: MIT\ntools:\n  wx:\n    \
             url: {url}\n    connection: wx\nconnections:\n  wx:\n    params: {params}\n    scopes: {{read: [wx.seen]}}\n"
        ),
    );
}

/// The tokens that a server was sent, and whether any request had none.
fn sent(issuer: &Issuer) -> (BTreeSet<String>, bool) {
    let all: Vec<_> = issuer.requests().into_iter().map(|request| request.authorization).collect();
    let none = all.iter().any(Option::is_none);
    (all.into_iter().flatten().collect(), none)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_server_is_sent_its_connections_token_and_no_other_place_is() {
    let (issuer, evil) = (Issuer::new(), Issuer::new());
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    remote(&plugin, &issuer.mcp(), "{}");
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    eventually("it is not listed as nobody", async || {
        let _ = caller.refusal("wx__seen").await;
        let events = house.events.lock().unwrap();
        events.iter().any(|event| event.to_string().contains("oz0 connection connect weather/wx"))
    })
    .await;
    assert!(issuer.requests().is_empty());

    connect(&house, "weather/wx", granted(&issuer, 3600, &["read"]), &[]).await;
    eventually("it is called", async || caller.refusal("wx__seen").await.is_none()).await;
    assert_eq!(caller.refusal("wx__other").await, None);
    let (tokens, without) = sent(&issuer);
    assert_eq!((tokens.len(), without), (1, false));
    let called = |name: &str| {
        let requests = issuer.requests().into_iter().map(|request| request.body);
        requests.filter(|body| body["params"]["name"] == name).last().unwrap()
    };
    let token = tokens.first().unwrap().strip_prefix("Bearer ").unwrap().to_owned();
    assert_eq!(called("seen")["params"]["_meta"]["oz0/connections"]["wx"]["token"], token.as_str());
    assert!(called("other")["params"]["_meta"].get("oz0/connections").is_none());

    // It moves: the new place is listed as nobody, until somebody approves the move.
    remote(&plugin, &evil.mcp(), "{}");
    house.install(&plugin).await;
    eventually("the new place was asked", async || !evil.requests().is_empty()).await;
    assert!(caller.refusal("wx__seen").await.unwrap().contains("moved to another endpoint"));
    let (tokens, without) = sent(&evil);
    assert!(tokens.is_empty() && without, "{tokens:?}");
    // And nothing of what was said was repeated to people, though the server repeats what it gets.
    let told = format!("{:?}", house.events.lock().unwrap());
    assert!(!told.contains(MARK), "{told}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_servers_token_is_renewed_and_ends_with_its_connection() {
    let issuer = Issuer::new();
    issuer.behave(|manner| manner.life = Duration::from_secs(2));
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    remote(&plugin, &issuer.mcp(), "{}");
    house.install(&plugin).await;
    connect(&house, "weather/wx", granted(&issuer, 2, &["read"]), &[]).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    eventually("three tokens were sent", async || {
        let refusal = caller.refusal("wx__seen").await;
        assert!(refusal.is_none() || sent(&issuer).0.is_empty(), "{refusal:?}");
        sent(&issuer).0.len() >= 3
    })
    .await;
    disconnect(&house, "weather/wx").await;
    eventually("it is refused", async || {
        let refusal = caller.refusal("wx__seen").await;
        refusal.is_some()
    })
    .await;
    let before = issuer.requests().len();
    assert!(caller.refusal("wx__seen").await.is_some());
    let after = issuer.requests();
    assert!(
        after[before..].iter().all(|request| request.body["method"] != "tools/call"),
        "nothing is called for nobody"
    );
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_a_param_is_the_one_that_was_connected() {
    let (issuer, other) = (Issuer::new(), Issuer::new());
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    let default = |issuer: &Issuer| format!("{{host: {{default: '{}'}}}}", issuer.address());
    remote(&plugin, "http://{host}/mcp", &default(&other));
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    let host = issuer.address().to_string();
    connect(&house, "weather/wx", granted(&issuer, 3600, &["read"]), &[("host", &host)]).await;
    eventually("it is called", async || caller.refusal("wx__seen").await.is_none()).await;
    assert!(!sent(&issuer).1);
    // A later default changes nothing and gets nothing.
    node.shutdown().await;
    let evil = Issuer::new();
    remote(&plugin, "http://{host}/mcp", &default(&evil));
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    eventually("it goes on", async || caller.refusal("wx__seen").await.is_none()).await;
    for nobody in [&other, &evil] {
        assert!(nobody.requests().is_empty(), "{:?}", nobody.requests());
    }
    node.shutdown().await;
}
