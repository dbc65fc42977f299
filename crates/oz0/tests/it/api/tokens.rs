//! Who may do what: every route with every kind of token.

use std::fs;
use std::process::Command;

use super::wire::{Address, Request};
use super::{House, code};
use crate::apart::Machines;
use crate::running::peers;
use crate::support::run;

#[test]
fn each_kind_of_token_does_its_own_work_alone() {
    let house = House::new();
    let (tcp, socket) = (house.address(), house.socket());
    for operation in house.operations() {
        let name = operation.name();
        let open = operation.kinds.is_empty();
        let harmless = operation.harmless();
        for (kind, token) in &house.tokens {
            for (surface, to) in [("TCP", &tcp), ("the socket", &socket)] {
                let answer = harmless.clone().token(token).send(to);
                let may = open || operation.kinds.iter().any(|of| of == kind);
                let what = format!("{name} with a token of kind {kind} over {surface}");
                if may {
                    assert!(![0, 401, 403].contains(&answer.status), "{what}: {}", answer.body);
                    assert!(answer.status < 500, "{what}: {}", answer.body);
                } else {
                    assert_eq!((answer.status, &*code(&answer)), (403, "forbidden"), "{what}");
                }
            }
        }

        let nobody = harmless.send(&tcp);
        if open {
            assert_eq!(nobody.status, 200, "{name}");
            continue;
        }
        assert_eq!((nobody.status, &*code(&nobody)), (401, "unauthenticated"), "{name}");
        assert_eq!(nobody.header("WWW-Authenticate"), Some("Bearer"), "{name}");
        let local = harmless.send(&socket);
        if operation.socket {
            assert!(![0, 401, 403].contains(&local.status), "{name}: {}", local.body);
        } else {
            assert!([401, 403].contains(&local.status), "{name}: {}", local.body);
        }
        for (what, token) in &house.void {
            for to in [&tcp, &socket] {
                let answer = harmless.clone().token(token).send(to);
                assert_eq!(answer.status, 401, "{name} with a token that is {what}");
            }
        }
        let own = house.token_for(&operation).expect("a token");
        let basic = harmless.clone().header("Authorization", &format!("Basic {own}"));
        assert_eq!(basic.send(&tcp).status, 401, "{name}");
        let twice = harmless.clone().token(own).token(own);
        assert_eq!(twice.send(&tcp).status, 401, "{name} with two tokens");
        let path = format!("{}?access_token={own}", operation.path);
        let in_query = Request::new(&operation.method, &path);
        assert_eq!(in_query.send(&tcp).status, 401, "{name} with a token in its URL");
    }
}

#[test]
fn an_mcp_client_s_token_alone_opens_the_mcp_endpoint() {
    let house = House::new();
    house.machines.join("node", &house.url);
    let (_node, url) = house.machines.node("node");
    let mcp = Address::of(&url);
    let request = hello();
    assert_eq!(request.send(&mcp).status, 401);
    for (kind, token) in &house.tokens {
        let status = request.clone().token(token).send(&mcp).status;
        assert_eq!(status, if *kind == "client" { 200 } else { 401 }, "{kind}");
    }
    for (what, token) in &house.void {
        assert_eq!(request.clone().token(token).send(&mcp).status, 401, "{what}");
    }
    let client = &house.tokens["client"];
    let twice = request.clone().token(client).token(client).send(&mcp);
    assert_eq!(twice.status, 400, "two tokens: {}", twice.body);
}

/// What an MCP client says first.
pub(super) fn hello() -> Request {
    let hello = r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}"#;
    Request::post("/mcp", hello).header("Accept", "application/json, text/event-stream")
}

#[test]
fn a_join_token_works_once_and_not_after_an_hour() {
    let house = House::new();
    let address = house.address();
    let join = |token: &str| Request::post("/v1/join", "null").token(token).send(&address);
    let token = &house.tokens["join"];
    let at_once: Vec<u16> = std::thread::scope(|scope| {
        let joins: Vec<_> = (0..8).map(|_| scope.spawn(|| join(token).status)).collect();
        joins.into_iter().map(|join| join.join().expect("it ends")).collect()
    });
    assert_eq!(at_once.iter().filter(|status| **status == 200).count(), 1, "{at_once:?}");
    assert!(at_once.iter().all(|status| [200, 401].contains(status)), "{at_once:?}");
    assert_eq!(join(token).status, 401, "replayed");

    // An hour later: what the edge wrote down is moved back, while it is not there.
    let late = house.machines.done("edge", &["token", "create", "--node", "late"]);
    let House { machines, edge, .. } = house;
    drop(edge);
    age(&machines);
    let (_edge, url) = machines.edge("127.0.0.1:0");
    let request = Request::post("/v1/join", "null").token(late.trim());
    let answer = request.send(&Address::of(&url));
    assert_eq!(answer.status, 401, "{}", answer.body);
}

/// Moves what the edge remembers of tokens back by an hour and a second.
fn age(machines: &Machines) {
    let store = machines.path("edge").join("edge.db");
    let script = "import sqlite3, sys\n\
                  db = sqlite3.connect(sys.argv[1])\n\
                  n = db.execute('UPDATE tokens SET expires_at = expires_at - 3601000 WHERE expires_at IS NOT NULL')\n\
                  assert n.rowcount > 0\n\
                  db.commit()\n";
    assert!(fs::metadata(&store).is_ok(), "{}", store.display());
    let aged = run(Command::new(peers().python()).args(["-c", script]).arg(&store));
    assert_eq!(aged.code, Some(0), "{}", aged.all());
}
