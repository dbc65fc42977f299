//! `package:` tools: locked at install at the latest, and installed by nodes from that lock alone.

use std::fs;
use std::path::{Path, PathBuf};

use oz0_api::Client;
use serde_json::{Value, json};

use super::Machines;
use crate::running::eventually;
use crate::support::{Said, checkout, copy, write};

/// A copy of the example whose server is a package, without its lock.
fn unlocked(machines: &Machines) -> PathBuf {
    let root = machines.path("time");
    copy(&checkout().join("examples/time"), &root);
    fs::remove_file(root.join("locks/time.lock")).expect("the example has its lock");
    root
}

fn pack(machines: &Machines, plugin: &Path) -> PathBuf {
    let bundle = machines.path("a.oz0");
    let [folder, file] = [plugin, &bundle].map(|path| path.to_str().expect("a path"));
    machines.done("author", &["plugin", "pack", folder, "-o", file]);
    bundle
}

fn ask(machines: &Machines) -> Said {
    machines.run("edge", &["call", "time.get_current_time", "{\"timezone\": \"Etc/UTC\"}"])
}

/// Lets everything through: its author says nothing of what the functions do.
fn let_through(machines: &Machines) {
    machines.done("edge", &["policy", "set", "time.*", "allow"]);
}

#[test]
fn a_bundle_without_a_lock_is_installed_with_one_that_is_made_then_and_nodes_install_from_it() {
    let machines = Machines::new();
    let (_edge, url) = machines.edge("127.0.0.1:0");
    machines.join("berlin", &url);
    let (_berlin, _) = machines.node("berlin");
    let_through(&machines);
    let plugin = unlocked(&machines);
    let bundle = pack(&machines, &plugin);
    let before = fs::read(&bundle).expect("a bundle");
    let said = machines.install(&bundle);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("wrote locks/time.lock"), "{}", said.all());
    assert!(said.stderr.contains("the bundle has no such lock"), "{}", said.all());
    assert!(!plugin.join("locks/time.lock").exists(), "nobody asked for the author's folder");
    assert!(before == fs::read(&bundle).expect("a bundle"));
    eventually("the node installed it from that lock", || {
        (ask(&machines).code == Some(0)).then_some(())
    });
}

#[test]
fn a_folder_is_locked_at_install_and_packs_to_the_same_bundle_from_then_on() {
    let machines = Machines::new();
    let (_edge, _) = machines.edge("127.0.0.1:0");
    let plugin = unlocked(&machines);
    let said = machines.install(&plugin);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let lock = fs::read_to_string(plugin.join("locks/time.lock")).expect("it was made");
    assert!(lock.contains("mcp-server-time==") && lock.contains("--hash=sha256:"), "{lock}");
    let again = machines.install(&plugin);
    assert_eq!(again.stdout, said.stdout, "{}", again.all());
    assert!(again.stderr.contains("nothing changed"), "{}", again.all());
}

#[test]
fn a_node_installs_nothing_that_no_lock_names() {
    let machines = Machines::new();
    let (_edge, url) = machines.edge("127.0.0.1:0");
    machines.join("berlin", &url);
    let (_berlin, _) = machines.node("berlin");
    let_through(&machines);
    let path = pack(&machines, &unlocked(&machines));
    // Past the command that would lock it.
    let bytes = fs::read(&path).expect("a bundle");
    let bundle = oz0_bundle::read(&bytes[..], &path).expect("it is one");
    let description = oz0_node::describe_bundle(&bundle).expect("it can be described");
    let token = fs::read_to_string(machines.path("edge/admin.token")).expect("the first token");
    let client = Client::unix(&machines.path("edge/oz0.sock")).with_token(token.trim());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        client.put_bundle(description.digest, bytes.into()).await.expect("it is taken");
        client.install(&description).await.expect("it is installed");
    });
    let failure = eventually("the node says what it lacks", || {
        let list = machines.json("edge", &["plugin", "list", "--json"]);
        list["plugins"][0]["tools"][0]["nodes"][0]["failure"].as_str().map(str::to_owned)
    });
    assert!(
        failure.contains("there is no lock of mcp-server-time")
            && failure.contains("oz0 plugin install"),
        "{failure}"
    );
    assert_ne!(ask(&machines).code, Some(0));
}

#[test]
fn a_closure_with_litellm_is_refused_before_the_edge_hears_of_it() {
    let machines = Machines::new();
    let (_edge, _) = machines.edge("127.0.0.1:0");
    let plugin = machines.path("time");
    copy(&checkout().join("examples/time"), &plugin);
    let lock = fs::read_to_string(plugin.join("locks/time.lock")).expect("its lock");
    let hash = "0".repeat(64);
    let with = format!("{lock}litellm==1.83.0 \\\n    --hash=sha256:{hash}\n");
    write(&plugin, "locks/time.lock", &with);
    let said = machines.install(&plugin);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stderr.contains("OZ-S012") && said.stderr.contains("locks/time.lock"),
        "{}",
        said.all()
    );
    assert!(said.stderr.contains("nothing was installed"), "{}", said.all());
    assert_eq!(machines.json("edge", &["plugin", "list", "--json"])["plugins"], json!([]));
}

#[test]
fn a_lock_of_another_version_is_refused_at_install() {
    let machines = Machines::new();
    let (_edge, _) = machines.edge("127.0.0.1:0");
    let plugin = machines.path("everything");
    copy(&checkout().join("examples/everything"), &plugin);
    let manifest = fs::read_to_string(plugin.join("oz0-plugin.yaml")).expect("its manifest");
    write(
        &plugin,
        "oz0-plugin.yaml",
        &manifest.replace("server-everything@2026", "server-everything@1999"),
    );
    let said = machines.install(&plugin);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("locks/everything.lock"), "{}", said.all());
    assert_eq!(machines.json("edge", &["plugin", "list", "--json"])["plugins"], json!([]));
}

#[test]
fn what_a_node_lists_and_the_author_measured_otherwise_is_named_and_called_all_the_same() {
    let machines = Machines::new();
    let (_edge, url) = machines.edge("127.0.0.1:0");
    machines.join("berlin", &url);
    let (_berlin, _) = machines.node("berlin");
    let team = machines.team("team", "1.0.0", "");
    machines.measure(&team);
    super::replace(&team.join("texts.json"), "by name.", "by name, and kindly.");
    let said = machines.install(&team);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("stale"), "{}", said.all());
    machines.callable_on("berlin");
    let list = machines.json("edge", &["plugin", "list", "--json"]);
    assert_eq!(list["plugins"][0]["mismatches"], json!(["team.hello"]));
    assert_eq!(list["plugins"][0]["changes"], json!([]));
    let said = machines.done("edge", &["plugin", "list"]);
    assert!(said.contains("team.hello"), "{said}");
    let log =
        machines.done("edge", &["audit", "--action", "plugin.tools.listing_mismatch", "--json"]);
    let entries: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(entries.len(), 1, "{log}");
    assert!(entries[0].to_string().contains("team.hello"), "{log}");
    assert!(entries[0].to_string().contains("berlin"), "{log}");
}
