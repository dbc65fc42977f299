//! How the operator's commands behave: nobody there, help, colours, streams.

use std::process::Stdio;

use super::house::{House, Terminal, function};

#[test]
fn an_edge_that_is_not_there_ends_every_command_with_3_and_says_how_to_start_one() {
    let house = House::new();
    for command in [
        &["plugin", "list"][..],
        &["plugin", "approve-tools", "team", "--show"],
        &["plugin", "remove", "team"],
        &["catalog"],
        &["call", "team.hello"],
        &["audit"],
        &["audit", "verify"],
        &["token", "create", "--client", "a"],
        &["token", "list"],
        &["token", "revoke", "0123456789abcdef"],
        &["node", "list"],
        &["policy", "list"],
        &["policy", "set", "*", "ask"],
        &["policy", "unset", "0123456789abcdef"],
        &["approvals", "list"],
        &["approvals", "approve", "0123456789ab", "--yes"],
        &["approvals", "deny", "0123456789ab"],
        &["login"],
    ] {
        let said = house.run(command);
        assert_eq!(said.code, Some(3), "{command:?}: {}", said.all());
        assert!(said.stdout.is_empty(), "{command:?}: {}", said.all());
        let socket = house.data().join("oz0.sock");
        assert!(
            said.stderr.contains(socket.to_str().expect("UTF-8")),
            "{command:?}: {}",
            said.all()
        );
        assert!(said.stderr.contains("\nhint: "), "{command:?}: {}", said.all());
        assert!(said.stderr.contains("oz0 up"), "{command:?}: {}", said.all());
    }
}

#[test]
fn an_unknown_plugin_is_refused_and_a_malformed_name_is_wrong_usage() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    for command in
        [&["plugin", "approve-tools", "nobody", "--show"][..], &["plugin", "remove", "nobody"]]
    {
        let said = house.run(command);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(
            said.stderr
                .contains("error: no plugin named nobody is installed\nhint: `oz0 plugin list`"),
            "{}",
            said.all()
        );
    }
    for command in [
        &["plugin", "approve-tools", "No Body", "--show"][..],
        &["plugin", "remove", "No"],
        &["audit", "--plugin", "No"],
    ] {
        assert_eq!(house.run(command).code, Some(2), "{command:?}");
    }
}

#[test]
fn colour_is_for_terminals_and_quiet_says_only_data() {
    let (house, plugin) = House::with("team", &[&function("a", "One two.")]);
    plugin.list(&[&function("a", "One three.")]);
    house.wait_for_changes("team", 1);
    let show = ["plugin", "approve-tools", "team", "--show"];
    let (_, coloured) =
        Terminal::start(house.oz0(&show).env_remove("NO_COLOR").env("TERM", "xterm"), 80).end();
    assert!(
        coloured.contains("One \u{1b}[31;9mtwo\u{1b}[0m\u{1b}[32mthree\u{1b}[0m."),
        "{coloured}"
    );
    let (_, plain) = Terminal::start(&mut house.oz0(&show), 80).end();
    assert!(plain.contains("One [-two-]{+three+}.") && !plain.contains('\u{1b}'), "{plain}");
    let piped = house.run(&show);
    assert!(piped.stdout.contains("One [-two-]{+three+}."), "{}", piped.all());
    assert!(piped.stderr.contains("--change "), "{}", piped.all());
    let quiet = house.run(&[&["-q"], &show[..]].concat());
    assert!(quiet.stderr.is_empty() && quiet.stdout == piped.stdout, "{}", quiet.all());
}

#[test]
fn a_reader_that_goes_away_is_no_error_to_any_command() {
    let (house, plugin) = House::with("team", &[&function("a", "One two.")]);
    plugin.list(&[&function("a", "One three.")]);
    house.wait_for_changes("team", 1);
    for command in [
        &["plugin", "list"][..],
        &["plugin", "list", "--json"],
        &["plugin", "approve-tools", "team", "--show"],
        &["catalog"],
        &["audit"],
        &["audit", "--json"],
        &["audit", "verify"],
        &["token", "list"],
        &["node", "list"],
        &["call", "team.a", "--json"],
    ] {
        let mut child = house
            .oz0(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
