//! `oz0 plugin list`, `plugin remove`, `catalog`, `node list`.

use serde_json::{Value, json};

use super::house::{House, Plugin, Terminal, eventually, filters, function};

#[test]
fn a_house_without_plugins_says_so() {
    let mut house = House::new();
    house.up(&[]);
    for (command, what) in [
        (&["plugin", "list"][..], "no plugin is installed"),
        (&["catalog"], "the catalog is empty"),
    ] {
        let said = house.run(command);
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stdout.is_empty() && said.stderr.contains(what), "{}", said.all());
    }
    assert_eq!(house.json(&["plugin", "list", "--json"]), json!({"plugins": []}));
    assert_eq!(house.json(&["catalog", "--json"]), json!({"functions": []}));
}

#[test]
fn what_is_left_out_fails_or_was_measured_otherwise_is_listed_with_its_reason() {
    let mut house = House::new();
    let plugin = Plugin::new(&house, "team");
    plugin.manifest(
        "mcp: {command: [./oz0-actor, script.json]}",
        "  down:\n    mcp: {command: [./nothing-here]}\n",
    );
    plugin.list(&[
        &function("hello", "Says hello."),
        &json!({"name": "bad name\u{200B}", "description": "x"}).to_string(),
        &function("twice", "One."),
        &function("twice", "Two."),
    ]);
    // As if it had been measured before somebody changed a word.
    let measured =
        oz0_listing::Listing::read(&function("hello", "Said hello."), &[]).expect("a listing");
    let file = json!({
        "format": "oz0.tool-listing.v1", "source_digest": format!("sha256:{}", "0".repeat(64)),
        "functions": [{"name": "team.hello", "hash": measured.hash().to_string(),
            "listing": serde_json::from_str::<Value>(measured.canonical()).expect("JSON")}],
        "left_out": []});
    plugin.write("tools.listing.json", &serde_json::to_string_pretty(&file).expect("JSON"));
    house.up(&[&plugin]);
    eventually("the other server failed", || {
        house.run(&["plugin", "list"]).stdout.contains("failed on")
    });
    let said = house.run(&["plugin", "list"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let (_, narrow) = Terminal::start(&mut house.oz0(&["plugin", "list"]), 40).end();
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(narrow.contains("\n  failed on node-1: down: could not\n    run "), "{narrow}");
    insta::with_settings!({filters => filters()}, {
        insta::assert_snapshot!(said.stdout);
        insta::assert_json_snapshot!(house.json(&["plugin", "list", "--json"]));
    });
}

#[test]
fn the_catalog_has_the_snapshot_the_overrides_and_what_waits_beside_it() {
    let mut house = House::new();
    let plugin = Plugin::new(&house, "team");
    plugin.manifest(
        "mcp: {command: [./oz0-actor, script.json]}",
        "    overrides:\n      hello: {annotations: {openWorldHint: false}}\n",
    );
    plugin.list(&[&function("hello", "Says hello.")]);
    house.up(&[&plugin]);
    plugin.list(&[&function("hello", "Says goodbye."), &function("new", "Is new.")]);
    house.wait_for_changes("team", 2);
    let catalog = house.json(&["catalog", "--json"]);
    let hello = &catalog["functions"][0];
    assert_eq!(hello["accepted"][0]["snapshot"]["description"], "Says hello.");
    let listed = json!({"readOnlyHint": true});
    assert_eq!(hello["accepted"][0]["snapshot"]["annotations"], listed);
    let merged = json!({"openWorldHint": false, "readOnlyHint": true});
    assert_eq!(hello["accepted"][0]["served"]["annotations"], merged);
    assert_eq!(hello["changes"][0]["listed"]["listing"]["description"], "Says goodbye.");
    insta::with_settings!({filters => filters()}, {
        insta::assert_json_snapshot!(catalog);
        insta::assert_snapshot!(house.run(&["catalog"]).stdout);
    });
}

#[test]
fn a_plugin_that_is_removed_is_called_no_more() {
    let (house, _plugin) = House::with("team", &[&function("hello", "Says hello.")]);
    assert_eq!(house.call("team.hello").code, Some(0));
    let said = house.run(&["plugin", "remove", "team"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("removed team"), "{}", said.all());
    assert_eq!(house.json(&["plugin", "list", "--json"]), json!({"plugins": []}));
    let said = house.call("team.hello");
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert_eq!(house.run(&["plugin", "remove", "team"]).code, Some(1), "it is there no more");
}

#[test]
fn nodes_are_listed() {
    let (house, _plugin) = House::with("team", &[]);
    let said = house.run(&["node", "list"]);
    assert!(
        said.code == Some(0) && said.stdout.starts_with("node-1  there  last seen 20"),
        "{}",
        said.all()
    );
    let status = || house.json(&["node", "list", "--json"])["nodes"][0].clone();
    eventually("its tier is known", || status()["tier"].is_u64());
    let (tier, reason) = (status()["tier"].clone(), status()["reason"].clone());
    // Nothing better than tier 1 is there, and anything worse has a reason.
    assert_eq!(reason.is_string(), tier == json!(0), "{tier} {reason}");
    let said = house.run(&["node", "list"]);
    let why = reason.as_str().map_or(String::new(), |reason| format!(": {reason}"));
    assert!(
        said.stdout.trim_end().ends_with(&format!("  sandbox tier {tier}{why}")),
        "{}",
        said.all()
    );
    let nodes = house.json(&["node", "list", "--json"]);
    assert_eq!(
        (&nodes["nodes"][0]["node"], &nodes["nodes"][0]["live"]),
        (&json!("node-1"), &json!(true))
    );
}

#[test]
fn functions_that_nobody_can_call_are_counted_apart_with_the_reason() {
    let hidden = json!({"name": "hidden", "description": "x",
        "inputSchema": {"type": "object", "properties": {"mode": {"enum": ["a\u{200B}b"]}}}});
    let hello = function("hello", "Says hello.");
    let (house, plugin) = House::with("team", &[&hello, &hidden.to_string()]);
    let list = || house.run(&["plugin", "list"]).stdout;
    let catalog = || house.run(&["catalog"]).stdout;
    eventually("it is said", || list().contains("2 functions: 1 callable, 1 not callable\n"));
    let why = "enum in its schema holds an invisible character: `a\\u{200B}b`";
    assert!(list().contains(&format!("\n  not callable: team.hidden: {why}\n")), "{}", list());
    assert!(catalog().contains(&format!("team.hidden  approved, and not callable: {why}\n")));

    // A server that lists nothing.
    plugin.list(&[]);
    eventually("nothing is listed", || {
        list().contains("2 functions: 2 approved and not listed now\n")
    });
    assert!(list().contains("\n  lists nothing on node-1: team\n"), "{}", list());
    assert_eq!(
        house.json(&["plugin", "list", "--json"])["plugins"][0]["functions"][0]["state"],
        "not_listed"
    );
    assert!(house.changes("team").is_empty());

    // And one that cannot be listed.
    plugin.list(&[&hello, &hidden.to_string()]);
    eventually("it is listed again", || list().contains("1 callable, 1 not callable\n"));
    plugin.manifest("mcp: {command: [./nothing-here]}", "");
    eventually("it failed", || list().contains("2 functions: 2 not callable\n"));
    let said = list();
    assert_eq!(said.matches("could not run ./nothing-here").count(), 1, "{said}");
    assert!(catalog().contains("team.hello  approved, and not callable: could not run"));
}
