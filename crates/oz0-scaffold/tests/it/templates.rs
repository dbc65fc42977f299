//! What holds of every name that a new plugin is given.

use std::path::Path;

use oz0_lint::{Plugin, Request, lint};
use oz0_plugin::ListingState;
use oz0_plugin::manifest::FunctionTarget;
use oz0_scaffold::{NewError, NewPlugin, Template};
use proptest::prelude::*;

fn template() -> impl Strategy<Value = Template> {
    prop::sample::select(Template::ALL.to_vec())
}

/// Names as people give them, names at the limits, and what is none.
fn name() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "tracker",
        "oz0-",
        "oz",
        "-mcp",
        "-mcp-server",
        "-plugin",
        "-connector",
        "-integration",
        "null",
        "true",
        "con",
        "nul",
        "aux",
        "template-name",
        "openai",
        "hf",
        "credit-score",
        "a",
        "-",
        "--",
        "1",
        "2",
        "hiring-",
        "oz0",
        "mcp",
    ]);
    prop_oneof![
        4 => "[a-z][a-z0-9-]{0,62}",
        1 => "[a-z][a-z0-9-]{60,64}",
        4 => prop::collection::vec(word, 1..4).prop_map(|words| words.concat()),
        1 => any::<String>(),
        1 => "[ -~]{0,12}",
    ]
}

fn is_clean(root: &Path, name: &str) {
    let plugin = Plugin::load(root).unwrap();
    for verified in [false, true] {
        let report = lint(&plugin, &Request { verified, ..Request::default() }).unwrap();
        assert_eq!(oz0_diagnostic::report::concise(&report.problems), "");
        assert!(report.summary.unpackable.is_empty());
    }
    let manifest = plugin.manifest().unwrap();
    assert_eq!(manifest.name.as_str(), name);
    assert!(matches!(plugin.listing_state().unwrap(), ListingState::Fresh(_)));
    assert!(manifest.tools.keys().all(|tool| tool.as_str() == name));
}

/// The name that a refusal's hint proposes.
fn proposed(hint: &str) -> Option<&str> {
    hint.split_once("oz0 plugin new ")?.1.split(' ').next()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_name_that_is_taken_makes_a_plugin_that_lints_clean_and_a_proposed_one_is_taken(
        template in template(),
        name in name(),
    ) {
        match NewPlugin::of(template, &name) {
            Ok(plugin) => {
                let here = tempfile::tempdir().unwrap();
                let folder = here.path().join("plugin");
                plugin.write(&folder).unwrap();
                is_clean(&folder, &name);
            }
            Err(NewError::Refused(refusal)) => {
                let hint = refusal.help().unwrap();
                if let Some(other) = proposed(hint) {
                    prop_assert!(NewPlugin::of(template, other).is_ok(), "{}", hint);
                }
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}

fn refused(template: Template, name: &str) -> String {
    match NewPlugin::of(template, name) {
        Err(NewError::Refused(refusal)) => {
            format!("{refusal}\nhint: {}", refusal.help().unwrap_or_default())
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_name_that_is_not_taken_is_refused_with_the_reason_and_a_better_one() {
    for (name, why, other) in [
        (
            "tracker-mcp-server",
            "ends in `-mcp-server`, which repeats what it is (OZ-S006)",
            "tracker",
        ),
        ("oz0-tracker-plugin", "carries the publisher `oz0`", "tracker"),
        ("My Tracker", "is no plugin's name", "my-tracker"),
        ("plugins/oz0 Tracker MCP/", "is no plugin's name", "tracker"),
        ("oz", "as a tool's ID it is the platform's own (OZ-L003)", "oz-server"),
        ("con", "to Windows it is the name of a device", "con-server"),
        ("Tracker\u{202e}", "`Tracker\\u{202E}` is no plugin's name", "tracker"),
    ] {
        let said = refused(Template::McpConnector, name);
        assert!(said.contains(why), "{said}");
        assert!(
            said.ends_with(&format!(": oz0 plugin new {other} --template mcp-connector")),
            "{said}"
        );
    }
    for (name, why) in [("null", "`name` must be a string"), ("", "is no plugin's name")] {
        let said = refused(Template::McpConnector, name);
        assert!(said.contains(why) && !said.contains("such as"), "{said}");
    }
}

#[test]
fn a_capability_is_not_called_as_the_connector_that_it_uses() {
    let said = refused(Template::Capability, "tracker");
    assert!(said.contains("the connector is called that the template capability uses"), "{said}");
    assert!(said.ends_with("oz0 plugin new tracker-reports --template capability"), "{said}");
    assert!(NewPlugin::of(Template::McpConnector, "tracker").is_ok());
}

#[test]
fn the_capabilitys_connector_is_the_one_that_the_template_writes() {
    let here = tempfile::tempdir().unwrap();
    let load = |template, name: &str| {
        let folder = here.path().join(name);
        NewPlugin::of(template, name).unwrap().write(&folder).unwrap();
        Plugin::load(&folder).unwrap()
    };
    let connector = load(Template::McpConnector, "tracker");
    let capability = load(Template::Capability, "reports");
    let uses = capability.manifest().unwrap().uses.get("tracker").unwrap();
    let version = &connector.manifest().unwrap().version.value;
    assert!(uses.version.as_ref().unwrap().matches(version));
    let tool = connector.manifest().unwrap().tools.keys().next().unwrap().value.clone();
    let oz0_plugin::SnapshotState::Present(snapshot) = connector.snapshot(&tool).unwrap() else {
        panic!("it has a snapshot");
    };
    assert!(!uses.tools.is_empty());
    for function in &uses.tools {
        let FunctionTarget::Function(id) = function.target() else { panic!("{function:?}") };
        assert!(snapshot.functions.iter().any(|listed| listed.id == *id), "{id}");
    }
    // The one form of the file, as for a listing.
    let text = std::fs::read_to_string(here.path().join("tracker/snapshots/tracker.json")).unwrap();
    assert_eq!(snapshot.write(), text);
}
