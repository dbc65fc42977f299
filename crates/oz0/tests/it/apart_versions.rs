//! The life of a plugin's versions on an edge and two nodes, each a process of its own: candidates, promotion, rollback, updates
//! that fail, and nodes that end at any step of it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::apart::{Machines, replace};
use crate::operator::house::Terminal;
use crate::running::{Running, eventually};
use crate::support::Said;

/// An edge and two nodes.
struct Fleet {
    machines: Machines,
    edge: Option<Running>,
    listen: String,
    nodes: [Option<Running>; 2],
}

const NODES: [&str; 2] = ["berlin", "paris"];

impl Fleet {
    fn new() -> Self {
        let machines = Machines::new();
        let (edge, url) = machines.edge("127.0.0.1:0");
        for node in NODES {
            machines.join(node, &url);
        }
        let nodes = NODES.map(|node| Some(machines.node(node).0));
        let listen = url.trim_start_matches("http://").to_owned();
        Self { machines, edge: Some(edge), listen, nodes }
    }

    /// Ends a node as a power cut does.
    fn end(&mut self, node: usize) {
        self.nodes[node].take().expect("it runs").kill();
    }

    fn begin(&mut self, node: usize) {
        self.nodes[node] = Some(self.machines.node(NODES[node]).0);
    }

    fn restart(&mut self, node: usize) {
        self.end(node);
        self.begin(node);
    }

    fn restart_edge(&mut self) {
        self.edge.take().expect("it runs").kill();
        self.edge = Some(self.machines.edge(&self.listen).0);
    }

    /// A version of the example whose greeting says which it is, and that is measured.
    fn version(&self, version: &str) -> PathBuf {
        let root = self.machines.team(version, version, "");
        let greeting = format!("Hello from {version}, {{name}}!");
        replace(&root.join("texts.json"), "Hello, {name}!", &greeting);
        self.machines.measure(&root);
        root
    }

    /// One whose server ends at once.
    fn broken(&self, version: &str) -> PathBuf {
        let root = self.machines.team(version, version, "");
        fs::write(root.join("server.py"), "raise SystemExit('no licence for this machine')\n")
            .expect("it can be written");
        root
    }

    fn update(&self, plugin: &std::path::Path, flags: &[&str]) -> Said {
        let update = ["plugin", "update", plugin.to_str().expect("a path")];
        self.machines.run("edge", &[&update[..], flags].concat())
    }

    fn plugin(&self) -> Value {
        self.machines.json("edge", &["plugin", "list", "--json"])["plugins"][0].clone()
    }

    /// Waits until a node answers a call, and with this version.
    fn answers(&self, node: usize, version: &str) {
        eventually(&format!("{} answers with {version}", NODES[node]), || {
            let said = self.machines.call(NODES[node]);
            (said.code == Some(0) && said.stdout.contains(&format!("from {version},")))
                .then_some(())
        });
    }

    fn both_answer(&self, versions: [&str; 2]) {
        for (node, version) in versions.into_iter().enumerate() {
            self.answers(node, version);
        }
    }
}

fn done(said: &Said) {
    assert_eq!(said.code, Some(0), "{}", said.all());
}

#[test]
fn a_candidate_runs_on_its_canary_alone_until_it_is_promoted() {
    let fleet = Fleet::new();
    let (old, new) = (fleet.version("1.0.0"), fleet.version("1.1.0"));
    let early = fleet.update(&old, &[]);
    assert_eq!(early.code, Some(1), "{}", early.all());
    assert!(early.stderr.contains("no plugin named team is installed"), "{}", early.all());
    assert!(early.stderr.contains("oz0 plugin install DIR|BUNDLE"), "{}", early.all());
    done(&fleet.machines.install(&old));
    fleet.both_answer(["1.0.0", "1.0.0"]);

    // Nothing differs in what it lists, so nobody is asked.
    let offered = fleet.update(&new, &["--canary", "berlin"]);
    done(&offered);
    assert!(offered.stdout.starts_with("Candidate team 1.1.0: sha256:"), "{}", offered.all());
    for said in [
        "it runs on berlin; the other nodes go on with 1.0.0",
        "oz0 plugin promote team",
        "oz0 plugin rollback team",
    ] {
        assert!(offered.stderr.contains(said), "{said}: {}", offered.all());
    }
    fleet.both_answer(["1.1.0", "1.0.0"]);
    let listed = fleet.machines.done("edge", &["plugin", "list"]);
    assert!(listed.contains("team 1.0.0 on paris"), "{listed}");
    assert!(listed.contains("team 1.1.0, a candidate on berlin"), "{listed}");
    assert!(listed.contains("offered to berlin"), "{listed}");
    let plugin = fleet.plugin();
    assert_eq!(plugin["version"], "1.0.0");
    assert_eq!(plugin["candidate"]["rollout"]["nodes"][0], "berlin");
    assert_eq!(plugin["candidate"]["status"]["version"], "1.1.0");

    // The same version, to more nodes.
    done(&fleet.update(&new, &["--percent", "100"]));
    fleet.both_answer(["1.1.0", "1.1.0"]);
    done(&fleet.update(&new, &["--canary", "paris"]));
    fleet.both_answer(["1.0.0", "1.1.0"]);

    let promoted = fleet.machines.run("edge", &["plugin", "promote", "team"]);
    done(&promoted);
    assert!(promoted.stdout.starts_with("Installed team 1.1.0: "), "{}", promoted.all());
    assert!(promoted.stderr.contains("back to 1.0.0 with: oz0 plugin rollback team"));
    fleet.both_answer(["1.1.0", "1.1.0"]);
    let again = fleet.machines.run("edge", &["plugin", "promote", "team"]);
    assert_eq!(again.code, Some(1), "{}", again.all());
    assert!(again.stderr.contains("team has no candidate: every node runs 1.1.0"));

    done(&fleet.machines.run("edge", &["plugin", "rollback", "team"]));
    fleet.both_answer(["1.0.0", "1.0.0"]);
    let kept = fs::read_dir(fleet.machines.path("edge/bundles")).expect("the folder is there");
    assert_eq!(kept.count(), 2, "both versions can be brought back");
    let audit = fleet.machines.done("edge", &["audit"]);
    for act in ["plugin.update", "plugin.promote", "plugin.rollback"] {
        assert!(audit.contains(act), "{act}: {audit}");
    }
}

#[test]
fn an_update_that_does_not_start_keeps_what_runs() {
    let mut fleet = Fleet::new();
    done(&fleet.machines.install(&fleet.version("1.0.0")));
    fleet.both_answer(["1.0.0", "1.0.0"]);
    let bad = fleet.broken("1.1.0");
    let unseen = fleet.update(&bad, &[]);
    assert_eq!(unseen.code, Some(1), "nothing fresh says what it lists: {}", unseen.all());
    assert!(unseen.stderr.contains("oz0 plugin update … --yes"), "{}", unseen.all());
    done(&fleet.update(&bad, &["--yes"]));
    // From the first moment to the last, every call is answered.
    let until_told = |node: &str| {
        eventually("the edge hears why", || {
            fleet.answers(0, "1.0.0");
            fleet.answers(1, "1.0.0");
            let tools = fleet.plugin()["tools"][0]["nodes"].clone();
            let seen = tools.as_array()?.iter().find(|seen| seen["node"] == node)?.clone();
            (seen["goes_on"] == "1.0.0").then(|| seen["failure"].as_str().map(str::to_owned))?
        })
    };
    for node in NODES {
        assert!(until_told(node).contains("no licence for this machine"));
    }
    let listed = fleet.machines.done("edge", &["plugin", "list"]);
    assert!(
        listed.contains("goes on with 1.0.0; take team 1.1.0 back with: oz0 plugin rollback"),
        "{listed}"
    );

    // A node that starts again meanwhile has no snapshot of what it ran, and calls none of it.
    fleet.restart(0);
    let refused = eventually("berlin has started", || {
        let said = fleet.machines.call("berlin");
        (said.code == Some(1)).then_some(said)
    });
    assert!(!refused.stdout.contains("from 1.0.0"), "{}", refused.all());
    fleet.answers(1, "1.0.0");

    // Until the update is taken back: the version is assigned again.
    done(&fleet.machines.run("edge", &["plugin", "rollback", "team"]));
    fleet.both_answer(["1.0.0", "1.0.0"]);

    // Or until it is fixed.
    done(&fleet.update(&fleet.broken("1.2.0"), &["--yes"]));
    fleet.restart(0);
    done(&fleet.update(&fleet.version("1.2.1"), &["--yes"]));
    fleet.both_answer(["1.2.1", "1.2.1"]);
}

#[test]
fn a_candidate_that_does_not_start_is_said_and_not_promoted_unseen() {
    let fleet = Fleet::new();
    done(&fleet.machines.install(&fleet.version("1.0.0")));
    fleet.both_answer(["1.0.0", "1.0.0"]);
    done(&fleet.update(&fleet.broken("1.1.0"), &["--canary", "berlin", "--yes"]));
    eventually("the edge hears of it", || {
        let tool = fleet.plugin()["candidate"]["status"]["tools"][0].clone();
        (tool["nodes"][0]["goes_on"] == "1.0.0").then_some(())
    });
    fleet.both_answer(["1.0.0", "1.0.0"]);
    let refused = fleet.machines.run("edge", &["plugin", "promote", "team"]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    for said in [
        "team 1.1.0 is a candidate on berlin, and team failed on berlin",
        "team 1.1.0 was not promoted: 1.0.0 goes on",
        "oz0 plugin promote team --yes",
    ] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.all());
    }
    let mut terminal =
        Terminal::start(&mut fleet.machines.oz0("edge", &["plugin", "promote", "team"]), 100);
    terminal.wait_for("Run team 1.1.0 on every node? [y/N] ");
    terminal.enter("\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("not promoted: 1.0.0 goes on"), "{screen}");
    done(&fleet.machines.run("edge", &["plugin", "rollback", "team"]));
    assert_eq!(fleet.plugin()["candidate"], Value::Null);
    fleet.both_answer(["1.0.0", "1.0.0"]);
}

#[test]
fn whoever_ends_at_any_step_comes_back_to_the_right_version() {
    let mut fleet = Fleet::new();
    let (old, new) = (fleet.version("1.0.0"), fleet.version("1.1.0"));
    let steps: [(&[&str], [&str; 2]); 5] = [
        (&["install"], ["1.0.0", "1.0.0"]),
        (&["update", "--canary", "berlin"], ["1.1.0", "1.0.0"]),
        (&["promote"], ["1.1.0", "1.1.0"]),
        (&["rollback"], ["1.0.0", "1.0.0"]),
        (&["update"], ["1.1.0", "1.1.0"]),
    ];
    for (at, (step, versions)) in steps.into_iter().enumerate() {
        // One node is away while it happens, another ends after it, and the edge in between.
        let away = at % 2;
        fleet.end(away);
        let plugin = if step[0] == "install" { &old } else { &new };
        let plugin = plugin.to_str().expect("a path");
        let subject = if ["install", "update"].contains(&step[0]) { plugin } else { "team" };
        let command = [&["plugin", step[0], subject], &step[1..]].concat();
        done(&fleet.machines.run("edge", &command));
        fleet.restart_edge();
        fleet.begin(away);
        fleet.both_answer(versions);
        fleet.restart(1 - away);
        fleet.both_answer(versions);
    }
    done(&fleet.machines.run("edge", &["plugin", "remove", "team"]));
    fleet.restart(0);
    eventually("no node runs it", || {
        let codes = NODES.map(|node| fleet.machines.call(node).code);
        codes.iter().all(|code| *code != Some(0)).then_some(())
    });
    // Assigned again, it is called as it was approved.
    done(&fleet.machines.install(&old));
    fleet.both_answer(["1.0.0", "1.0.0"]);
    assert_eq!(fleet.plugin()["changes"], serde_json::json!([]));
}

#[test]
fn a_candidate_that_asks_for_more_is_shown_and_not_taken_unseen() {
    let fleet = Fleet::new();
    done(&fleet.machines.install(&fleet.version("1.0.0")));
    fleet.both_answer(["1.0.0", "1.0.0"]);
    let more = fleet.machines.team("more", "1.1.0", "");
    let manifest = more.join("oz0-plugin.yaml");
    replace(&manifest, "    action: ask\n", "    action: allow\n");
    let text = fs::read_to_string(&manifest).expect("it is there");
    fs::write(&manifest, format!("{text}\negress: [api.example.com]\n"))
        .expect("it can be written");
    fleet.machines.measure(&more);
    let refused = fleet.update(&more, &["--canary", "berlin"]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    for said in [
        "it asks for what that one does not ask for:",
        "the network, to api.example.com",
        "calls of team.add_note with less asking",
        "team 1.1.0 was not installed: it asks for more than 1.0.0, which is installed",
    ] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.all());
    }
    let shown = fleet.update(&more, &["--show", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["asks_more"].as_array().map(Vec::len), Some(2), "{shown}");
    assert_eq!(fleet.plugin()["candidate"], Value::Null);
    done(&fleet.update(&more, &["--canary", "berlin", "--yes"]));
    assert_eq!(fleet.plugin()["candidate"]["status"]["version"], "1.1.0");

    // Going back to a version that is older is asked for.
    done(&fleet.machines.run("edge", &["plugin", "promote", "--yes", "team"]));
    let older = fleet.update(&fleet.machines.path("1.0.0"), &["--yes"]);
    assert_eq!(older.code, Some(1), "{}", older.all());
    assert!(
        older.stderr.contains("team 1.0.0 is older than 1.1.0, which is installed"),
        "{}",
        older.all()
    );
    done(&fleet.update(&fleet.machines.path("1.0.0"), &["--downgrade", "--yes"]));
    fleet.both_answer(["1.0.0", "1.0.0"]);
}
