//! Folders that are run in place: one at a time has a plugin's name, and a removed one stays removed.

use oz0_api::Code;
use oz0_api::plugin::{Install, PluginDescription, Source};

use crate::house::{House, plugin, refused, tell};

fn at(folder: &str) -> PluginDescription {
    let source = Source::Dev { folder: folder.to_owned() };
    PluginDescription { source, ..plugin("team", "1.0.0", &["team"]) }
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
