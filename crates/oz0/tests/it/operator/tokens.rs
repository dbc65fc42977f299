//! `oz0 token` and `oz0 login`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::house::{House, Terminal, eventually, filters, function};
use crate::support::Said;

fn made(house: &House, arguments: &[&str]) -> String {
    let said = house.run(&[&["token", "create"], arguments].concat());
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(said.stdout.lines().count(), 1, "the token alone is data: {}", said.all());
    said.stdout.trim().to_owned()
}

#[test]
fn a_token_is_made_listed_and_revoked() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    let secret = made(&house, &["--client", "claude", "--may-approve"]);
    let created = house.json(&["token", "create", "--admin", "ana", "--json"]);
    let listed = house.json(&["token", "list", "--json"]);
    let of = |name: &str| -> Value {
        let tokens = listed["tokens"].as_array().expect("a list");
        tokens.iter().find(|token| token["name"] == name).cloned().expect("it is listed")
    };
    assert_eq!(
        (&of("claude")["kind"], &of("claude")["may_approve"]),
        (&json!("client"), &json!(true))
    );
    assert_eq!(of("ana"), created["token"]);
    let words = house.run(&["token", "list"]);
    for said in [&words.stdout, &listed.to_string()] {
        assert!(
            !said.contains(&secret) && !said.contains(created["secret"].as_str().expect("a text"))
        );
    }
    assert!(
        words.stdout.contains("client  claude") && words.stdout.contains("  may approve\n"),
        "{}",
        words.all()
    );
    insta::with_settings!({filters => filters()}, {
        insta::assert_json_snapshot!(created["token"]);
    });

    let whoami = |token: &str| {
        house.oz0(&["plugin", "list"]).env("OZ0_TOKEN", token).output().expect("it runs")
    };
    let ana = created["secret"].as_str().expect("a text");
    assert_eq!(whoami(ana).status.code(), Some(0));
    let said = house.run(&["token", "revoke", created["token"]["id"].as_str().expect("an ID")]);
    assert!(
        said.code == Some(0) && said.stderr.contains("revoked the token of the admin ana"),
        "{}",
        said.all()
    );
    let said = Said::from(whoami(ana));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("unknown or was revoked"), "{}", said.all());
    assert!(house.run(&["token", "list"]).stdout.contains("  revoked 20"));
}

#[test]
fn wrong_tokens_and_names_have_their_exit_codes() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    made(&house, &["--client", "claude"]);
    for (arguments, code) in [
        (&["create"][..], 2),
        (&["create", "--client", "a", "--admin", "b"], 2),
        (&["create", "--admin", "b", "--may-approve"], 2),
        (&["create", "--client", "No Name"], 2),
        (&["create", "--client", "claude"], 1),
        (&["revoke", "zz"], 2),
        (&["revoke", "0123456789abcdef"], 1),
    ] {
        let said = house.run(&[&["token"], arguments].concat());
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.all());
    }
    let tokens = house.json(&["token", "list", "--json"]);
    let admins: Vec<&Value> = tokens["tokens"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|token| token["kind"] == "admin" && token["revoked_at"].is_null())
        .collect();
    if let [last] = admins[..] {
        let said = house.run(&["token", "revoke", last["id"].as_str().expect("an ID")]);
        assert!(
            said.code == Some(1) && said.stderr.contains("the last admin token"),
            "{}",
            said.all()
        );
    }
}

#[test]
fn only_a_persons_admin_token_approves_and_removes() {
    let (house, plugin) = House::with("team", &[&function("a", "A.")]);
    let client = made(&house, &["--client", "claude", "--may-approve"]);
    plugin.list(&[&function("a", "Another.")]);
    let changes = house.wait_for_changes("team", 1);
    let approve = [
        "plugin",
        "approve-tools",
        "team",
        "--yes",
        "--change",
        changes[0]["id"].as_str().expect("an ID"),
    ];
    for command in [
        &approve[..],
        &["plugin", "remove", "team"],
        &["token", "create", "--admin", "me"],
        &["token", "list"],
        &["audit"],
    ] {
        let said =
            Said::from(house.oz0(command).env("OZ0_TOKEN", &client).output().expect("it runs"));
        assert_eq!(said.code, Some(1), "{command:?}: {}", said.all());
        assert!(said.stderr.contains("an MCP client's token"), "{command:?}: {}", said.all());
    }
    // Somebody at the socket without the admin token reads and calls, and approves nothing.
    fs::rename(house.data().join("admin.token"), house.data().join("kept.token"))
        .expect("it can be moved");
    assert_eq!(house.run(&["plugin", "list"]).code, Some(0));
    let said = house.run(&approve);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stderr.contains("this needs an admin token, also over the local socket"),
        "{}",
        said.all()
    );
    assert_eq!(house.changes("team").len(), 1);
}

#[test]
fn login_keeps_a_token_that_the_edge_knows() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    let (edge, secret) = (house.edge(), made(&house, &["--admin", "ana"]));
    let client = made(&house, &["--client", "claude"]);
    let list = || house.run(&["plugin", "list", "--edge", &edge]);
    let said = list();
    assert_eq!(said.code, Some(1), "over TCP nobody is known without a token: {}", said.all());
    assert!(said.stderr.contains("oz0 login"), "{}", said.all());

    let login = |arguments: &[&str], typed: &str| {
        let mut child = house
            .oz0(&[&["login"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // One that has no use for it may be gone already.
        let _ = write!(child.stdin.take().expect("it is piped"), "{typed}");
        Said::from(child.wait_with_output().expect("it ends"))
    };
    let file = house.folder.path().join("config/oz0/credentials.toml");
    for (typed, code, why) in [
        ("", 2, "no token was given"),
        ("oz0_admin_0123456789abcdef_00\n", 1, "unknown or was revoked"),
        (&*format!("{client}\n"), 1, "the token of an MCP client"),
        ("wrong token\u{e9}\n", 2, "characters that no token has"),
    ] {
        let said = login(&["--edge", &edge], typed);
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(said.stderr.contains(why), "{}", said.all());
        assert!(!file.exists(), "what is wrong is not kept");
    }
    assert_eq!(login(&["--edge", "http://example.com"], &secret).code, Some(2));
    assert_eq!(login(&["--edge", "http://127.0.0.1:1"], &secret).code, Some(3));

    let said = login(&["--edge", &edge], &format!("{secret}\n"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains(&format!("with --edge {edge}, ")), "{}", said.all());
    assert!(!said.stderr.contains(&secret) && said.stdout.is_empty(), "{}", said.all());
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(list().code, Some(0), "{}", list().all());
    let made = house.run(&["token", "create", "--client", "by-ana", "--edge", &edge]);
    assert_eq!(made.code, Some(0), "{}", made.all());
    let log = house.run(&["audit", "--action", "token.create", "-n", "1"]);
    assert!(log.stdout.contains(" by token:ana"), "{}", log.all());
}

#[test]
fn a_token_that_is_typed_is_not_shown() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    let secret = made(&house, &["--admin", "ana"]);
    let start = || Terminal::start(&mut house.oz0(&["login", "--edge", &house.edge()]), 80);
    let mut terminal = start();
    terminal.wait_for("Token for http://127.0.0.1:");
    terminal.enter("half a tok\u{3}");
    eventually("Ctrl-C leaves the terminal as it was", || terminal.echoes());
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(2), "{screen}");
    assert!(!screen.contains("half") && screen.contains("no token was given"), "{screen}");

    let mut terminal = start();
    terminal.wait_for("Token for http://127.0.0.1:");
    terminal.enter(&format!("{secret}\n"));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains(&secret), "{screen}");
    assert!(screen.contains("commands are ana there"), "{screen}");
}
