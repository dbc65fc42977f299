//! Approval in the running process, bound to what was looked at.

use std::time::{Duration, Instant};

use super::house::{House, Plugin, changed, eventually, function};

const NOW: [&str; 2] = ["--verify-every", "0"];

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_function_is_called_again_by_the_running_process_and_its_old_text_is_a_change_then()
 {
    let house = House::new();
    let (old, new) = (function("hello", "Greets."), function("hello", "Greets better."));
    let other = function("other", "Stays.");
    let plugin = Plugin::of_functions(&house, "team", &[&old, &other]);
    let session = house.mcp(&plugin, &NOW).await;
    assert_eq!(session.names().await, ["team__hello", "team__other"]);

    plugin.list("team", &[&new, &other]);
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    assert_eq!(session.refusal("team__other").await, None);
    assert_eq!(session.names().await, ["team__other"]);
    eventually("it is said", async || {
        session.said().contains(
            "Tools of team changed on node-1: team.hello. Nodes do not call them until you approve: \
             oz0 plugin approve-tools team",
        )
    })
    .await;

    house.approve("team").await;
    let approved = Instant::now();
    eventually("it is called", async || session.refusal("team__hello").await.is_none()).await;
    assert!(approved.elapsed() < Duration::from_secs(2), "it took {:?}", approved.elapsed());
    assert_eq!(session.names().await, ["team__hello", "team__other"]);
    assert!(session.listing().await[0].contains("Greets better."));

    plugin.list("team", &[&old, &other]);
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    session.end().await;
    house.is_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_of_what_is_listed_no_more_approves_nothing() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    let session = house.up(&[&plugin], &NOW).await;
    assert_eq!(session.refusal("team__hello").await, None);
    plugin.list("team", &[&function("hello", "Harmless.")]);
    assert!(session.refusal("team__hello").await.is_some());
    let looked_at = house.wait_for_changes("team", 1).await.remove(0).id.to_string();
    plugin.list("team", &[&function("hello", "Evil.")]);
    assert!(session.refusal("team__hello").await.is_some());
    eventually("the edge has the later one", async || {
        house.changes("team").await[0].id.to_string() != looked_at
    })
    .await;
    let arguments = ["plugin", "approve-tools", "team", "--yes", "--change", &looked_at];
    let said = house.run(&arguments).await;
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    assert!(house.audit("plugin.tools.approve").await.is_empty());
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_running_folder_waits_for_approval_like_any_change() {
    let house = House::new();
    let script =
        |hello: &str| serde_json::json!({"functions": [hello, function("other", "Stays.")]});
    let (old, new) = (function("hello", "Greets."), function("hello", "Evil."));
    let plugin = Plugin::new(&house, "team", &[("team", script(&old))]);
    let session = house.up(&[&plugin], &[]).await;
    assert_eq!(session.refusal("team__hello").await, None);
    plugin.script("team", script(&new));
    house.wait_for_changes("team", 1).await;
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    assert_eq!(session.refusal("team__other").await, None);
    house.approve("team").await;
    eventually("it is called", async || session.refusal("team__hello").await.is_none()).await;
    session.end().await;
    house.is_empty().await;
}
