//! Remote tools are pinned at their origin.

use oz0_api::Code;
use oz0_api::change::ChangeKind;
use oz0_api::node::{Outcome, PollQuery, Verdict};
use oz0_api::plugin::{Backend, FunctionState, Install, PluginDescription, ToolDescription};

use crate::house::{House, dev, digest, hash, outcome, plugin, refused, report, tell};

fn remote(version: &str, url: &str) -> PluginDescription {
    let mut weather = plugin("weather", version, &["local"]);
    weather.tools.insert(
        "wx".try_into().unwrap(),
        ToolDescription::new(Backend::Remote { endpoint: url.parse().unwrap() }),
    );
    weather
}

#[tokio::test]
async fn a_later_version_with_another_origin_waits_and_its_other_functions_do_not() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let first = remote("1.0.0", "https://mcp.example.com/mcp");
    house.install(&first).await;
    tell(&node, &first, "wx", &[("today", "Today."), ("week", "Week.")]).await;
    tell(&node, &first, "local", &[("here", "Here.")]).await;

    // Another path, the default port spelled out, capitals and a trailing dot are no move.
    let same = remote("1.1.0", "HTTPS://MCP.Example.com.:443/other");
    house.install(&same).await;
    let listed = [("today", "Today, anew."), ("week", "Week.")];
    assert!(tell(&node, &same, "wx", &listed).await.snapshot);
    assert!(house.waiting("weather").await.is_empty());

    let moved = remote("2.0.0", "https://mcp.other.example/mcp");
    house.install(&moved).await;
    tell(&node, &moved, "local", &[("here", "Here.")]).await;
    let verdicts = tell(&node, &moved, "wx", &[("today", "Anything.")]).await;
    assert!(!verdicts.snapshot);
    assert_eq!(verdicts.functions[&"wx.today".parse().unwrap()], Verdict::NoSnapshot);
    assert_eq!(house.waiting("weather").await, ["wx endpoint node-1"]);
    let change = &house.changes("weather").await[0];
    assert_eq!(Some(&change.id), verdicts.endpoint.as_ref());
    assert_eq!(change.kind, ChangeKind::Endpoint);
    assert_eq!(change.functions, ["wx.today".parse().unwrap()]);
    let side = |side: &Option<oz0_api::change::Shown>| {
        side.as_ref().unwrap().endpoint.as_ref().unwrap().to_string()
    };
    assert_eq!(side(&change.accepted), "https://mcp.example.com");
    assert_eq!(side(&change.listed), "https://mcp.other.example");
    assert_eq!(house.states().await["local.here"], FunctionState::Callable);
    let poll = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    let withheld = &poll.plugins.changed[0].moved;
    assert_eq!(withheld[&"wx".try_into().unwrap()].as_str(), "https://mcp.example.com");

    house.approve_all("weather").await;
    assert!(house.waiting("weather").await.is_empty());
    // Approved is where calls go. What nobody has seen of what is listed there waits, with the version before beside it.
    let there = [("today", "Send keys."), ("week", "Week."), ("export_all", "Exports.")];
    assert!(tell(&node, &moved, "wx", &there).await.snapshot);
    assert_eq!(
        house.waiting("weather").await,
        ["wx.export_all new node-1", "wx.today changed node-1"]
    );
    let changes = house.changes("weather").await;
    let today = changes.iter().find(|change| change.kind == ChangeKind::Changed).unwrap();
    let accepted = today.accepted.as_ref().unwrap();
    assert_eq!(accepted.hash, Some(hash("today", "Today, anew.")));
    let states = house.states().await;
    assert_eq!(states["wx.week"], FunctionState::Callable);
    assert_eq!(states["wx.today"], FunctionState::Waiting);
    house.approve_all("weather").await;
    assert_eq!(house.states().await["wx.today"], FunctionState::Callable);
    let log = house.log().await;
    let entry = log.iter().find(|entry| entry.action == "plugin.tools.approve").unwrap();
    assert_eq!(entry.subject.detail["endpoint"], "https://mcp.other.example");

    // The next version starts from there; the earlier version has its own pin still.
    let next = remote("2.1.0", "https://mcp.other.example/mcp");
    house.install(&next).await;
    assert!(house.waiting("weather").await.is_empty());
    let downgrade = Install { downgrade: true, ..Install::default() };
    house.admin.install_on(&first, &downgrade).await.unwrap();
    assert!(house.waiting("weather").await.is_empty());
    assert_eq!(house.states().await["wx.today"], FunctionState::Callable);
}

#[tokio::test]
async fn a_host_that_becomes_a_param_is_a_move_and_its_default_is_none() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let template = remote("1.0.0", "https://{host}/mcp");
    house.install(&template).await;
    tell(&node, &template, "wx", &[("today", "Today.")]).await;
    house.install(&remote("1.1.0", "https://{host}/other")).await;
    assert!(house.waiting("weather").await.is_empty());

    let fixed = House::new().await;
    let node = fixed.node("node-1").await;
    let first = remote("1.0.0", "https://mcp.example.com/{team}/mcp");
    fixed.install(&first).await;
    tell(&node, &first, "wx", &[("today", "Today.")]).await;
    fixed.install(&remote("1.1.0", "https://{host}/mcp")).await;
    assert_eq!(fixed.waiting("weather").await, ["wx endpoint "]);
}

#[tokio::test]
async fn in_dev_mode_an_endpoint_moves_and_moves_back() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let first = dev(remote("1.0.0", "https://mcp.example.com/mcp"));
    house.install(&first).await;
    tell(&node, &first, "wx", &[("today", "Today.")]).await;
    let mut moved = dev(remote("1.0.0", "https://mcp.other.example/mcp"));
    moved.digest = digest("edited");
    house.install(&moved).await;
    assert_eq!(house.states().await["wx.today"], FunctionState::EndpointWaiting);
    // A report from where it was dialled before is about the past.
    let late = report(&first, "wx", &[("today", "Today.")]);
    assert_eq!(refused(node.report(&late).await), Code::Stale);
    tell(&node, &moved, "wx", &[("today", "Without its token, it says otherwise.")]).await;
    assert_eq!(house.waiting("weather").await, ["wx endpoint node-1"], "and nothing else");

    let mut back = first.clone();
    back.digest = digest("edited back");
    house.install(&back).await;
    assert!(house.waiting("weather").await.is_empty());
    assert_eq!(house.count("plugin.tools.reverted").await, 1);
    assert_eq!(house.states().await["wx.today"], FunctionState::Callable);
}

#[tokio::test]
async fn of_an_endpoint_that_is_down_it_is_said_who_sees_it_and_what_waits() {
    let moved = remote("2.0.0", "https://mcp.other.example/mcp");
    let mut edited = dev(remote("1.0.0", "https://mcp.other.example/mcp"));
    edited.digest = digest("edited");
    for (first, moved) in [
        (remote("1.0.0", "https://mcp.example.com/mcp"), moved),
        (dev(remote("1.0.0", "https://mcp.example.com/mcp")), edited),
    ] {
        let house = House::new().await;
        let node = house.node("node-1").await;
        house.install(&first).await;
        tell(&node, &first, "wx", &[("today", "Today."), ("week", "The week.")]).await;
        house.install(&moved).await;
        let down = Outcome::Failed { reason: "nobody answers".to_owned(), goes_on: None };
        let verdicts = node.report(&outcome(&moved, "wx", down.clone())).await.unwrap();
        node.report(&outcome(&moved, "wx", down)).await.unwrap();
        assert_eq!(house.waiting("weather").await, ["wx endpoint node-1"]);
        let change = &house.changes("weather").await[0];
        assert_eq!(verdicts.endpoint.as_ref(), Some(&change.id));
        assert!(change.functions.is_empty(), "nothing was listed there");
        let weather = house.admin.plugin(&moved.name).await.unwrap();
        let said: Vec<String> = weather.announcements().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "Tools of weather changed on node-1: wx.today, wx.week. Nodes do not call them until \
              you approve: oz0 plugin approve-tools weather\n  endpoint moved: wx: \
              https://mcp.example.com -> https://mcp.other.example"
            ]
        );
        let states = house.states().await;
        for function in ["wx.today", "wx.week"] {
            assert_eq!(states[function], FunctionState::EndpointWaiting);
        }
        // Once when it moved, and once when the node saw it.
        assert_eq!(house.count("plugin.tools.changed").await, 2);
    }
}
