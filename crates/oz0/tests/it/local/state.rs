//! State files that were cut short or overwritten: nothing is trusted because of them, and nothing crashes.

use std::fs;
use std::path::Path;

use oz0_mcp::EraChoice;
use serde_json::json;

use super::home::{Home, Plugin, until};

/// What a file may become.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let mut flipped = whole.to_vec();
    // Where a page of a database begins: between its end and its rows lies what is nobody's.
    let middle = flipped.len() / 2;
    let page = middle - middle % 4096;
    for byte in flipped.iter_mut().skip(page).take(64) {
        *byte ^= 0xff;
    }
    vec![Vec::new(), whole[..whole.len() / 2].to_vec(), vec![0xff; whole.len()], flipped]
}

#[tokio::test]
async fn a_nodes_state_is_rebuilt_from_the_edge_whatever_becomes_of_it() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert_eq!(up.end(), Some(0));
    team.list("Another.");
    let node = home.data().join("nodes/node-1");
    for name in ["token", "state.json", "node.lock"] {
        let whole = fs::read(node.join(name)).unwrap();
        for damage in damages(&whole) {
            fs::write(node.join(name), damage).unwrap();
            let mut up = home.up(&[], &[]);
            let client = up.client(EraChoice::Modern, None).await;
            until(&client, &team, Some(&team.refusal())).await;
            assert_eq!(up.end(), Some(0), "{name}: {}", up.said());
        }
    }
    fs::remove_dir_all(&node).unwrap();
    let up = home.up(&[], &[]);
    let client = up.client(EraChoice::Modern, None).await;
    until(&client, &team, Some(&team.refusal())).await;
}

#[tokio::test]
async fn a_damaged_store_is_an_error_that_names_it_and_nothing_is_called() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert_eq!(up.end(), Some(0));
    let kept = home.folder.path().join("kept");
    for name in ["edge.db", "edge.id"] {
        let path = home.data().join(name);
        fs::copy(&path, &kept).unwrap();
        let whole = fs::read(&path).unwrap();
        for damage in damages(&whole) {
            refuses(&home, &team, &path, &damage);
        }
        fs::copy(&kept, &path).unwrap();
    }
    // The store as it was before anything was accepted: an old copy, and none at all.
    fs::remove_file(home.data().join("edge.db")).unwrap();
    let said = crate::support::run(&mut home.up_command(&[], &[&team]));
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("edge.db"), "{}", said.all());
}

fn refuses(home: &Home, team: &Plugin, path: &Path, damage: &[u8]) {
    fs::write(path, damage).unwrap();
    let said = crate::support::run(&mut home.up_command(&[], &[team]));
    assert_eq!(said.code, Some(3), "{}", said.all());
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(said.stderr.contains(name) && said.stderr.contains("hint:"), "{}", said.all());
    assert!(said.stdout.is_empty(), "{}", said.all());
    let said = home.run(&["mcp", team.root.to_str().unwrap()]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stdout.is_empty() && said.stderr.contains(name), "{}", said.all());
}

#[tokio::test]
async fn an_admin_token_that_is_not_the_edges_is_said_by_name() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    assert_eq!(up.end(), Some(0));
    let path = home.data().join("admin.token");
    let whole = fs::read(&path).unwrap();
    let node = fs::read(home.data().join("nodes/node-1/token")).unwrap();
    for damage in damages(&whole).into_iter().chain([node]) {
        fs::write(&path, damage).unwrap();
        let said = home.run(&["mcp", team.root.to_str().unwrap()]);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.stderr.contains("admin.token"), "{}", said.all());
        assert!(said.stdout.is_empty(), "{}", said.all());
    }
    // Up is the edge, and needs no file for what it does itself.
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert_eq!(up.end(), Some(0));
}

#[tokio::test]
async fn a_node_that_starts_again_does_not_probe_a_server_whose_era_it_knows() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    // A legacy server that does not answer what it does not know.
    team.script(&json!({"versions": ["2025-11-25"], "on": {
        "server/discover": [{"steps": ["never"]}],
        "call hello": [{"steps": ["received"]}]}}));
    let received = async |client: &oz0_mcp::Client| {
        let params = r#"{"name":"team__hello","arguments":{"x":1}}"#.to_owned();
        let params = serde_json::value::RawValue::from_string(params).unwrap();
        client.request("tools/call", &params).await.unwrap().get().to_owned()
    };
    let mut up = home.up(&[], &[&team]);
    let first = received(&up.client(EraChoice::Modern, None).await).await;
    assert!(first.contains("server/discover"), "{first}");
    assert_eq!(up.end(), Some(0));
    let mut up = home.up(&[], &[]);
    let second = received(&up.client(EraChoice::Modern, None).await).await;
    assert!(!second.contains("server/discover") && second.contains("initialize"), "{second}");
    assert_eq!(up.end(), Some(0));
    // It learned the other era meanwhile, and that one alone.
    team.script(&json!({"versions": ["2026-07-28"]}));
    let up = home.up(&[], &[]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_holds_nobody_up() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    let pipe = |name: &str| {
        let path = home.data().join(name);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        (path, kept)
    };
    let named = |said: &crate::support::Said, name: &str| {
        assert_eq!(said.code, Some(3), "{}", said.all());
        assert!(said.stderr.contains(name) && said.stderr.contains("regular"), "{}", said.all());
    };
    let (path, kept) = pipe("admin.token");
    named(&home.run(&["plugin", "list"]), "admin.token");
    named(&home.run(&["mcp", team.root.to_str().unwrap()]), "admin.token");
    assert_eq!(up.end(), Some(0));
    named(&crate::support::run(&mut home.up_command(&[], &[&team])), "admin.token");
    fs::remove_file(&path).unwrap();
    fs::write(&path, kept).unwrap();
    for name in ["edge.id", "edge.db"] {
        let (path, kept) = pipe(name);
        named(&crate::support::run(&mut home.up_command(&[], &[&team])), name);
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
    assert_eq!(home.up(&[], &[&team]).end(), Some(0));
}
