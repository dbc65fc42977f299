//! What happens to a call: each verdict by each source, and at once.

use std::time::{Duration, Instant};

use oz0_api::approval::Decide;
use oz0_api::policy::Action;
use oz0_node::NodeOptions;
use serde_json::json;

use crate::house::{Caller, House, Plugin, annotated, eventually, every_call, silent};

/// What became of a call with `{"x": 1}`: allowed, asked about (and then denied), or the refusal's words.
async fn outcome(house: &House, caller: &Caller, name: &str) -> String {
    let call = caller.refusal(name);
    tokio::pin!(call);
    loop {
        tokio::select! {
            refusal = &mut call => {
                return refusal.unwrap_or_else(|| "allowed".to_owned());
            }
            () = tokio::time::sleep(Duration::from_millis(5)) => {
                if let [asked] = &house.admin.approvals().await.unwrap().approvals[..] {
                    house.admin.deny_call(&asked.id, &Decide::default()).await.unwrap();
                    let text = call.await.unwrap();
                    assert_eq!(text, format!(
                        "{} was not called: token:admin denied this call", asked.function
                    ));
                    return format!("asked, since {}", asked.why);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_type_of_what_is_served_decides_where_nothing_else_does() {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], "");
    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).unwrap();
    let overrides = "    overrides:\n      tamed: {annotations: {readOnlyHint: true}}\n      \
                     wild: {annotations: {destructiveHint: true}}\n";
    plugin.write("oz0-plugin.yaml", &(manifest + overrides));
    let write = json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false});
    plugin.list(
        "team",
        &[
            &silent("silent"),
            &silent("tamed"),
            &annotated("read", &json!({"readOnlyHint": true})),
            &annotated("wild", &json!({"readOnlyHint": true})),
            &annotated("write", &write),
            &annotated("sends", &json!({"readOnlyHint": false})),
            &annotated("destroys", &json!({"readOnlyHint": false, "destructiveHint": true})),
            &annotated("odd", &json!({"readOnlyHint": "true"})),
        ],
    );
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    for (function, wanted) in [
        ("silent", "asked, since its server does not say whether it changes anything"),
        ("odd", "asked, since its server does not say whether it changes anything"),
        ("tamed", "allowed"),
        ("read", "allowed"),
        ("write", "allowed"),
        ("sends", "allowed"),
        ("wild", "asked, since it may delete or overwrite"),
        ("destroys", "asked, since it may delete or overwrite"),
    ] {
        let found = outcome(&house, &caller, &format!("team__{function}")).await;
        assert_eq!(found, wanted, "{function}");
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenants_rule_a_plugins_and_a_tools_count_in_that_order() {
    let house = House::new().await;
    let more = "    approval: writes\n    requires_approval: [merge]\npolicy:\n  \
                - {match: team.save, action: ask, reason: \"it writes\"}\n  \
                - {match: team.drop, action: refuse, reason: \"never\"}\n  \
                - {match: team.open, action: allow}\n  \
                - {match: team.some, action: refuse, when: {/x: {const: 1}}}\n  \
                - {match: team.judged, action: judge}\n";
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], more);
    let write = json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false});
    let texts: Vec<String> = ["save", "drop", "open", "some", "judged", "plain", "merge"]
        .iter()
        .map(|name| annotated(name, &write))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    plugin.list("team", &texts);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    for (function, wanted) in [
        ("save", "asked, since its plugin asks (it writes)"),
        (
            "drop",
            "team.drop is not called: its plugin's own policy refuses it (never); to decide otherwise: oz0 policy set \
             team.drop ask",
        ),
        ("open", "allowed"),
        (
            "some",
            "team.some is not called: its plugin's own policy refuses it; to decide otherwise: oz0 policy set team.some \
             ask",
        ),
        ("judged", "asked, since its plugin asks"),
        ("plain", "asked, since its tool asks about calls like this"),
        ("merge", "asked, since its tool asks about calls like this"),
    ] {
        let found = outcome(&house, &caller, &format!("team__{function}")).await;
        assert_eq!(found, wanted, "{function}");
    }
    let mut other = Box::pin(caller.call("team__some", r#"{"x": 2}"#));
    tokio::select! {
        made = &mut other => panic!("the tool's approval asks: {made:?}"),
        _ = house.waiting(1) => {}
    }
    drop(other);
    house.waiting(0).await;

    let rule = house.rule(&node, "team.*", Action::Allow).await;
    for function in ["save", "drop", "open", "some", "judged", "plain"] {
        assert_eq!(outcome(&house, &caller, &format!("team__{function}")).await, "allowed");
    }
    assert_eq!(
        outcome(&house, &caller, "team__merge").await,
        "asked, since a person decides every call of it"
    );
    let refuse = house.rule(&node, "team.open", Action::Refuse).await;
    let said = outcome(&house, &caller, "team__open").await;
    assert_eq!(
        said,
        format!(
            "team.open is not called: the policy refuses it (rule {}: as it was\\u{{200B}} said); `oz0 policy list` \
             shows the rules",
            refuse.id
        )
    );
    house.unset(&node, &refuse).await;
    house.unset(&node, &rule).await;
    let ask = house.rule_when(&node, "team.open", Action::Ask, json!({"/x": {"minimum": 1}})).await;
    assert_eq!(
        outcome(&house, &caller, "team__open").await,
        format!("asked, since the policy asks (rule {}: as it was\\u{{200B}} said)", ask.id)
    );
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_counts_on_a_node_within_a_moment_and_also_where_it_is_taken_away() {
    let house = House::new().await;
    let read = annotated("read", &json!({"readOnlyHint": true}));
    let plugin = Plugin::of_functions(&house, "team", &[&read]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__read").await, None);
    let mut took = Vec::new();
    for _ in 0..10 {
        let set = oz0_api::policy::SetRule {
            rule: serde_json::from_value(json!({"match": "team.read", "action": "refuse"}))
                .unwrap(),
            before: None,
        };
        let rule = house.admin.set_rule(&set).await.unwrap().rule;
        let began = Instant::now();
        while caller.refusal("team__read").await.is_none() {
            assert!(began.elapsed() < Duration::from_secs(2));
        }
        took.push(began.elapsed());
        house.admin.unset_rule(&rule.id).await.unwrap();
        eventually("it is called", async || caller.refusal("team__read").await.is_none()).await;
    }
    took.sort();
    assert!(took[5] < Duration::from_millis(200), "{took:?}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_read_in_two_ways_and_rules_that_cannot_be_checked_are_refused() {
    let house = House::new().await;
    let broken = "policy:\n  - {match: team.odd, action: allow, when: {/x: {$ref: \"http://127.0.0.1:1/s\"}}}\n";
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], broken);
    let read = json!({"readOnlyHint": true});
    plugin.list("team", &[&annotated("read", &read), &annotated("odd", &read)]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    house.rule_when(&node, "team.read", Action::Refuse, json!({"/to": {"const": "evil"}})).await;
    let caller = Caller::of(&node).await;
    for arguments in [
        r#"{"to": "evil", "to": "good"}"#,
        r#"{"to": "good", "t\u006f": "evil"}"#,
        r#"{"to": "\u0065vil"}"#,
    ] {
        let answer = caller.call("team__read", arguments).await;
        assert!(answer.text().starts_with("team.read "), "{answer:?}");
        assert!(answer.raw().contains(r#""isError":true"#), "{arguments}");
    }
    assert!(caller.call("team__read", r#"{"to": "good"}"#).await.raw().contains("good"));
    let text = caller.refusal("team__odd").await.unwrap();
    assert!(
        text.starts_with(
            "team.odd is not called: whether a rule that its plugin suggests holds for these arguments cannot be said: \
             its schema for /x cannot be used: "
        ),
        "{text}"
    );
    house.rule(&node, "team.odd", Action::Allow).await;
    assert_eq!(caller.refusal("team__odd").await, None, "a tenant's rule comes first");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_asks_less_is_not_taken_and_one_that_asks_more_is() {
    let mut house = House::new().await;
    let suggested = "policy:\n  - {match: team.read, action: refuse, reason: \"no\"}\n";
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], suggested);
    let read = json!({"readOnlyHint": true});
    plugin.list("team", &[&annotated("read", &read), &annotated("other", &read)]);
    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).unwrap();
    house.keep(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__other").await, None);
    let refused = caller.refusal("team__read").await.unwrap();
    for less in ["", "policy: [{match: team.*, action: ask}]\n"] {
        plugin.write("oz0-plugin.yaml", &manifest.replace(suggested, less));
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert_eq!(caller.refusal("team__read").await.unwrap(), refused);
    }
    let more = "  - {match: team.other, action: refuse}\n";
    plugin.write("oz0-plugin.yaml", &(manifest + more));
    eventually("the edit is taken", async || {
        let text = caller.refusal("team__other").await.unwrap_or_default();
        text.starts_with("team.other is not called: its plugin's own policy refuses it")
    })
    .await;
    node.shutdown().await;
}
