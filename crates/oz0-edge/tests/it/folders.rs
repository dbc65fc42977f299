//! Folders that are run in place: one at a time has a plugin's name, and a removed one stays removed.

use std::collections::BTreeSet;

use oz0_api::Code;
use oz0_api::node::Verdict;
use oz0_api::plugin::{FunctionState, Install, Measured, PluginDescription, Source};

use crate::house::{House, dev, digest, hash, plugin, refused, tell};

fn at(folder: &str) -> PluginDescription {
    let source = Source::Dev { folder: folder.to_owned() };
    PluginDescription { source, ..plugin("team", "1.0.0", &["team"]) }
}

fn id(text: &str) -> oz0_listing::FunctionId {
    text.parse().unwrap()
}

fn instead_of(folder: &str) -> Install {
    Install { instead_of: Some(folder.to_owned()), ..Install::default() }
}

#[tokio::test]
async fn another_folder_takes_a_plugins_name_only_in_the_place_of_the_one_that_has_it() {
    let house = House::new().await;
    let (one, two) = (at("/home/a & b/team"), at("/home/c/team"));
    house.install(&one).await;
    house.install(&one).await;
    assert_eq!(refused(house.try_install(&two).await), Code::Conflict);
    let newer = PluginDescription { version: "2.0.0".parse().unwrap(), ..two.clone() };
    assert_eq!(refused(house.try_install(&newer).await), Code::Conflict);
    let wrong = house.admin.install_on(&two, &instead_of("/home/other")).await;
    assert_eq!(refused(wrong), Code::Conflict);
    assert_eq!(house.admin.plugin(&one.name).await.unwrap().source, one.source);

    house.admin.install_on(&two, &instead_of("/home/a & b/team")).await.unwrap();
    assert_eq!(house.admin.plugin(&one.name).await.unwrap().source, two.source);
    // Somebody else looked at the first one, too.
    let late = house.admin.install_on(&at("/home/d"), &instead_of("/home/a & b/team")).await;
    assert_eq!(refused(late), Code::Conflict);
    let audit = house.admin.audit(&oz0_api::audit::AuditQuery::default()).await.unwrap();
    let last = audit.entries.iter().rfind(|entry| entry.action == "plugin.install").unwrap();
    assert_eq!(last.subject.detail["folder"], "/home/c/team");
    assert_eq!(last.subject.detail["instead_of"], "/home/a & b/team");

    house.admin.remove(&one.name).await.unwrap();
    house.install(&one).await;
}

#[tokio::test]
async fn an_update_brings_nothing_back_that_was_removed() {
    let house = House::new().await;
    let update = Install { update: true, ..Install::default() };
    let team = at("/home/team");
    assert_eq!(refused(house.admin.install_on(&team, &update).await), Code::NotFound);
    house.install(&team).await;
    house.admin.install_on(&team, &update).await.unwrap();
    house.admin.remove(&team.name).await.unwrap();
    assert_eq!(refused(house.admin.install_on(&team, &update).await), Code::NotFound);
    assert!(house.admin.plugins().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_tool_that_an_edit_adds_was_no_part_of_what_was_approved() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = at("/home/team");
    let more = plugin("team", "1.0.0", &["team", "more"]);
    let more = PluginDescription { source: team.source.clone(), ..more };
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    house.install(&more).await;
    assert!(!tell(&node, &more, "more", &[("evil", "Evil.")]).await.snapshot);
    assert_eq!(house.waiting("team").await, ["more.evil new node-1"]);
    let audit = house.admin.audit(&oz0_api::audit::AuditQuery::default()).await.unwrap();
    let last = audit.entries.iter().rfind(|entry| entry.action == "plugin.install").unwrap();
    assert_eq!(last.subject.detail["tools_added"], "more");
    // Taken away and brought back, it is what it was.
    house.install(&team).await;
    house.install(&more).await;
    assert!(!tell(&node, &more, "more", &[("evil", "Evil.")]).await.snapshot);
    assert_eq!(house.waiting("team").await, ["more.evil new node-1"]);
}

#[tokio::test]
async fn before_anything_is_approved_a_plugin_may_grow() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = at("/home/team");
    let more = plugin("team", "1.0.0", &["team", "more"]);
    let more = PluginDescription { source: team.source.clone(), ..more };
    house.install(&team).await;
    house.install(&more).await;
    assert!(tell(&node, &more, "more", &[("hello", "Hello.")]).await.snapshot);
}

/// One save that writes another number beside another listing is the edit that it would be without the number.
#[tokio::test]
async fn another_version_of_a_folder_approves_nothing_that_the_same_edit_would_not() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let edited = |version: &str, tools: &[&str]| {
        let mut team = dev(plugin("team", version, tools));
        team.digest = digest(version);
        team
    };
    let first = edited("1.0.0", &["team", "late"]);
    house.install(&first).await;
    tell(&node, &first, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;

    let second = edited("1.0.1", &["team", "late", "added"]);
    house.install(&second).await;
    tell(&node, &second, "team", &[("hello", "Send keys."), ("bye", "Bye."), ("spy", "Spy.")])
        .await;
    tell(&node, &second, "added", &[("export", "Exports.")]).await;
    assert_eq!(
        house.waiting("team").await,
        ["added.export new node-1", "team.hello changed node-1", "team.spy new node-1"]
    );
    let states = house.states().await;
    assert_eq!(states["team.bye"], FunctionState::Callable);
    assert_eq!(states["team.hello"], FunctionState::Waiting);
    // A tool that was there before and had listed nothing yet lists for the first time.
    let late = tell(&node, &second, "late", &[("here", "Here.")]).await;
    assert_eq!(late.functions[&id("late.here")], Verdict::Accepted);

    // What was approved once and is no longer what was approved last is no way around, nor is a number from before.
    house.approve_all("team").await;
    let third = edited("1.0.2", &["team", "late", "added"]);
    house.install(&third).await;
    tell(&node, &third, "team", &[("hello", "Hello."), ("bye", "Bye."), ("spy", "Spy.")]).await;
    assert_eq!(house.waiting("team").await, ["team.hello changed node-1"]);
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_folder_that_was_measured_anew_differs_no_more() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let measured = |files: &str, hello: &str| {
        let mut team = dev(plugin("team", "1.0.0", &["team"]));
        team.digest = digest(files);
        team.measured = Some(vec![
            Measured { id: id("team.hello"), hash: hash("hello", hello) },
            Measured { id: id("team.bye"), hash: hash("bye", "Bye.") },
        ]);
        team
    };
    let stale = measured("one", "Measured.");
    house.install(&stale).await;
    tell(&node, &stale, "team", &[("hello", "Hello."), ("more", "More.")]).await;
    let differs = async || house.admin.plugin(&stale.name).await.unwrap().mismatches;
    let ids = |names: &[&str]| names.iter().map(|name| id(name)).collect::<BTreeSet<_>>();
    assert_eq!(differs().await, ids(&["team.bye", "team.hello", "team.more"]));
    house.install(&measured("two", "Hello.")).await;
    assert_eq!(differs().await, ids(&["team.bye", "team.more"]));
}
