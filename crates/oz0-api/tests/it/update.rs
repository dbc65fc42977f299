//! What another version lists otherwise, before anything of it runs.

use oz0_api::change::ChangeKind;
use oz0_api::plugin::{Catalog, PluginDescription, PluginStatus};
use oz0_api::update::{Expected, differences};
use oz0_listing::{Function, FunctionId, Listing};
use serde_json::{Value, json};

fn listing(name: &str, description: &str) -> Listing {
    let text = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    Listing::read(&text.to_string(), &[]).unwrap()
}

fn function(id: &str, description: &str) -> Function {
    let id: FunctionId = id.parse().unwrap();
    let listing = listing(id.as_str().split_once('.').unwrap().1, description);
    Function { hash: listing.hash(), id, listing, uncallable: None, unstable: Vec::new() }
}

fn digest() -> String {
    format!("sha256:{}", "0".repeat(64))
}

fn installed(tools: &Value) -> PluginStatus {
    serde_json::from_value(json!({"name": "weather", "version": "1.0.0", "digest": digest(),
        "source": "bundle", "title": null, "description": "", "installed_at": 1, "tools": tools,
        "functions": [], "changes": [], "mismatches": []}))
    .unwrap()
}

fn catalog(functions: &[Function]) -> Catalog {
    let functions: Vec<Value> = functions
        .iter()
        .map(|own| {
            let snapshot: Value = serde_json::from_str(own.listing.canonical()).unwrap();
            json!({"id": own.id, "model_name": "x", "plugin": "weather", "version": "1.0.0",
                "state": "callable", "changes": [],
                "accepted": [{"hash": own.hash, "snapshot": snapshot, "served": null}]})
        })
        .collect();
    serde_json::from_value(json!({"functions": functions})).unwrap()
}

fn new(tools: &Value) -> PluginDescription {
    serde_json::from_value(json!({"name": "weather", "version": "1.1.0", "digest": digest(),
        "source": "bundle", "tools": tools}))
    .unwrap()
}

#[test]
fn each_function_that_differs_is_a_change_and_no_other() {
    let accepted = [
        function("wx.gone", "Goes."),
        function("wx.same", "Stays."),
        function("wx.today", "Says the weather."),
    ];
    let expected = Expected {
        functions: vec![
            function("wx.new", "Comes.\u{200b}"),
            function("wx.same", "Stays."),
            function("wx.today", "Says the weather, and where you are."),
        ],
        ..Expected::default()
    };
    let (installed, new) = (installed(&json!([])), new(&json!({"wx": {"backend": "process"}})));
    let changes = differences(&installed, &catalog(&accepted), &new, &expected).unwrap();
    let told: Vec<(String, ChangeKind)> =
        changes.iter().map(|change| (change.subject(), change.kind)).collect();
    assert_eq!(
        told,
        [
            ("wx.gone".to_owned(), ChangeKind::Gone),
            ("wx.new".to_owned(), ChangeKind::New),
            ("wx.today".to_owned(), ChangeKind::Changed),
        ]
    );
    assert!(changes[1].labels.contains(&"hidden characters: U+200B".to_owned()), "{changes:?}");
    assert_eq!(changes[2].passages().unwrap().len(), 1);

    // A tool of which nothing says what it lists is not taken for one that lists nothing.
    let unknown = Expected { unknown: [changes[0].tool.clone()].into(), ..Expected::default() };
    assert!(differences(&installed, &catalog(&accepted), &new, &unknown).unwrap().is_empty());

    // One that the new version does not have lists nothing.
    let without = self::new(&json!({}));
    let changes = differences(&installed, &catalog(&accepted), &without, &Expected::default());
    assert_eq!(changes.unwrap().len(), 3);
}

#[test]
fn a_tool_whose_calls_go_elsewhere_is_a_change() {
    let at = |url: &str| json!({"wx": {"backend": {"remote": {"endpoint": url}}}});
    let installed = installed(
        &json!([{"tool": "wx", "endpoint": "https://a.example", "snapshot": true, "nodes": []}]),
    );
    let none = Expected::default();
    let same = differences(&installed, &catalog(&[]), &new(&at("https://a.example")), &none);
    assert!(same.unwrap().is_empty());
    let moved = differences(&installed, &catalog(&[]), &new(&at("https://b.example")), &none);
    assert_eq!(
        moved.unwrap()[0].move_line().unwrap(),
        "endpoint moved: wx: https://a.example -> https://b.example"
    );
}
