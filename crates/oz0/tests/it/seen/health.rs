//! `/healthz` and `/readyz` say what is so.

use crate::apart::Machines;
use crate::local::home::{Process, eventually};

use super::get;

const HERE: &str = "Host: localhost\r\n";

fn started(command: &mut std::process::Command) -> Process {
    let mut process = Process::start(command);
    let line = process.line();
    process.first = serde_json::from_str(&line)
        .unwrap_or_else(|error| panic!("{error}: {line}\n{}", process.said()));
    process
}

#[test]
fn a_node_is_ready_once_it_has_its_plugin_set_and_for_as_long_as_it_may_go_by_it() {
    let machines = Machines::new();
    let edge = |listen: &str| {
        let flags = ["edge", "--json", "--listen", listen, "--metrics-listen", "127.0.0.1:0"];
        started(&mut machines.oz0("edge", &flags))
    };
    let mut first = edge("127.0.0.1:0");
    let url = first.url("edge");
    assert_eq!(get(&first.url("metrics"), "/readyz", HERE), (200, "null".to_owned()));
    machines.join("berlin", &url);
    first.kill();

    // An edge that is away: the node runs, and can call nothing.
    let flags = ["node", "--json", "--mcp-listen", "127.0.0.1:0", "--edge-grace", "0"];
    let node = started(machines.oz0("berlin", &flags).args(["--metrics-listen", "127.0.0.1:0"]));
    for url in [node.url("metrics"), node.url("mcp")] {
        assert_eq!(get(&url, "/healthz", HERE).0, 200);
        let (status, why) = get(&url, "/readyz", HERE);
        assert_eq!(status, 503, "{why}");
        assert_eq!(get(&url, "/readyz", "Host: evil.example\r\n").0, 403);
    }
    let listen = url.strip_prefix("http://").unwrap();
    let mut second = edge(listen);
    let ready = || get(&node.url("mcp"), "/readyz", HERE).0;
    eventually("the node is ready", || ready() == 200);
    assert_eq!(get(&node.url("metrics"), "/readyz", HERE).0, 200);

    // With no grace it goes by nothing without its edge.
    second.kill();
    eventually("the node is not ready any more", || ready() == 503);
    assert_eq!(get(&node.url("mcp"), "/healthz", HERE).0, 200);
}
