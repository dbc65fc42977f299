//! `oz0 mcp`: one plugin over stdio, and any number of such processes on one data folder.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use oz0_mcp::{Client, EraChoice};

use super::home::{Home, Plugin, Process, eventually, names, refused, until};

/// The one of these processes whose edge it is.
fn holder(home: &Home) -> u32 {
    let text = fs::read_to_string(home.data().join("seat.lock")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Closes the client's end, and waits for the process.
async fn close(client: Client, mut process: Process) {
    client.close().await;
    let code = tokio::task::spawn_blocking(move || process.ended()).await.unwrap();
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn clients_of_both_eras_are_served_without_a_port_and_the_end_of_input_is_the_end() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let (process, client) = home.mcp(&team, era).await;
        assert_eq!(names(&client).await, ["team__hello"]);
        assert_eq!(refused(&client, &team).await, None);
        let pid = process.id();
        let sockets = fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
        let inodes: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
            .map(|link| link.display().to_string())
            .collect();
        for line in sockets.lines().skip(1) {
            let inode = line.split_whitespace().nth(9).unwrap();
            assert!(!inodes.contains(&format!("socket:[{inode}]")), "it has a TCP socket");
        }
        close(client, process).await;
        eventually("no process is left", || home.processes().is_empty());
    }
}

#[tokio::test]
async fn a_signal_ends_it_and_its_servers() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let (mut process, client) = home.mcp(&team, EraChoice::Legacy).await;
    until(&client, &team, None).await;
    assert_eq!(process.end(), Some(0), "{}", process.said());
    eventually("no process is left", || home.processes().is_empty());
    let (mut process, client) = home.mcp(&team, EraChoice::Legacy).await;
    until(&client, &team, None).await;
    process.kill();
    drop(client);
    eventually("no process is left", || home.processes().is_empty());
}

#[test]
fn a_plugin_that_does_not_load_says_why_on_standard_error() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    team.write("oz0-plugin.yaml", "name: team\nversion: one\n");
    let said = home.run(&["mcp", team.root.to_str().unwrap()]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.is_empty() && said.stderr.contains("oz0-plugin.yaml:2"), "{}", said.all());
    let said = home.run(&["mcp", home.folder.path().join("nowhere").to_str().unwrap()]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stdout.is_empty());
}

#[tokio::test]
async fn three_on_one_data_folder_outlive_the_one_that_is_the_edge_however_it_ends() {
    let home = Home::new();
    let (team, other) = (Plugin::new(&home, "team"), Plugin::new(&home, "other"));
    let mut running = Vec::new();
    for plugin in [&team, &other, &team] {
        let (process, client) = home.mcp(plugin, EraChoice::Legacy).await;
        assert_eq!(names(&client).await, [plugin.hello()], "its own functions, and no others");
        assert_eq!(refused(&client, plugin).await, None);
        running.push((process, client, plugin));
    }
    let nodes = home.does(&["node", "list"]);
    for node in ["node-1", "node-2", "node-3"] {
        assert!(nodes.contains(node), "{nodes}");
    }
    let mut kill = true;
    while running.len() > 1 {
        let edge = holder(&home);
        let at = running.iter().position(|(process, ..)| process.id() == edge).expect("one is it");
        let (mut process, client, _) = running.swap_remove(at);
        if kill {
            process.kill();
        } else {
            assert_eq!(process.end(), Some(0), "{}", process.said());
        }
        kill = !kill;
        drop(client);
        let gone = Instant::now();
        for (_, client, plugin) in &running {
            assert_eq!(refused(client, plugin).await, None, "calls go on meanwhile");
        }
        eventually("another one is the edge", || home.has_edge());
        assert!(gone.elapsed() < Duration::from_secs(10), "{:?}", gone.elapsed());
        assert!(running.iter().any(|(process, ..)| process.id() == holder(&home)));
        // What is decided from now on reaches the nodes that are left.
        for (_, client, plugin) in &running {
            plugin.list(&format!("Another, {}.", running.len()));
            until(client, plugin, Some(&plugin.refusal())).await;
            home.approve(&plugin.name);
            until(client, plugin, None).await;
        }
    }
    let (process, client, _) = running.pop().unwrap();
    close(client, process).await;
    assert!(!home.has_edge());
    eventually("no process is left", || home.processes().is_empty());
}

#[tokio::test]
async fn many_that_start_at_once_all_work() {
    let home = Home::new();
    let plugins: Vec<Plugin> =
        ["one", "two", "three", "four"].iter().map(|name| Plugin::new(&home, name)).collect();
    let all = tokio::join!(
        home.mcp(&plugins[0], EraChoice::Modern),
        home.mcp(&plugins[1], EraChoice::Legacy),
        home.mcp(&plugins[2], EraChoice::Modern),
        home.mcp(&plugins[3], EraChoice::Legacy),
    );
    for ((process, client), plugin) in [all.0, all.1, all.2, all.3].into_iter().zip(&plugins) {
        until(&client, plugin, None).await;
        close(client, process).await;
    }
}

#[tokio::test]
async fn up_takes_the_edge_from_mcp_and_mcp_takes_it_back() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let (process, client) = home.mcp(&team, EraChoice::Modern).await;
    until(&client, &team, None).await;
    assert_eq!(holder(&home), process.id());
    let mut up = home.up(&[], &[]);
    assert_eq!(holder(&home), up.id());
    assert_eq!(refused(&client, &team).await, None, "calls go on meanwhile");
    let over_http = up.client(EraChoice::Modern, None).await;
    until(&over_http, &team, None).await;
    assert_eq!(names(&over_http).await, ["team__hello"], "up serves what is installed");
    team.list("Another.");
    until(&client, &team, Some(&team.refusal())).await;
    home.approve("team");
    until(&client, &team, None).await;
    assert_eq!(up.end(), Some(0), "{}", up.said());
    eventually("mcp is the edge again", || home.has_edge());
    assert_eq!(holder(&home), process.id());
    assert_eq!(refused(&client, &team).await, None);
    close(client, process).await;
}

#[tokio::test]
async fn it_runs_beside_up_and_takes_over_when_up_is_killed() {
    let home = Home::new();
    let (team, other) = (Plugin::new(&home, "team"), Plugin::new(&home, "other"));
    let mut up = home.up(&[], &[&team]);
    let (process, client) = home.mcp(&other, EraChoice::Legacy).await;
    assert_eq!(names(&client).await, ["other__hello"]);
    let over_http = up.client(EraChoice::Modern, None).await;
    until(&over_http, &other, None).await;
    up.kill();
    assert_eq!(refused(&client, &other).await, None);
    eventually("mcp is the edge", || home.has_edge());
    assert_eq!(holder(&home), process.id());
    // A call that is asked for is run by a node that is there, though another is believed alive; once it is there: it
    // asks for the edge that was lost a few times a second.
    let ask = ["call", "other.hello", r#"{"x":1}"#, "--timeout", "3"];
    eventually("a node that is there is asked", || home.run(&ask).code == Some(0));
    for _ in 0..5 {
        let said = home.run(&ask);
        assert_eq!(said.code, Some(0), "{}", said.all());
    }
    close(client, process).await;
}

#[tokio::test]
async fn whatever_is_left_where_the_socket_was_is_replaced() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    fs::create_dir_all(home.data()).unwrap();
    let socket = home.data().join("oz0.sock");
    for stale in [true, false] {
        if stale {
            // The process that listened is gone, and the file is not.
            drop(UnixListener::bind(&socket).unwrap());
        } else {
            fs::write(&socket, "").unwrap();
        }
        let (process, client) = home.mcp(&team, EraChoice::Modern).await;
        until(&client, &team, None).await;
        assert!(home.has_edge());
        close(client, process).await;
    }
}

#[test]
fn no_secret_is_on_either_stream() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut command = home.oz0(&["mcp"]);
    let mut process = Process::start(command.arg(&team.root).stdin(Stdio::piped()));
    process.says("snapshot of team");
    drop(process.child.stdin.take());
    let stdout = process.rest();
    assert_eq!(process.ended(), Some(0));
    for secret in ["oz0_admin_", "oz0_node_"] {
        assert!(!stdout.contains(secret) && !process.said().contains(secret));
    }
    assert_eq!(stdout, "");
}

#[tokio::test]
async fn nothing_is_lost_wherever_the_edge_is_killed() {
    let home = Home::new();
    let (team, other) = (Plugin::new(&home, "team"), Plugin::new(&home, "other"));
    let (stays, client) = home.mcp(&other, EraChoice::Modern).await;
    until(&client, &other, None).await;
    for round in 0..6_u64 {
        // The one that came first is the edge; so it is asked to give it up to one that is about to be killed.
        let mut up = Process::start(&mut home.up_command(&[], &[&team]));
        std::thread::sleep(Duration::from_millis(round * 120));
        up.kill();
        eventually("the other is the edge", || home.has_edge());
        assert_eq!(holder(&home), stays.id());
        assert_eq!(refused(&client, &other).await, None);
    }
    home.does(&["audit", "verify"]);
    let mut process = stays;
    process.signal(Signal::SIGTERM);
    assert_eq!(process.ended(), Some(0), "{}", process.said());
    let mut text = String::new();
    fs::File::open(home.data().join("admin.token")).unwrap().read_to_string(&mut text).unwrap();
    assert!(text.starts_with("oz0_admin_"));
}

#[test]
fn a_client_is_not_told_that_what_it_just_listed_has_changed() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    for start in ["of a fresh data folder", "of one with a snapshot"] {
        let mut command = home.oz0(&["mcp", "--verify-every", "0"]);
        let mut mcp = Process::start(command.arg(&team.root).stdin(Stdio::piped()));
        let mut input = mcp.child.stdin.take().unwrap();
        // All at once, as clients do: the server behind starts meanwhile.
        input
            .write_all(
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n\
                  {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
                  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n",
            )
            .unwrap();
        let opened = mcp.line();
        assert!(opened.contains(r#""id":1"#), "{opened}");
        let listed = mcp.line();
        assert!(
            listed.contains(r#""id":2"#) && listed.contains("team__hello"),
            "{start}: {listed}"
        );
        input
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"team__hello\",\"arguments\":{}}}\n")
            .unwrap();
        let called = mcp.line();
        assert!(called.contains(r#""id":3"#), "{start}: {called}");
        // One that is another now, it is told of.
        team.list(&format!("Says hello, otherwise {start}."));
        input
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"team__hello\",\"arguments\":{}}}\n")
            .unwrap();
        let mut rest = [mcp.line(), mcp.line()];
        rest.sort();
        assert!(rest[0].contains(r#""id":4"#), "{start}: {rest:?}");
        assert!(rest[1].contains("notifications/tools/list_changed"), "{start}: {rest:?}");
        team.list("Says hello.");
        drop(input);
        assert_eq!(mcp.ended(), Some(0), "{}", mcp.said());
    }
}

#[tokio::test]
async fn an_edge_that_was_stopped_is_named_to_whoever_waits_for_it() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let (process, client) = home.mcp(&team, EraChoice::Legacy).await;
    until(&client, &team, None).await;
    process.signal(Signal::SIGSTOP);
    let holder = format!("`oz0 mcp` (process {})", process.id());
    for arguments in [vec!["plugin", "list"], vec!["mcp", team.root.to_str().unwrap()]] {
        let said = home.run(&arguments);
        assert_eq!(said.code, Some(3), "{}", said.all());
        assert!(said.stderr.contains(&holder), "{}", said.all());
        assert!(said.stderr.contains("has not answered"), "{}", said.all());
    }
    process.signal(Signal::SIGCONT);
    eventually("it answers again", || home.has_edge());
    close(client, process).await;
}
