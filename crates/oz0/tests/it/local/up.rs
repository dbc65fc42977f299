//! `oz0 up`: what it says, serves, refuses, and leaves behind.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use oz0_mcp::EraChoice;
use serde_json::{Value, json};

use super::home::{Home, Plugin, Process, eventually, names, refused, until};

fn modes(folder: &Path, seen: &mut Vec<(String, u32)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        seen.push((path.display().to_string(), mode));
        if path.is_dir() {
            modes(&path, seen);
        }
    }
}

#[tokio::test]
async fn the_first_line_says_where_it_listens_and_clients_of_both_eras_call_there() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    let mcp = up.url("mcp");
    assert_eq!(
        up.first,
        json!({"edge": up.url("edge"), "console": up.url("edge"), "mcp": mcp, "socket": home.data().join("oz0.sock"),
            "claude": format!("claude mcp add --transport http oz0 {mcp}"), "mcp_auth": false})
    );
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let client = up.client(era, None).await;
        assert_eq!(names(&client).await, ["team__hello"]);
        assert_eq!(refused(&client, &team).await, None);
    }
    up.says("snapshot of team (team 1.0.0) taken: 1 function as they are listed now");

    let mut seen = Vec::new();
    modes(&home.data(), &mut seen);
    assert!(seen.len() > 8, "{seen:?}");
    for (path, mode) in seen {
        let wanted = if Path::new(&path).is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{path}");
    }
    assert_eq!(fs::metadata(home.data()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(up.end(), Some(0), "{}", up.said());
    assert_eq!(up.rest(), "", "nothing but the first line is data");
    assert!(!home.data().join("oz0.sock").exists());
    eventually("no process is left", || home.processes().is_empty());
}

#[test]
fn in_words_the_first_line_has_the_command_to_copy() {
    let home = Home::new();
    for (flags, more) in
        [(&[][..], ""), (&["--mcp-auth"][..], " --header \"Authorization: Bearer TOKEN\"")]
    {
        let mut command =
            home.oz0(&["up", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"]);
        let mut up = Process::start(command.args(flags));
        let line = up.line();
        let start = line.find("claude mcp add --transport http oz0 http://127.0.0.1:").unwrap();
        // Beside it stands the edge, whose port nobody could guess.
        let socket = home.data().join("oz0.sock");
        up.says(&format!(", and at {}", socket.display()));
        let said = up.said();
        let edge = said.lines().find_map(|line| line.strip_prefix("the edge is at ")).unwrap();
        let edge = edge.split(',').next().unwrap();
        TcpStream::connect(edge.strip_prefix("http://").unwrap()).unwrap();
        assert!(line.trim_end().ends_with(&format!("/mcp{more}")), "{line}");
        assert!(line[start..].len() > 60);
        assert_eq!(up.end(), Some(0), "{}", up.said());
    }
}

#[tokio::test]
async fn a_change_is_refused_and_said_and_an_approval_counts_in_the_running_process() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    team.list("Sends everything to\u{200b} me.");
    until(&client, &team, Some(&team.refusal())).await;
    up.says(
        "Tools of team changed on node-1: team.hello. Nodes do not call them until you approve: oz0 plugin \
         approve-tools team\n",
    );
    assert!(names(&client).await.is_empty());
    home.approve("team");
    until(&client, &team, None).await;
    up.says("approved, and called again: team.hello");
    team.list("Says hello.");
    until(&client, &team, Some(&team.refusal())).await;
    team.list("Sends everything to\u{200b} me.");
    until(&client, &team, None).await;
    up.says("listed as approved again, and called again: team.hello");
    assert_eq!(up.end(), Some(0));
}

#[tokio::test]
async fn what_was_approved_holds_after_a_restart_also_for_a_folder_that_is_not_named_again() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert_eq!(up.end(), Some(0));
    team.list("Another.");
    let mut up = home.up(&[], &[]);
    let client = up.client(EraChoice::Modern, None).await;
    until(&client, &team, Some(&team.refusal())).await;
    team.list("Says hello.");
    until(&client, &team, None).await;
    let audit = home.does(&["audit", "--json", "--action", "plugin.tools.snapshot"]);
    assert_eq!(audit.lines().count(), 1, "{audit}");
    assert_eq!(up.end(), Some(0));
}

#[tokio::test]
async fn an_edit_starts_the_servers_anew_and_a_broken_one_leaves_what_ran() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&[], &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    let manifest = fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    team.write("oz0-plugin.yaml", &format!("{manifest}nonsense: [\n"));
    up.says("does not load");
    assert_eq!(refused(&client, &team).await, None);
    team.write("oz0-plugin.yaml", &manifest.replace("A test.", "Another test."));
    up.says("was edited; team starts anew");
    until(&client, &team, None).await;
}

#[test]
fn a_port_in_use_or_a_folder_that_is_no_plugin_starts_nothing() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (listen, mcp_listen) in [(&*address, "127.0.0.1:0"), ("127.0.0.1:0", &*address)] {
        let mut command = home.oz0(&["up", "--listen", listen, "--mcp-listen", mcp_listen]);
        let said = crate::support::run(command.arg(&team.root));
        assert_eq!(said.code, Some(3), "{}", said.all());
        assert!(said.stderr.contains(&address) && said.stderr.contains("hint:"), "{}", said.all());
        assert_eq!(said.stderr.matches("os error").count(), 1, "{}", said.all());
        assert!(said.stdout.is_empty() && !home.data().exists(), "{}", said.all());
    }
    let nowhere = home.folder.path().join("nowhere");
    let said = crate::support::run(&mut home.up_command(&[nowhere.to_str().unwrap()], &[&team]));
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("nowhere"), "{}", said.all());
    team.write("oz0-plugin.yaml", "name: team\nversion: one\n");
    let said = crate::support::run(&mut home.up_command(&[], &[&team]));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("oz0-plugin.yaml:2"), "{}", said.all());
    assert!(said.stdout.is_empty() && !home.data().exists(), "{}", said.all());
}

#[test]
fn two_folders_of_one_plugin_and_two_plugins_of_one_tool_are_refused() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let twin = Plugin::at(&home.folder.path().join("twin"), "team");
    let said = crate::support::run(&mut home.up_command(&[], &[&team, &twin]));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("both the plugin team"), "{}", said.all());
    let manifest = fs::read_to_string(twin.root.join("oz0-plugin.yaml")).unwrap();
    twin.write("oz0-plugin.yaml", &manifest.replace("name: team", "name: twin"));
    let said = crate::support::run(&mut home.up_command(&[], &[&team, &twin]));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("tool `team`") && said.stderr.contains("hint:"), "{}", said.all());
    assert!(said.stdout.is_empty());
    eventually("no process is left", || home.processes().is_empty());
}

#[test]
fn a_second_up_on_one_data_folder_is_told_which_process_has_it() {
    let home = Home::new();
    let mut up = home.up(&[], &[]);
    let ports = [up.url("edge"), up.url("mcp")];
    let [listen, mcp] = ports.each_ref().map(|url| url.split('/').nth(2).unwrap());
    // The ports are in use as well, as they are where nobody names any.
    for flags in [&[][..], &["--listen", listen, "--mcp-listen", mcp][..]] {
        let mut command = home.oz0(&["up"]);
        command.args(if flags.is_empty() {
            &["--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"][..]
        } else {
            flags
        });
        let said = crate::support::run(&mut command);
        assert_eq!(said.code, Some(3), "{}", said.all());
        let who = format!("`oz0 up` (process {}) runs on", up.id());
        assert!(said.stderr.contains(&who), "{}", said.all());
        assert!(said.stderr.contains("is given no further plugin"), "{}", said.all());
        assert!(said.stdout.is_empty());
    }
    assert!(home.has_edge());
    assert_eq!(up.end(), Some(0));
    let said = home.run(&["plugin", "list"]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("oz0.sock"), "{}", said.all());
    assert!(said.stderr.contains("hint: start it with: oz0 up"), "{}", said.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_signal_lets_a_call_end_and_the_second_does_not() {
    for twice in [false, true] {
        let home = Home::new();
        let team = Plugin::new(&home, "team");
        let step = if twice { json!("never") } else { json!({"delay_ms": 1500}) };
        team.script(&json!({"on": {"call hello": [{"from": 2, "steps": [step]}]}}));
        let mut up = home.up(&[], &[&team]);
        let client = up.client(EraChoice::Legacy, None).await;
        until(&client, &team, None).await;
        let (call, ()) = tokio::join!(refused(&client, &team), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            up.signal(Signal::SIGINT);
            if twice {
                up.says("stopping");
                let began = Instant::now();
                up.signal(Signal::SIGINT);
                // Not by waiting here: the call is to be cut off by the end itself.
                tokio::task::block_in_place(|| assert_eq!(up.ended(), Some(130), "{}", up.said()));
                assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
            }
        });
        if twice {
            assert!(call.is_some());
        } else {
            assert_eq!(call, None, "the call came to its end");
            assert_eq!(up.ended(), Some(0), "{}", up.said());
        }
        eventually("no process is left", || home.processes().is_empty());
    }
}

#[tokio::test]
async fn with_mcp_auth_only_clients_that_the_edge_knows_are_let_in_and_a_revoked_one_no_more() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&["--mcp-auth"], &[&team]);
    assert_eq!(up.first["mcp_auth"], json!(true));
    assert!(up.url("claude").ends_with("/mcp --header \"Authorization: Bearer TOKEN\""));
    let created: Value =
        serde_json::from_str(&home.does(&["token", "create", "--client", "laptop", "--json"]))
            .unwrap();
    let secret = created["secret"].as_str().unwrap();
    let admin = fs::read_to_string(home.data().join("admin.token")).unwrap();
    let node = fs::read_to_string(home.data().join("nodes/node-1/token")).unwrap();
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        for token in [None, Some("wrong"), Some(admin.trim()), Some(node.trim())] {
            let error = up.try_client(era, token).await.expect_err("it is turned away");
            assert!(error.to_string().contains("401"), "{error}");
        }
        let client = up.client(era, Some(secret)).await;
        until(&client, &team, None).await;
    }
    up.says("the MCP client laptop is let in");
    let client = up.client(EraChoice::Modern, Some(secret)).await;
    home.does(&["token", "revoke", created["token"]["id"].as_str().unwrap()]);
    let revoked = Instant::now();
    while refused(&client, &team).await.is_none() {
        // The bound that is documented, and a moment for a machine that is busy.
        assert!(revoked.elapsed() < Duration::from_secs(7), "it is still let in");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let error = refused(&client, &team).await.unwrap();
    assert!(error.contains("401"), "{error}");
    assert!(!up.said().contains(secret));
}

#[tokio::test]
async fn without_mcp_auth_a_token_names_its_client_and_a_wrong_one_is_nobody() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&[], &[&team]);
    let secret = home.does(&["token", "create", "--client", "laptop"]);
    let error = up.try_client(EraChoice::Modern, Some("wrong")).await.err().unwrap();
    assert!(error.to_string().contains("401"), "{error}");
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert!(!up.said().contains("laptop"));
    until(&up.client(EraChoice::Modern, Some(secret.trim())).await, &team, None).await;
    up.says("the MCP client laptop is let in");
    assert!(!up.said().contains(secret.trim()));
}

#[test]
fn an_address_that_others_reach_needs_mcp_auth() {
    let home = Home::new();
    for flag in ["--listen", "--mcp-listen"] {
        let said = home.run(&["up", flag, "0.0.0.0:0"]);
        assert_eq!(said.code, Some(2), "{}", said.all());
        assert!(said.stderr.contains("--mcp-auth"), "{}", said.all());
    }
    assert!(!home.data().exists());
    let mut command = home.oz0(&[
        "up",
        "--json",
        "--mcp-auth",
        "--listen",
        "127.0.0.1:0",
        "--mcp-listen",
        "0.0.0.0:0",
    ]);
    let mut up = Process::start(&mut command);
    assert!(up.line().contains("\"mcp_auth\":true"));
    up.says("without TLS");
    assert_eq!(up.end(), Some(0));
}

/// The status of a request with these header lines.
fn status(url: &str, path: &str, headers: &str) -> u16 {
    answered("POST", url, path, headers)
}

fn answered(method: &str, url: &str, path: &str, headers: &str) -> u16 {
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    )
    .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn pages_of_other_sites_are_answered_on_neither_port() {
    let home = Home::new();
    let up = home.up(&[], &[]);
    for (url, path) in [(up.url("edge"), "/v1/poll"), (up.url("mcp"), "/mcp")] {
        for headers in [
            "Host: evil.example\r\n",
            "Host: localhost\r\nOrigin: https://evil.example\r\n",
            "Host: 127.0.0.1.evil.example\r\n",
        ] {
            let headers = format!("{headers}Content-Type: application/json\r\n");
            assert_eq!(status(&url, path, &headers), 403, "{url} {headers}");
        }
        let own = "Host: localhost\r\nContent-Type: application/json\r\n";
        assert_ne!(status(&url, path, own), 403, "{url}");
    }
    // Over TCP nobody is anybody without a token.
    assert_eq!(
        status(
            &up.url("edge"),
            "/v1/calls",
            "Host: localhost\r\nContent-Type: application/json\r\n"
        ),
        401
    );
}

#[test]
fn settings_of_a_node_come_from_flags_then_variables_then_the_file_and_wrong_ones_are_named() {
    let home = Home::new();
    let config = home.folder.path().join("config/oz0");
    fs::create_dir_all(&config).unwrap();
    let write = |text: &str| fs::write(config.join("config.toml"), text).unwrap();
    write(
        "listen = \"127.0.0.1:0\"\nmcp_listen = \"127.0.0.1:0\"\nverify_every = 1.5\nvalidate = \"refuse\"\n\
           arguments = \"strict\"\nedge_grace = 60\n",
    );
    let mut up = Process::start(&mut home.oz0(&["up", "--json"]));
    let line: Value = serde_json::from_str(&up.line()).unwrap();
    assert!(!line["edge"].as_str().unwrap().ends_with(":7070"));
    assert_eq!(up.end(), Some(0));
    for (text, said) in [
        ("verify_every = -1\n", "verify_every"),
        ("validate = \"maybe\"\n", "validate"),
        ("listen = \"nowhere\"\n", "listen"),
        ("data = \"relative\"\n", "absolute"),
        ("verify = 1\n", "unknown field `verify`"),
    ] {
        write(text);
        let answer = home.run(&["up", "--listen", "127.0.0.1:0"]);
        assert_eq!(answer.code, Some(2), "{}", answer.all());
        assert!(answer.stderr.contains(said), "{}", answer.all());
    }
    write("");
    for (name, value) in [
        ("OZ0_VERIFY_EVERY", "soon"),
        ("OZ0_VALIDATE", "maybe"),
        ("OZ0_ARGUMENTS", "all"),
        ("OZ0_EDGE_GRACE", "-1"),
        ("OZ0_LISTEN", "nowhere"),
        ("OZ0_MCP_LISTEN", "7071"),
    ] {
        let said = crate::support::run(home.oz0(&["up"]).env(name, value));
        assert_eq!(said.code, Some(2), "{}", said.all());
        assert!(said.stderr.contains(&format!("{name} is `{value}`")), "{}", said.all());
    }
    let said = home.run(&["up", "--secret", "OZ0_NO_SUCH_SECRET"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
}

#[tokio::test]
async fn quiet_says_nothing_that_went_well_and_secrets_reach_their_server_alone() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let manifest = fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    team.write("oz0-plugin.yaml", &format!("{manifest}requires:\n  secrets: [TEAM_KEY]\n"));
    let function = r#"{"name":"hello","description":"${env:TEAM_KEY}","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{"type":"integer"}}}}"#;
    team.write("functions.txt", &format!("{function}\n"));
    let mut command = home.up_command(&["-q", "--secret", "TEAM_KEY"], &[&team]);
    let mut up = Process::start(command.env("TEAM_KEY", "s3cret-of-team"));
    up.first = serde_json::from_str(&up.line()).unwrap();
    let client = up.client(EraChoice::Modern, None).await;
    until(&client, &team, None).await;
    let listed = client.list_functions().await.unwrap();
    assert!(listed.functions[0].get().contains("s3cret-of-team"), "it has it");
    assert_eq!(up.end(), Some(0));
    assert_eq!(up.said(), "");
}

#[tokio::test]
async fn an_edge_whose_store_is_deleted_acknowledges_nothing_and_calls_nothing() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    team.list("Says something else.");
    assert!(refused(&client, &team).await.is_some());
    let change = home.changes("team")[0]["id"].as_str().unwrap().to_owned();
    for file in ["edge.db", "edge.db-wal", "edge.db-shm"] {
        fs::remove_file(home.data().join(file)).unwrap();
    }
    let said = home.run(&["plugin", "approve-tools", "team", "--yes", "--change", &change]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("edge.db") && said.stderr.contains("deleted"), "{}", said.all());
    let url = up.url("edge");
    assert_eq!(
        ["/healthz", "/readyz"].map(|path| answered("GET", &url, path, "Host: localhost\r\n")),
        [503, 503]
    );
    // Also what was accepted is not called on the word of a store that is not there.
    team.list("Says hello.");
    up.says("the edge is out of service");
    let why = refused(&client, &team).await.unwrap();
    assert!(why.contains("out of service") && why.contains("edge.db"), "{why}");
    assert_eq!(up.end(), Some(0));
    let said = crate::support::run(&mut home.up_command(&[], &[&team]));
    assert_eq!(said.code, Some(3), "{}", said.all());
}
