//! The AI label on what people read.

use oz0_api::approval::Decide;
use oz0_node::NodeOptions;
use serde_json::{Value, json};

use crate::house::{Caller, House, Plugin, annotated};

async fn labelling(house: &House) -> Plugin {
    let more = "    overrides:\n      post: {ai_label: /fields/text}\n";
    let script = json!({"on": {"call post": [{"steps": ["received"]}]}});
    let plugin = Plugin::new(house, "team", &[("team", script)], more);
    let write = json!({"readOnlyHint": false, "destructiveHint": false});
    plugin.list("team", &[&annotated("post", &write), &annotated("other", &write)]);
    house.install(&plugin).await;
    plugin
}

/// The arguments of the last call that reached the server, as they were written.
async fn sent(caller: &Caller, arguments: &str) -> String {
    let answer = caller.call("team__post", arguments).await;
    let seen: Value = serde_json::from_str(&answer.text())
        .unwrap_or_else(|_| panic!("it was not called: {}", answer.text()));
    let body = seen.as_array().unwrap().last().unwrap()["body"].clone();
    let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    let at = body.find(r#""arguments":"#).expect("a call") + r#""arguments":"#.len();
    let value: Box<serde_json::value::RawValue> =
        serde_json::Deserializer::from_str(&body[at..]).into_iter().next().unwrap().unwrap();
    value.get().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn text_at_the_pointer_gets_the_label_and_what_is_no_text_is_refused() {
    let house = House::new().await;
    let _plugin = labelling(&house).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let before = r#"{"n": 1.50, "fields": {"text": "Hi", "a": [1e2]}}"#;
    let after = r#"{"n": 1.50, "fields": {"text": "Hi\n[AI-generated]", "a": [1e2]}}"#;
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(value(&sent(&caller, before).await), value(after));
    assert_eq!(value(&sent(&caller, after).await), value(after), "once is enough");
    assert_eq!(value(&sent(&caller, r#"{"fields": {}}"#).await), json!({"fields": {}}));
    for wrong in ["1", "null", "[\"Hi\"]", "{}"] {
        let text =
            caller.call("team__post", &format!(r#"{{"fields":{{"text":{wrong}}}}}"#)).await.text();
        assert_eq!(
            text,
            "team.post was not called: the AI label cannot be put under its text, and it is not called without: what \
             stands at /fields/text is no text"
        );
    }
    let other = caller.call("team__other", r#"{"fields": {"text": "Hi"}}"#).await;
    assert!(!other.raw().contains("AI-generated"), "{}", other.raw());
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_says_what_the_label_is_and_a_person_sees_it_before_it_is_sent() {
    let house = House::new().await;
    let _plugin = labelling(&house).await;
    let options = NodeOptions { ai_label: "(von einer KI)".to_owned(), ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    house.rule(&node, "team.post", oz0_api::policy::Action::Ask).await;
    let caller = Caller::of(&node).await;
    let call = sent(&caller, r#"{"fields": {"text": "Hallo"}}"#);
    tokio::pin!(call);
    let asked = tokio::select! {
        sent = &mut call => panic!("{sent}"),
        asked = house.waiting(1) => asked,
    };
    assert!(asked[0].arguments.contains(r#""text": "Hallo\n(von einer KI)""#), "{asked:?}");
    house.admin.approve_call(&asked[0].id, &Decide::default()).await.unwrap();
    let sent: Value = serde_json::from_str(&call.await).unwrap();
    assert_eq!(sent["fields"]["text"], "Hallo\n(von einer KI)");
    node.shutdown().await;
}
