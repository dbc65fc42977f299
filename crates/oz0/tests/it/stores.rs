//! Edges over PostgreSQL with real nodes, and what is done with a store: backup, restore, migration.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use oz0_peers::postgres::{Postgres, address, create_database};
use serde_json::{Value, json};

use crate::apart::{Machines, pem, said};
use crate::running::{Running, eventually};
use crate::support::{Said, run};

/// Edges that share a database and a folder of bundles.
struct Fleet {
    machines: Machines,
    server: Postgres,
}

impl Fleet {
    fn new() -> Self {
        let server = Postgres::start().expect("a server");
        create_database(server.folder(), "oz0").expect("a database");
        Self { machines: Machines::new(), server }
    }

    fn kept(&self) -> [String; 4] {
        let bundles = self.machines.path("shared-bundles").display().to_string();
        let store = address(self.server.folder(), "oz0");
        ["--store".to_owned(), store, "--bundles".to_owned(), bundles]
    }

    /// Runs the edge of a machine, at this address; and its URL.
    fn edge(&self, machine: &str, listen: &str) -> (Running, String) {
        let mut command = self.machines.oz0(machine, &["edge", "--json", "--listen", listen]);
        let running = Running::start(command.args(self.kept()));
        let url = said(&running, "edge");
        (running, url)
    }

    /// A command of a person, at this edge.
    fn at(&self, url: &str, arguments: &[&str]) -> Command {
        let token = fs::read_to_string(self.machines.path("edge/admin.token")).expect("a token");
        let mut command = self.machines.oz0("person", arguments);
        command.env("OZ0_EDGE", url).env("OZ0_TOKEN", token.trim());
        command
    }

    fn run(&self, url: &str, arguments: &[&str]) -> Said {
        run(&mut self.at(url, arguments))
    }

    fn json(&self, url: &str, arguments: &[&str]) -> Value {
        let said = self.run(url, arguments);
        assert_eq!(said.code, Some(0), "{}", said.all());
        serde_json::from_str(&said.stdout).expect("JSON")
    }

    fn call(&self, url: &str, node: &str) -> Said {
        self.run(url, &["call", "team.hello", "{\"name\": \"you\"}", "--node", node])
    }

    fn callable(&self, url: &str, node: &str) {
        eventually(&format!("{node} answers a call that {url} was asked for"), || {
            (self.call(url, node).code == Some(0)).then_some(())
        });
    }

    fn verifies(&self, url: &str) {
        let checked = self.json(url, &["audit", "verify", "--json"]);
        assert_eq!(checked["faults"], json!([]), "{checked}");
    }
}

#[test]
fn two_edges_over_one_database_are_one_to_their_nodes() {
    let fleet = Fleet::new();
    let (one, first) = fleet.edge("edge", "127.0.0.1:0");
    let (_two, second) = fleet.edge("other", "127.0.0.1:0");
    fleet.machines.join("berlin", &first);
    fleet.machines.join("paris", &second);
    let (_berlin, _) = fleet.machines.node("berlin");
    let (_paris, _) = fleet.machines.node("paris");
    // Brought to one edge, fetched from the other.
    let team = fleet.machines.team("team", "1.0.0", "");
    let installed = fleet.run(&first, &["plugin", "install", team.to_str().expect("a path")]);
    assert_eq!(installed.code, Some(0), "{}", installed.all());
    for (url, node) in [(&first, "paris"), (&second, "berlin"), (&second, "paris")] {
        fleet.callable(url, node);
    }
    // Decided at one, obeyed at the other's node.
    let denied = fleet.run(&first, &["policy", "set", "team.*", "refuse"]);
    assert_eq!(denied.code, Some(0), "{}", denied.all());
    eventually("paris refuses", || (fleet.call(&second, "paris").code == Some(1)).then_some(()));
    let asks = fleet.run(&second, &["policy", "set", "team.*", "ask"]);
    assert_eq!(asks.code, Some(0), "{}", asks.all());
    // Asked about at one, approved at the other.
    let asked = ["call", "team.hello", "{\"name\": \"you\"}", "--node", "paris"];
    // Until the node has heard of the policy it refuses, and a call that was refused does not come to wait.
    let start = || fleet.at(&second, &asked).stdout(Stdio::piped()).spawn().expect("oz0 starts");
    let mut call = start();
    let id = eventually("the call waits", || {
        if call.try_wait().expect("it is looked at").is_some() {
            call = start();
        }
        let waiting = fleet.json(&first, &["approvals", "list", "--json"]);
        waiting["approvals"][0]["id"].as_str().map(str::to_owned)
    });
    let approved = fleet.run(&first, &["approvals", "approve", &id, "--yes"]);
    assert_eq!(approved.code, Some(0), "{}", approved.all());
    let ended = call.wait_with_output().expect("it ends");
    assert!(ended.status.success());

    // One ends by kill -9 in the middle of calls. The other's node goes on, and all that was acknowledged is there.
    let allowed = fleet.run(&first, &["policy", "set", "team.*", "allow"]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.all());
    fleet.callable(&first, "berlin");
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let mut call = fleet.at(&first, &["call", "team.hello", "{\"name\": \"you\"}"]);
            let quiet = call.stdout(Stdio::null()).stderr(Stdio::null());
            quiet.spawn().expect("oz0 starts")
        })
        .collect();
    one.kill();
    for call in calls {
        // Answered, or said to be lost: none is waited for without end.
        call.wait_with_output().expect("it ends");
    }
    fleet.callable(&second, "paris");
    fleet.verifies(&second);
    let other = fleet.run(&second, &["token", "create", "--client", "claude"]);
    assert_eq!(other.code, Some(0), "{}", other.all());
    // It comes back where it was, and its node with it.
    let listen = first.trim_start_matches("http://");
    let (_one, _) = fleet.edge("edge", listen);
    fleet.callable(&first, "berlin");
    fleet.callable(&second, "berlin");
    let tokens = fleet.json(&first, &["token", "list", "--json"]);
    assert!(tokens.to_string().contains("claude"), "{tokens}");
    fleet.verifies(&first);
}

#[test]
fn nodes_go_on_while_the_database_is_away_and_edges_come_back_by_themselves() {
    let fleet = Fleet::new();
    let (_one, first) = fleet.edge("edge", "127.0.0.1:0");
    fleet.machines.join("berlin", &first);
    let (_berlin, mcp) = fleet.machines.node("berlin");
    let team = fleet.machines.team("team", "1.0.0", "");
    let installed = fleet.run(&first, &["plugin", "install", team.to_str().expect("a path")]);
    assert_eq!(installed.code, Some(0), "{}", installed.all());
    fleet.callable(&first, "berlin");
    let created = fleet.json(&first, &["token", "create", "--client", "claude", "--json"]);
    let secret = created["secret"].as_str().expect("a token").to_owned();
    let through = || {
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "team__hello", "arguments": {"name": "you"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let mut curl = Command::new("curl");
        curl.args(["-s", "-X", "POST", &mcp, "-H", "Content-Type: application/json"]);
        curl.args(["-H", "Accept: application/json, text/event-stream"]);
        curl.args(["-H", "MCP-Protocol-Version: 2026-07-28", "-H", "Mcp-Method: tools/call"]);
        curl.args(["-H", "Mcp-Name: team__hello"]);
        curl.args(["-H", &format!("Authorization: Bearer {secret}"), "-d", &ask.to_string()]);
        Said::from(curl.output().expect("curl runs")).stdout
    };
    let before = eventually("a client's call is answered", || {
        let answer = through();
        answer.contains("\"content\"").then_some(answer)
    });
    let ready = || {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}", &format!("{first}/readyz")]);
        Said::from(curl.output().expect("curl runs")).stdout
    };
    fleet.server.tell("stop immediate").expect("it stops");
    assert_eq!(eventually("it is not ready", || Some(ready()).filter(|code| code != "200")), "503");
    let refused = fleet.run(&first, &["plugin", "list"]);
    assert_eq!(refused.code, Some(3), "{}", refused.all());
    assert!(refused.stderr.contains("the database does not answer"), "{}", refused.all());
    assert!(refused.stderr.contains("the edge needs no restart"), "{}", refused.all());
    assert_eq!(through(), before, "the node goes on");
    fleet.server.tell("start").expect("it starts");
    eventually("it is ready again", || (ready() == "200").then_some(()));
    fleet.callable(&first, "berlin");
    fleet.verifies(&first);
}

#[test]
fn a_running_edge_is_backed_up_and_restored_into_a_file_and_into_a_database() {
    let machines = Machines::new();
    let (edge, url) = machines.edge("127.0.0.1:0");
    machines.join("berlin", &url);
    let (berlin, _) = machines.node("berlin");
    let installed = machines.install(&machines.team("team", "1.0.0", ""));
    assert_eq!(installed.code, Some(0), "{}", installed.all());
    machines.callable_on("berlin");
    let backup = machines.path("oz0.backup");
    let file = backup.to_str().expect("a path");
    let made = machines.done("edge", &["edge", "backup", file]);
    assert!(made.starts_with("backed up the store "), "{made}");
    assert!(made.contains(" with 1 version, 1 bundle and a log of "), "{made}");
    let again = machines.run("edge", &["edge", "backup", file]);
    assert_eq!(again.code, Some(3), "{}", again.all());
    // Not over what is there, whether an edge runs on it or not.
    let refused = machines.run("edge", &["edge", "restore", file]);
    assert_eq!(refused.code, Some(3), "{}", refused.all());
    drop(edge);
    let refused = machines.run("edge", &["edge", "restore", file]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(refused.stderr.contains("holds a store already"), "{}", refused.all());
    assert!(refused.stderr.contains("hint: give another `--data DIR`"), "{}", refused.all());

    // The machine is lost. What is restored under its name is what its node speaks to, with the plugin and its snapshot.
    let listen = url.trim_start_matches("http://").to_owned();
    fs::rename(machines.path("edge"), machines.path("lost")).expect("it can be moved");
    let restored = machines.done("edge", &["edge", "restore", file]);
    assert!(restored.starts_with("restored the store "), "{restored}");
    assert!(restored.contains("the admin token is in "), "{restored}");
    let (edge, _) = machines.edge(&listen);
    machines.callable_on("berlin");
    let checked = machines.json("edge", &["audit", "verify", "--json"]);
    assert_eq!(checked["faults"], json!([]), "{checked}");
    drop(edge);

    // And from there into PostgreSQL.
    let server = Postgres::start().expect("a server");
    let store = create_database(server.folder(), "oz0").expect("a database");
    let second = machines.path("second.backup");
    let second = second.to_str().expect("a path");
    machines.done("edge", &["edge", "backup", second]);
    fs::rename(machines.path("edge"), machines.path("file")).expect("it can be moved");
    machines.done("edge", &["edge", "restore", second, "--store", &store]);
    let refused = machines.run("elsewhere", &["edge", "restore", second, "--store", &store]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    let (_edge, _) = machines.edge_with(&["--listen", &listen, "--store", &store]);
    machines.callable_on("berlin");
    let checked = machines.json("edge", &["audit", "verify", "--json"]);
    assert_eq!(checked["faults"], json!([]), "{checked}");
    drop(berlin);
}

#[test]
fn a_schema_is_brought_to_the_newest_once() {
    let machines = Machines::new();
    let made = machines.done("edge", &["edge", "migrate"]);
    assert!(made.starts_with("made a store, its schema at step "), "{made}");
    let again = machines.done("edge", &["edge", "migrate"]);
    assert!(again.starts_with("nothing to do: the schema is at step "), "{again}");
    let (_edge, _) = machines.edge("127.0.0.1:0");
    let refused = machines.run("edge", &["edge", "migrate"]);
    assert_eq!(refused.code, Some(3), "{}", refused.all());
    assert!(refused.stderr.contains("another edge is running on"), "{}", refused.all());
}

#[test]
fn a_stores_password_is_shown_nowhere() {
    let machines = Machines::new();
    let store = "postgres://oz0:hunter2@127.0.0.1:1/oz0";
    let flags = ["edge", "--listen", "127.0.0.1:0"];
    for (code, store) in [
        (3, store.to_owned()),
        (2, format!("{store}?passwort=hunter2")),
        (2, "mysql://oz0:hunter2@127.0.0.1/oz0".to_owned()),
    ] {
        let mut command = machines.oz0("edge", &flags);
        let said = run(command.env("OZ0_STORE", &store).env("OZ0_LOG", "trace"));
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(!said.all().contains("hunter2"), "{}", said.all());
    }
    fs::create_dir_all(machines.path("config/oz0")).expect("a folder");
    let config = format!("store = \"{store}\"\n");
    fs::write(machines.path("config/oz0/config.toml"), config).expect("it can be written");
    let said = machines.run("edge", &["edge", "backup", "oz0.backup"]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("the database does not answer"), "{}", said.all());
    assert!(!said.all().contains("hunter2"), "{}", said.all());
}

/// A server with TLS, and the port that it listens on.
fn with_tls(certificate: &Path, key: &Path) -> (Postgres, u16) {
    let server = Postgres::prepare().expect("a server");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    drop(listener);
    let folder = server.folder().display().to_string();
    for (from, to) in [(certificate, "server.pem"), (key, "server.key")] {
        let copy = format!("install -m 0600 {} {folder}/{to}", from.display());
        server.tell(&copy).expect("it can be copied");
    }
    for line in [
        "listen_addresses = '127.0.0.1'".to_owned(),
        format!("port = {port}"),
        "ssl = on".to_owned(),
        format!("ssl_cert_file = '{folder}/server.pem'"),
        format!("ssl_key_file = '{folder}/server.key'"),
    ] {
        server.tell(&format!("conf {line}")).expect("it is written");
    }
    server.tell("start").expect("it starts");
    (server, port)
}

#[test]
fn a_database_is_spoken_to_with_tls_whose_certificate_and_name_are_checked() {
    let machines = Machines::new();
    // A folder that the server's user reads too.
    let folder = tempfile::TempDir::new_in("/tmp").expect("a folder");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("it can be opened");
    let made = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])
            .expect("a certificate");
        let files =
            [folder.path().join(format!("{name}.pem")), folder.path().join(format!("{name}.key"))];
        fs::write(&files[0], pem("CERTIFICATE", made.cert.der())).expect("it can be written");
        fs::write(&files[1], pem("PRIVATE KEY", made.signing_key.serialized_der()))
            .expect("it can be written");
        files
    };
    let [certificate, key] = made("own");
    let [other, _] = made("other");
    let (_server, port) = with_tls(&certificate, &key);
    let migrate = |host: &str, authority: &Path| {
        let store = format!(
            "postgres://oz0@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={}",
            authority.display()
        );
        machines.run("edge", &["edge", "migrate", "--store", &store])
    };
    let said = migrate("localhost", &other);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("certificate"), "{}", said.all());
    let said = migrate("127.0.0.1", &certificate);
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("certificate"), "{}", said.all());
    let said = migrate("localhost", &certificate);
    assert_eq!(said.code, Some(0), "{}", said.all());
}
