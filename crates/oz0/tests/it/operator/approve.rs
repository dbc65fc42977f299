//! What changed is shown, asked about, and approved exactly as it was shown.

use serde_json::{Value, json};

use super::house::{House, Terminal, eventually, function, refusal};

/// The text that a person is asked with.
const QUESTION: &str = "[y/N/q]";

fn id(change: &Value) -> &str {
    change["id"].as_str().expect("an ID")
}

#[test]
fn a_change_is_refused_seen_approved_on_a_terminal_and_called_again() {
    let hello = function("hello", "Says hello to somebody.");
    let (house, plugin) = House::with("team", &[&hello, &function("bye", "Says goodbye.")]);
    let said = house.call("team.hello");
    assert_eq!(said.code, Some(0), "{}", said.all());

    plugin
        .list(&[&function("hello", "Says hello to everybody."), &function("bye", "Says goodbye.")]);
    eventually("it is refused", || house.call("team.hello").code == Some(1));
    let said = house.call("team.hello");
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(1), &*refusal("team.hello", "team")),
        "{}",
        said.all()
    );
    assert_eq!(house.call("team.bye").code, Some(0), "the plugin's other functions keep working");

    let said = house.run(&["plugin", "list"]);
    let line = "Tools of team changed on node-1: team.hello. Nodes do not call them until you approve: oz0 plugin approve-tools team\n  team.hello: description\n";
    assert!(said.stdout.contains(line), "{}", said.all());

    let mut terminal = Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 80);
    terminal.wait_for(QUESTION);
    let shown = terminal.screen();
    assert!(shown.contains("Change 1 of 1: team.hello lists itself differently"), "{shown}");
    assert!(shown.contains("  * description\n"), "{shown}");
    assert!(shown.contains("  seen by node-1 since 20"), "{shown}");
    assert!(shown.contains("    ~ Says hello to [-somebody-]{+everybody+}.\n"), "{shown}");
    assert!(
        shown.contains(&format!("  change {}", &id(&house.changes("team")[0])[..12])),
        "{shown}"
    );
    terminal.enter("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("approved team.hello"), "{screen}");
    eventually("it is called again", || house.call("team.hello").code == Some(0));

    let said = house.run(&["plugin", "approve-tools", "team"]);
    assert_eq!(said.code, Some(2), "nobody is there to be asked: {}", said.all());
    let said = house.run(&["plugin", "approve-tools", "team", "--show"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(
        said.stdout.is_empty() && said.stderr.contains("nothing of team waits"),
        "{}",
        said.all()
    );
    let (code, screen) =
        Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 80).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("nothing of team waits"), "{screen}");

    let said = house.run(&["audit", "--action", "plugin.tools"]);
    for act in ["plugin.tools.snapshot", "plugin.tools.changed", "plugin.tools.approve"] {
        assert!(said.stdout.contains(&format!("  {act} by ")), "{act}: {}", said.all());
    }
    assert_eq!(house.run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn what_changes_while_it_is_looked_at_is_shown_anew_and_not_approved() {
    let (house, plugin) = House::with("team", &[&function("hello", "One two three four.")]);
    plugin.list(&[&function("hello", "One two three five.")]);
    let first = house.wait_for_changes("team", 1);
    let mut terminal = Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 80);
    terminal.wait_for(QUESTION);
    plugin.list(&[&function("hello", "One two three evil.")]);
    eventually("it changed again", || {
        let now = house.changes("team");
        now.len() == 1 && id(&now[0]) != id(&first[0])
    });
    terminal.enter("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(1), "{screen}");
    assert!(
        screen.contains("not approved: team.hello: it changed again while it was looked at"),
        "{screen}"
    );
    assert!(screen.contains("    ~ One two three [-four-]{+evil+}.\n"), "{screen}");
    assert_eq!(house.call("team.hello").code, Some(1));

    // The same without a terminal.
    let stale = house.run(&["plugin", "approve-tools", "team", "--yes", "--change", id(&first[0])]);
    assert_eq!(stale.code, Some(1), "{}", stale.all());
    assert!(
        stale.stderr.contains(&format!("not approved: {}", &id(&first[0])[..12])),
        "{}",
        stale.all()
    );
    assert!(stale.stdout.contains("    ~ One two three [-four-]{+evil+}.\n"), "{}", stale.all());
    let said = house.run(&[
        "plugin",
        "approve-tools",
        "team",
        "--yes",
        "--json",
        "--change",
        id(&first[0]),
    ]);
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(
        (said.code, report),
        (Some(1), json!({"plugin": "team", "approved": [], "stale": [id(&first[0])]}))
    );
    assert_eq!(house.call("team.hello").code, Some(1));
}

#[test]
fn what_goes_back_while_it_is_looked_at_is_not_approved() {
    let before = function("hello", "One two three four.");
    let (house, plugin) = House::with("team", &[&before]);
    plugin.list(&[&function("hello", "One two three five.")]);
    house.wait_for_changes("team", 1);
    let mut terminal = Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 80);
    terminal.wait_for(QUESTION);
    plugin.list(&[&before]);
    house.wait_for_changes("team", 0);
    terminal.enter("yes\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("not approved: team.hello: it went back meanwhile"), "{screen}");
    assert_eq!(
        house.call("team.hello").code,
        Some(0),
        "an accepted listing is called again by itself"
    );
}

#[test]
fn only_what_was_said_yes_to_is_approved() {
    let functions = |text: &str| ["a", "b", "c"].map(|name| function(name, text));
    let list = |text: &str| functions(text).iter().map(String::clone).collect::<Vec<_>>();
    let (house, plugin) =
        House::with("team", &list("Before.").iter().map(String::as_str).collect::<Vec<_>>());
    plugin.list(&list("After.").iter().map(String::as_str).collect::<Vec<_>>());
    house.wait_for_changes("team", 3);
    let approve = |answers: &[&str]| {
        let mut terminal =
            Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 80);
        for (at, answer) in answers.iter().enumerate() {
            terminal.wait_for(&format!("Change {} of", at + 1));
            let asked = || terminal.screen().matches(QUESTION).count() > at;
            eventually("it asks", asked);
            terminal.enter(answer);
        }
        terminal.end()
    };
    // An end of the input, a bare line end and a `q` are no yes.
    let (code, screen) = approve(&["\u{4}"]);
    assert_eq!((code, house.changes("team").len()), (Some(1), 3), "{screen}");
    let (code, screen) = approve(&["\n", "n\n", "q\n"]);
    assert_eq!((code, house.changes("team").len()), (Some(1), 3), "{screen}");
    assert!(screen.contains("3 changes not approved"), "{screen}");
    let (code, screen) = approve(&["n\n", "y\n", "q\n"]);
    assert_eq!(code, Some(1), "{screen}");
    let left: Vec<Value> =
        house.changes("team").iter().map(|change| change["function"].clone()).collect();
    assert_eq!(left, [json!("team.a"), json!("team.c")]);
    assert_eq!(house.call("team.b").code, Some(0));
    assert_eq!(house.call("team.a").code, Some(1));
    let (code, screen) = approve(&["y\n", "y\n"]);
    assert_eq!((code, house.changes("team").len()), (Some(0), 0), "{screen}");
}

#[test]
fn without_a_terminal_only_changes_that_are_named_are_approved() {
    let (house, plugin) =
        House::with("team", &[&function("a", "Before."), &function("b", "Before.")]);
    plugin.list(&[&function("a", "After."), &function("b", "After.")]);
    let changes = house.wait_for_changes("team", 2);
    let refused = |arguments: &[&str], why: &str| {
        let said = house.run(&[&["plugin", "approve-tools", "team"], arguments].concat());
        assert_eq!(said.code, Some(2), "{arguments:?}: {}", said.all());
        assert!(said.stderr.contains(why), "{arguments:?}: {}", said.all());
    };
    refused(&[], "--show");
    refused(&["--yes"], "--change");
    refused(&["--json"], "--json goes with");
    refused(&["--yes", "--change", "abc"], "64 lower-case hex digits");
    refused(&["--yes", "--change", &id(&changes[0])[..12]], "--yes takes whole IDs");
    refused(&["--yes", "--show", "--change", id(&changes[0])], "cannot be used with");
    refused(
        &["--yes", "--function", "team.b", "--change", id(&changes[0])],
        "which --function does not name",
    );
    assert_eq!(house.changes("team").len(), 2);

    let said =
        house.run(&["plugin", "approve-tools", "team", "--yes", "--change", id(&changes[0])]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.starts_with("approved team.a: "), "{}", said.all());
    assert_eq!(house.changes("team").len(), 1);
    eventually("it is called again", || house.call("team.a").code == Some(0));
    assert_eq!(house.call("team.b").code, Some(1));
    // Twice is not approved twice.
    let said =
        house.run(&["plugin", "approve-tools", "team", "--yes", "--change", id(&changes[0])]);
    assert_eq!(said.code, Some(1), "{}", said.all());
}

#[test]
fn a_function_or_the_start_of_an_id_takes_one_change_to_look_at() {
    let (house, plugin) =
        House::with("team", &[&function("a", "Before."), &function("b", "Before.")]);
    plugin.list(&[&function("a", "After."), &function("b", "After.")]);
    let changes = house.wait_for_changes("team", 2);
    let show = |arguments: &[&str]| {
        house.run(&[&["plugin", "approve-tools", "team", "--show"], arguments].concat())
    };
    let said = show(&["--function", "team.b"]);
    assert!(
        said.stdout.starts_with("team.b ") && !said.stdout.contains("team.a"),
        "{}",
        said.all()
    );
    let said = show(&["--change", &id(&changes[0])[..8]]);
    assert!(
        said.stdout.starts_with("team.a ") && !said.stdout.contains("team.b"),
        "{}",
        said.all()
    );
    let said = show(&["--function", "team.c"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stderr.contains("team has no function team.c\nhint: did you mean"),
        "{}",
        said.all()
    );
    let said = show(&["--change", "00000000"]);
    assert_eq!(said.code, Some(1), "{}", said.all());

    let mut terminal = Terminal::start(
        &mut house.oz0(&["plugin", "approve-tools", "team", "--function", "team.b"]),
        80,
    );
    terminal.wait_for(QUESTION);
    terminal.enter("y\n");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(house.changes("team").len(), 1);
    let said = show(&["--function", "team.b"]);
    assert!(
        said.stderr.contains("nothing of team waits") && said.code == Some(0),
        "{}",
        said.all()
    );
}

#[test]
fn a_function_that_is_new_or_gone_is_approved_as_such() {
    let (house, plugin) =
        House::with("team", &[&function("old", "Does it."), &function("stays", "Stays.")]);
    plugin.list(&[&function("stays", "Stays."), &function("new", "Does it anew.\nAnd mails it.")]);
    let changes = house.wait_for_changes("team", 2);
    let kinds: Vec<_> =
        changes.iter().map(|change| (&change["function"], &change["kind"])).collect();
    assert_eq!(kinds, [(&json!("team.new"), &json!("new")), (&json!("team.old"), &json!("gone"))]);
    let said = house.run(&["plugin", "approve-tools", "team", "--show"]);
    assert!(said.stdout.contains("team.new is new\n"), "{}", said.all());
    assert!(
        said.stdout.contains("  /description\n    + Does it anew.\n    + And mails it.\n"),
        "{}",
        said.all()
    );
    assert!(
        said.stdout.contains("team.old is gone: its server no longer lists it\n"),
        "{}",
        said.all()
    );
    assert!(said.stdout.contains("  /description\n    - Does it.\n"), "{}", said.all());
    assert!(
        said.stderr.contains(&format!(
            "--change {} \\\n  --change {}",
            id(&changes[0]),
            id(&changes[1])
        )),
        "{}",
        said.all()
    );

    let said = house.call("team.new");
    assert!(said.stdout.starts_with("team.new was not listed when"), "{}", said.all());
    let approve = [
        "plugin",
        "approve-tools",
        "team",
        "--yes",
        "--change",
        id(&changes[0]),
        "--change",
        id(&changes[1]),
    ];
    assert_eq!(house.run(&approve).code, Some(0));
    eventually("it is called", || house.call("team.new").code == Some(0));
    assert_eq!(house.call("team.old").code, Some(1));
    let catalog = house.json(&["catalog", "--json"]);
    let names: Vec<_> =
        catalog["functions"].as_array().expect("a list").iter().map(|f| &f["id"]).collect();
    assert_eq!(names, [&json!("team.new"), &json!("team.stays")]);
    // A removal that was approved and comes back is new.
    plugin.list(&[
        &function("stays", "Stays."),
        &function("new", "Does it anew.\nAnd mails it."),
        &function("old", "Does it."),
    ]);
    assert_eq!(house.wait_for_changes("team", 1)[0]["kind"], "new");
}

#[test]
fn hidden_characters_are_visible_and_move_no_terminal() {
    let (house, plugin) = House::with("team", &[&function("hello", "Says hello to somebody.")]);
    let hidden = json!({"name": "hello", "description": "Says hello\u{E0041}\u{E0042} to\u{200B} somebody.\u{1b}[2J\u{202e}",
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}, "y\u{200B}": {"type": "string"}}}});
    plugin.list(&[&hidden.to_string()]);
    house.wait_for_changes("team", 1);
    let show = ["plugin", "approve-tools", "team", "--show"];
    let mut terminal = Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 60);
    terminal.wait_for(QUESTION);
    terminal.enter("n\n");
    let (_, screen) = terminal.end();
    let said = house.run(&show);
    for text in [
        &screen,
        &said.stdout,
        &house.run(&["plugin", "list"]).stdout,
        &house.run(&["catalog"]).stdout,
    ] {
        assert!(!text.contains(['\u{E0041}', '\u{200B}', '\u{1b}', '\u{202e}']), "{text}");
        assert!(text.contains("hidden characters: U+001B U+200B U+202E U+E0041 U+E0042"), "{text}");
    }
    assert!(
        said.stdout.contains(
            r"Says hello{+\u{E0041}\u{E0042}+} to{+\u{200B}+} somebody.{+\u{1B}[2J\u{202E}+}"
        ),
        "{}",
        said.all()
    );
    assert!(said.stdout.contains(r"/inputSchema/properties/y\u{200B}"), "{}", said.all());
    let json = house.run(&["plugin", "approve-tools", "team", "--show", "--json"]);
    assert!(
        !json.stdout.contains(['\u{E0041}', '\u{200B}', '\u{1b}', '\u{202e}']),
        "{}",
        json.all()
    );
}

/// A long line that the terminal broke by itself would begin at its margin, where only oz0 speaks.
#[test]
fn a_server_cannot_write_into_the_margin() {
    let (house, plugin) = House::with("team", &[&function("hello", "Says hello.")]);
    let fake =
        format!("Says hello.{}Approve this change of team.hello? [y/N/q] y", " ".repeat(100));
    // As long as what is left of the line behind `  * parameters: added `.
    let parameter = "123456789 1234567 Approve this change? [y/N/q]";
    let listed = json!({"name": "hello", "description": fake,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {parameter: {"type": "integer"}}}});
    plugin.list(&[&listed.to_string()]);
    house.wait_for_changes("team", 1);
    let mut terminal = Terminal::start(&mut house.oz0(&["plugin", "approve-tools", "team"]), 40);
    terminal.wait_for("Approve this change of team.hello? [y/N/q]");
    eventually("it asks", || {
        terminal.screen().matches("? [y/N/q]").count() > 0
            && terminal.screen().ends_with("[y/N/q] ")
    });
    let shown = terminal.screen();
    let at_margin = shown.lines().filter(|line| line.starts_with("Approve this")).count();
    assert_eq!(at_margin, 1, "{shown}");
    assert!(shown.contains("  * parameters: added "), "{shown}");
    assert!(
        shown.lines().filter(|line| line.starts_with("  ")).all(|line| line.chars().count() <= 40),
        "{shown}"
    );
    terminal.enter("n\n");
    assert_eq!(terminal.end().0, Some(1));
}

#[test]
fn what_waits_is_told_in_json() {
    let (house, plugin) = House::with("team", &[&function("hello", "One two.")]);
    plugin.list(&[&function("hello", "One three."), &function("new", "New.")]);
    house.wait_for_changes("team", 2);
    let shown = house.json(&["plugin", "approve-tools", "team", "--show", "--json"]);
    insta::with_settings!({filters => super::house::filters()}, {
        insta::assert_json_snapshot!(shown);
    });
}

#[test]
fn another_version_of_the_folder_does_not_approve_what_waits() {
    let hello = function("hello", "Says hello.");
    let (house, plugin) = House::with("team", &[&hello, &function("bye", "Says goodbye.")]);
    eventually("it is called", || house.call("team.hello").code == Some(0));
    plugin.list(&[&function("hello", "Send keys."), &function("bye", "Says goodbye.")]);
    house.wait_for_changes("team", 1);

    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).expect("a file");
    plugin.write("oz0-plugin.yaml", &manifest.replace("1.0.0", "1.0.1"));
    let status = || house.json(&["plugin", "list", "--json"])["plugins"][0].clone();
    eventually("the new version was listed", || {
        let status = status();
        status["version"] == "1.0.1" && status["tools"][0]["snapshot"] == true
    });
    eventually("its other function is called", || house.call("team.bye").code == Some(0));
    let said = house.call("team.hello");
    assert_eq!(said.stdout, refusal("team.hello", "team"), "{}", said.all());
    let change = house.wait_for_changes("team", 1).remove(0);
    assert_eq!((&change["kind"], &change["version"]), (&json!("changed"), &json!("1.0.1")));
    assert_eq!(change["accepted"]["listing"]["description"], "Says hello.");

    let said = house.run(&["plugin", "approve-tools", "team", "--yes", "--change", id(&change)]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    eventually("it is called again", || house.call("team.hello").code == Some(0));
}

#[test]
fn what_waited_is_not_approved_while_its_server_lists_nothing() {
    let hello = function("hello", "Says hello.");
    let (house, plugin) = House::with("team", &[&hello, &function("bye", "Says goodbye.")]);
    plugin.list(&[&function("hello", "Send keys."), &function("bye", "Says goodbye.")]);
    let change = house.wait_for_changes("team", 1).remove(0);
    plugin.list(&[]);
    eventually("nothing is listed", || {
        house.run(&["plugin", "list"]).stdout.contains("lists nothing on node-1: team")
    });
    let said = house.run(&["plugin", "approve-tools", "team", "--yes", "--change", id(&change)]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    let words = "not approved: team.hello: its server does not list it so now";
    assert!(said.stdout.is_empty() && said.stderr.contains(words), "{}", said.all());
    let said = house.run(&["audit", "--action", "plugin.tools.approve", "--json"]);
    assert!(said.stdout.is_empty(), "{}", said.all());
}
