//! Remote tools whose endpoint moved.

use serde_json::json;

use super::house::{House, Plugin, Remote, eventually, function};

#[test]
fn an_endpoint_that_moved_is_told_approved_and_called_at_its_new_place() {
    let mut house = House::new();
    let plugin = Plugin::new(&house, "weather");
    let named = |name: &str| {
        json!({"functions": [function("today", "Now.")],
            "on": {"call today": [{"steps": [{"result": json!({"content": [{"type": "text", "text": name}]}).to_string()}]}]}})
    };
    let old = Remote::start(house.folder.path(), "old", &named("from the old place"));
    let new = Remote::start(house.folder.path(), "new", &named("from the new place"));
    plugin.manifest(&format!("url: {}", old.url), "");
    house.up(&[&plugin]);
    eventually("it is called", || house.call("weather.today").stdout == "from the old place\n");

    plugin.manifest(&format!("url: {}", new.url), "");
    let mut change = json!(null);
    eventually("the new place was listed", || {
        change = house.changes("weather").first().cloned().unwrap_or_default();
        change["functions"] == json!(["weather.today"]) && change["nodes"] != json!([])
    });
    let moved = format!("endpoint moved: weather: {} -> {}", old.origin(), new.origin());
    let said = house.run(&["plugin", "list"]);
    let lines = format!(
        "Tools of weather changed on node-1: weather.today. Nodes do not call them until you approve: oz0 plugin approve-tools weather\n  {moved}\n"
    );
    assert!(said.stdout.contains(&lines), "{}", said.all());
    let said = house.call("weather.today");
    assert!(
        said.code == Some(1) && said.stdout.contains("has moved to another endpoint"),
        "{}",
        said.all()
    );

    let said = house.run(&["plugin", "approve-tools", "weather", "--show"]);
    assert!(
        said.stdout.starts_with(&format!(
            "weather moved to another endpoint\n  {moved}\n  it lists there, to one without its token: weather.today\n"
        )),
        "{}",
        said.all()
    );
    assert_eq!(change["accepted"]["endpoint"], json!(old.origin()));
    assert_eq!(change["listed"]["endpoint"], json!(new.origin()));

    // The function is named, and it is the tool's move that it waits for.
    let said = house.run(&[
        "plugin",
        "approve-tools",
        "weather",
        "--yes",
        "--function",
        "weather.today",
        "--change",
        change["id"].as_str().expect("an ID"),
    ]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(said.stdout, "approved weather: nodes call it at its new endpoint\n");
    eventually("it is called there", || {
        house.call("weather.today").stdout == "from the new place\n"
    });
    let said = house.run(&["audit", "--action", "plugin.tools.approve", "--json"]);
    assert!(
        said.stdout.contains(&format!("\"accepted_endpoint\":\"{}\"", old.origin())),
        "{}",
        said.all()
    );
}

#[test]
fn a_call_says_that_the_endpoint_moved_also_where_nobody_answers_there() {
    let mut house = House::new();
    let plugin = Plugin::new(&house, "weather");
    let script = json!({"functions": [function("today", "Now.")]});
    let old = Remote::start(house.folder.path(), "old", &script);
    plugin.manifest(&format!("url: {}", old.url), "");
    house.up(&[&plugin]);
    eventually("it is called", || house.call("weather.today").code == Some(0));

    let gone = Remote::start(house.folder.path(), "gone", &script).url.clone();
    // Of the new version nothing was ever listed.
    plugin.write(
        "oz0-plugin.yaml",
        &format!(
            "name: weather\nversion: 1.1.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  \
             weather:\n    url: {gone}\n"
        ),
    );
    eventually("the new version failed to list there", || {
        let list = house.json(&["plugin", "list", "--json"]);
        let plugin = &list["plugins"][0];
        plugin["version"] == "1.1.0" && plugin["tools"][0]["nodes"][0]["failure"].is_string()
    });
    let said = house.call("weather.today");
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stdout
            .starts_with("weather.today has moved to another endpoint than the approved one"),
        "{}",
        said.all()
    );
}
