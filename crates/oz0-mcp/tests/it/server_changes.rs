//! Who is told that the listing changed, and when, over stdio.

use oz0_mcp::{EraChoice, Event};
use serde_json::json;

use crate::server_gateway::{Lines, META, Memory, initialize, server};
use crate::server_stdio::{client, era};

#[tokio::test]
async fn a_change_of_the_listing_is_told_when_its_revision_changes_and_only_then() {
    let memory = Memory::new();
    let revision = memory.revision.clone();
    let server = server(memory);
    let mut lines = Lines::open(&server);
    lines.ask(&initialize("2025-06-18")).await;
    revision.send_replace(2);
    // Before the client has said that it is ready, nothing may be sent.
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await["id"], 1);
    lines.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    // Of what it has not listed yet nothing can have changed.
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await["id"], 2);
    revision.send_replace(3);
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#).await["id"], 3);
    revision.send_replace(3);
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#).await["id"], 4);
    for now in [4, 5] {
        revision.send_replace(now);
        assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    }
    let client = client(&server, &era(EraChoice::Legacy)).await;
    client.list_functions().await.unwrap();
    let mut events = client.events();
    revision.send_replace(6);
    match events.next().await {
        Some(Event::Notification(told)) => {
            assert_eq!(told.method, "notifications/tools/list_changed");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_modern_client_listens_and_its_stream_ends_in_order() {
    let memory = Memory::new();
    let revision = memory.revision.clone();
    let server = server(memory);
    let mut lines = Lines::open(&server);
    let listen = |id: &str, wanted: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{{{META}}},"notifications":{wanted}}}}}"#
        )
    };
    let first =
        lines.ask(&listen("\"l\"", r#"{"toolsListChanged":true,"promptsListChanged":true}"#)).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l");
    let deaf = lines.ask(&listen("5", "{}")).await;
    assert_eq!(deaf["params"]["notifications"], json!({}));
    // Of what it has not listed yet nothing can have changed.
    revision.send_replace(2);
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#
    );
    assert_eq!(lines.ask(&list).await["id"], 6);
    revision.send_replace(2);
    revision.send_replace(3);
    let told = lines.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l");
    server.shutdown();
    let mut ended = [lines.next().await, lines.next().await].map(|end| {
        assert_eq!(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], end["id"]);
        end["id"].to_string()
    });
    ended.sort();
    assert_eq!(ended, ["\"l\"", "5"]);
    lines.served.await.unwrap().unwrap();
}
