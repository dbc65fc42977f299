//! Functions that are called around calls.

use oz0_api::approval::Decide;
use oz0_api::policy::Action;
use oz0_node::{DevFolder, NodeOptions};
use serde_json::{Value, json};

use crate::house::{Caller, House, Plugin, annotated};

/// A tool that answers as a hook does.
fn answers(answer: &str) -> Value {
    json!({"on": {"call check": [{"steps": [{"result": answer}]}]}})
}

fn said(decision: &Value) -> String {
    json!({"structuredContent": decision, "content": []}).to_string()
}

/// A plugin whose hook is asked around its own function `act`.
async fn guarded(house: &House, name: &str, on: &str, guard: Value) -> Plugin {
    let more = format!("hooks:\n  - {{on: {on}, match: \"{name}.a*\", call: {name}g.check}}\n");
    let plugin =
        Plugin::new(house, name, &[(name, json!({})), (&format!("{name}g"), guard)], &more);
    let read = json!({"readOnlyHint": true});
    plugin.list(name, &[&annotated("act", &read), &annotated("other", &read)]);
    plugin.list(&format!("{name}g"), &[r#"{"name":"check","inputSchema":{"type":"object"}}"#]);
    house.install(&plugin).await;
    plugin
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_before_a_call_lets_it_through_changes_it_or_refuses_it() {
    let house = House::new().await;
    let _allows =
        guarded(&house, "ok", "before_call", answers(&said(&json!({"decision": "allow"})))).await;
    let changes = said(&json!({"decision": "allow", "arguments": {"x": 2}}));
    let _changes = guarded(&house, "ch", "before_call", answers(&changes)).await;
    let refuses = said(&json!({"decision": "refuse", "reason": "not\u{200b} today"}));
    let _refuses = guarded(&house, "no", "before_call", answers(&refuses)).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let answer = caller.call("ok__act", r#"{"x": 1}"#).await;
    assert!(answer.raw().contains(r#"{"x": 1}"#), "{}", answer.raw());
    let answer = caller.call("ch__act", r#"{"x": 1}"#).await;
    assert!(answer.raw().contains(r#"{"x":2}"#), "{}", answer.raw());
    assert_eq!(
        caller.refusal("no__act").await.unwrap(),
        "no.act was not called: nog.check of no, which looks at its calls, says no: not\\u{200B} today"
    );
    assert_eq!(caller.refusal("no__other").await, None, "it is not watched");

    // What a hook makes of a call is decided about anew.
    house.rule_when(&node, "ch.act", Action::Refuse, json!({"/x": {"const": 2}})).await;
    let text = caller.refusal("ch__act").await.unwrap();
    assert!(text.starts_with("ch.act is not called: the policy refuses it"), "{text}");
    // And what was to be asked about is asked about, as it will be.
    house.rule_when(&node, "ok.act", Action::Ask, json!({"/x": {"const": 1}})).await;
    let call = caller.call("ok__act", r#"{"x": 1}"#);
    tokio::pin!(call);
    tokio::select! {
        made = &mut call => panic!("{made:?}"),
        asked = house.waiting(1) => {
            house.admin.approve_call(&asked[0].id, &Decide::default()).await.unwrap();
        }
    }
    call.await.raw();
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_sees_what_is_called_and_after_it_what_came_of_it() {
    let house = House::new().await;
    let seen = json!({"on": {"call check": [{"steps": [{"result": said(&json!({"decision": "allow"}))}]}]}});
    let _before = guarded(&house, "bf", "before_call", seen).await;
    let refuses = said(&json!({"decision": "refuse", "reason": "it says too much"}));
    let _after = guarded(&house, "af", "after_call", answers(&refuses)).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("bf__act").await, None);
    assert_eq!(
        caller.refusal("af__act").await.unwrap(),
        "af.act was called, and its result is not passed on: afg.check of af, which looks at its results, says no: it \
         says too much"
    );
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_keeps_a_hook_from_answering_is_a_no() {
    let house = House::new().await;
    let dies = json!({"on": {"call check": [{"steps": [{"exit": 1}]}]}});
    let _dies = guarded(&house, "di", "before_call", dies).await;
    let _odd =
        guarded(&house, "od", "before_call", answers(&said(&json!({"decision": "perhaps"})))).await;
    let fails = r#"{"content":[],"isError":true,"structuredContent":{"decision":"allow"}}"#;
    let _fails = guarded(&house, "fa", "before_call", answers(fails)).await;
    let changed =
        guarded(&house, "cd", "before_call", answers(&said(&json!({"decision": "allow"})))).await;
    let misfit = said(&json!({"decision": "allow", "arguments": {"x": 1, "y": {}}}));
    let _misfit = guarded(&house, "mi", "before_call", answers(&misfit)).await;
    let node = house.node("node-1", crate::house::every_call()).await;
    let caller = Caller::of(&node).await;
    for (name, why) in [
        ("di", "did not answer as a hook does: "),
        ("od", "did not answer as a hook does: its answer is malformed: unknown variant `perhaps`"),
        ("fa", "did not answer as a hook does: it failed"),
    ] {
        let text = caller.refusal(&format!("{name}__act")).await.unwrap();
        assert!(text.starts_with(&format!("{name}.act was not called: ")), "{text}");
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(caller.refusal("cd__act").await, None);
    changed
        .list("cdg", &[r#"{"name":"check","description":"new","inputSchema":{"type":"object"}}"#]);
    let text = caller.refusal("cd__act").await.unwrap();
    assert!(text.contains("cdg.check lists itself differently"), "{text}");
    house.rule(&node, "mig.check", Action::Refuse).await;
    let text = caller.refusal("mi__act").await.unwrap();
    assert!(text.contains("mig.check is not called: the policy refuses it"), "{text}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_plugin_looks_at_the_calls_of_every_plugin_and_others_at_their_own() {
    let house = House::new().await;
    let team = Plugin::of_functions(
        &house,
        "team",
        &[
            &annotated("create_x", &json!({"readOnlyHint": true})),
            &annotated("read", &json!({"readOnlyHint": true})),
        ],
    );
    house.install(&team).await;
    let refuses = said(&json!({"decision": "refuse", "reason": "guarded"}));
    let more = "hooks:\n  - {on: before_call, match: \"*.create_*\", call: guard.check}\n";
    let watching = |name: &str, tool: &str| {
        let more = more.replace("guard", tool);
        let plugin = Plugin::new(&house, name, &[(tool, answers(&refuses))], &more);
        plugin.list(tool, &[r#"{"name":"check","inputSchema":{"type":"object"}}"#]);
        plugin
    };
    let nosy = watching("nosy", "nose");
    house.install(&nosy).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__create_x").await, None, "a capability is no policy");

    let guard = watching("watch", "guard");
    let manifest = std::fs::read_to_string(guard.root.join("oz0-plugin.yaml")).unwrap();
    guard.write("oz0-plugin.yaml", &manifest.replace("kind: capability", "kind: policy"));
    house.install(&guard).await;
    crate::house::eventually("it watches", async || {
        caller
            .refusal("team__create_x")
            .await
            .is_some_and(|text| text.ends_with("says no: guarded"))
    })
    .await;
    assert_eq!(caller.refusal("team__read").await, None);

    // A node that does not run it does not do without it.
    let only = NodeOptions {
        only: Some(std::collections::BTreeSet::from(["team".parse().unwrap()])),
        ..NodeOptions::default()
    };
    let other = house.node("node-2", only).await;
    let caller = Caller::of(&other).await;
    let text = caller.refusal("team__create_x").await.unwrap();
    assert!(text.contains("this node runs no function guard.check of its plugin"), "{text}");
    assert_eq!(caller.refusal("team__read").await, None);

    // A plugin of another kind does not look at the calls of others, also where it says so.
    let nosy = manifest.replace("\"*.create_*\"", "\"team/*\"");
    guard.write("oz0-plugin.yaml", &nosy);
    let error = DevFolder::new(&guard.root).unwrap().describe().unwrap_err().to_string();
    assert!(
        error.ends_with(
            "a hook looks at the calls of team, which only a plugin of `kind: policy` may"
        ),
        "{error}"
    );
    other.shutdown().await;
    node.shutdown().await;
}

/// A hook may take its time: what is called afterwards is what may be called then.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_while_a_hook_looked_counts() {
    let house = House::new().await;
    let slow = said(&json!({"decision": "allow"}));
    let slow = json!({"on": {"call check": [{"steps": [{"delay_ms": 3000}, {"result": slow}]}]}});
    guarded(&house, "sl", "before_call", slow.clone()).await;
    let plugin = guarded(&house, "ch", "before_call", slow).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let ((), refusal) = tokio::join!(
        async {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            house.rule(&node, "sl.act", Action::Refuse).await;
        },
        caller.refusal("sl__act"),
    );
    let refusal = refusal.unwrap();
    assert!(refusal.starts_with("sl.act is not called: the policy refuses it"), "{refusal}");

    let read = json!({"readOnlyHint": true});
    let ((), refusal) = tokio::join!(
        async {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            plugin.list("ch", &[&annotated("act", &json!({})), &annotated("other", &read)]);
            house.wait_for_changes("ch", 1).await;
        },
        caller.refusal("ch__act"),
    );
    assert!(refusal.is_some(), "nobody approved what it lists by now");
    node.shutdown().await;
}
