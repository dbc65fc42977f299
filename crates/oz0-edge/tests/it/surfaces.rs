//! The three surfaces, and what is not answered on them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use oz0_api::{Client, ClientError, Code, Kind};
use oz0_edge::{Bounds, Options};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::house::{House, options, plugin, refused};

async fn on_tcp(house: &House) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let edge = house.edge.clone();
    let hosts = BTreeSet::from(["edge.example".to_owned()]);
    tokio::spawn(async move { edge.serve_tcp(listener, hosts, std::future::pending()).await });
    address
}

/// Sends a request's exact bytes and gives the answer's status and body.
async fn raw(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    (status, body)
}

async fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String) {
    raw(address, &format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).await
}

#[tokio::test]
async fn the_same_api_is_on_every_surface() {
    let house = House::new().await;
    house.install(&plugin("team", "1.0.0", &["team"])).await;
    let token = std::fs::read_to_string(house.edge.admin_token_file()).unwrap();

    let address = on_tcp(&house).await;
    let tcp = Client::tcp(&format!("http://{address}")).unwrap();
    assert_eq!(refused(tcp.plugins().await), Code::Unauthenticated);
    assert_eq!(tcp.with_token(&token).plugins().await.unwrap().len(), 1);
    let localhost = Client::tcp(&format!("http://localhost:{}", address.port())).unwrap();
    assert_eq!(localhost.with_token(&token).plugins().await.unwrap().len(), 1);
    tcp.ready().await.unwrap();

    let socket = house.data().join("edge.sock");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn({
        let (edge, socket) = (house.edge.clone(), socket.clone());
        async move {
            let stopped = async {
                let _ = stopped.await;
            };
            edge.serve_unix(&socket, stopped).await.unwrap();
        }
    });
    let unix = Client::unix(&socket);
    while unix.ready().await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(unix.plugins().await.unwrap().len(), 1, "the socket serves reads");
    assert_eq!(refused(unix.remove(&"team".parse().unwrap()).await), Code::Forbidden);
    unix.with_token(&token).remove(&"team".parse().unwrap()).await.unwrap();
    drop(unix);
    stop.send(()).unwrap();
    served.await.unwrap();
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_browser_that_was_tricked_is_not_answered() {
    let house = House::new().await;
    let address = on_tcp(&house).await;
    let port = address.port();
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(get(address, "/healthz", &own).await.0, 200);
    for served in ["Host: localhost\r\n", "Host: [::1]:80\r\n", "Host: edge.example:443\r\n"] {
        assert_eq!(get(address, "/healthz", served).await.0, 200, "{served}");
    }
    for host in [
        "Host: evil.example\r\n",
        "Host: 127.0.0.1.evil.example\r\n",
        "Host: localhost.evil.example\r\n",
        "Host: user@localhost\r\n",
        "Host: localhost/evil\r\n",
        "Host: localhost\r\nHost: localhost\r\n",
        "",
    ] {
        let status = get(address, "/healthz", host).await.0;
        assert!(status == 403 || status == 400, "{host}: {status}");
    }
    let origin = |origin: &str| format!("{own}Origin: {origin}\r\n");
    assert_eq!(get(address, "/healthz", &origin(&format!("http://127.0.0.1:{port}"))).await.0, 200);
    for foreign in ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", ""] {
        let (status, body) = get(address, "/healthz", &origin(foreign)).await;
        assert_eq!(status, 403, "{foreign}");
        assert!(body.contains("wrong_origin"), "{body}");
    }
}

/// Read without its last member, it would let every call through.
const MISSPELT: &str =
    r#"{"rule": {"match": "*", "action": "allow", "whne": {"/path": {"const": "/tmp"}}}}"#;

#[tokio::test]
async fn every_error_has_one_shape() {
    let house = House::new().await;
    let address = on_tcp(&house).await;
    let token = std::fs::read_to_string(house.edge.admin_token_file()).unwrap();
    let token = token.trim();
    let head = format!("Host: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n");
    let post = |path: &str, kind: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\n{head}{kind}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let json = "Content-Type: application/json\r\n";
    let long = format!("{{\"changes\": [{}]}}", " ".repeat(2 * 1024 * 1024));
    let cases = [
        (format!("GET /nothing HTTP/1.1\r\n{head}\r\n"), 404, "not_found"),
        (format!("PATCH /v1/plugins HTTP/1.1\r\n{head}\r\n"), 405, "method_not_allowed"),
        (format!("GET /v1/plugins/Bad%20Name HTTP/1.1\r\n{head}\r\n"), 400, "malformed"),
        (format!("GET /v1/plugins/none HTTP/1.1\r\n{head}\r\n"), 404, "not_found"),
        (format!("GET /v1/audit?after=x HTTP/1.1\r\n{head}\r\n"), 400, "malformed"),
        (format!("GET /v1/audit?afterr=1 HTTP/1.1\r\n{head}\r\n"), 400, "malformed"),
        (post("/v1/tokens", json, "{"), 400, "malformed"),
        (post("/v1/tokens", json, r#"{"kind":"admin","name":"a","more":1}"#), 400, "malformed"),
        (post("/v1/policy", json, MISSPELT), 400, "malformed"),
        (post("/v1/tokens", "Content-Type: text/plain\r\n", "{}"), 415, "wrong_media_type"),
        (post("/v1/plugins/team/approve", json, &long), 413, "too_large"),
        (
            "GET /v1/plugins HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
            401,
            "unauthenticated",
        ),
    ];
    for (request, status, code) in cases {
        let line = request.lines().next().unwrap().to_owned();
        let (got, body) = raw(address, &request).await;
        assert_eq!(got, status, "{line}: {body}");
        let problem: oz0_api::Problem = serde_json::from_str(&body).unwrap();
        assert_eq!(serde_json::to_value(problem.code).unwrap(), code, "{line}");
        assert!(!problem.message.ends_with('.'), "{line}: {problem}");
    }
}

#[tokio::test]
async fn an_edge_that_is_not_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::tcp(&format!("http://{address}")).unwrap().whoami().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert_eq!(error.kind(), Kind::Failed);
    let error = Client::unix(std::path::Path::new("/nonexistent/edge.sock")).whoami().await;
    assert!(error.unwrap_err().to_string().starts_with("could not reach the edge at /nonexistent"));
}

/// What a connection gets until the edge closes it.
async fn until_closed(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    let all = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest));
    let _ = all.await.expect("the connection is closed");
    String::from_utf8_lossy(&rest).into_owned()
}

#[tokio::test]
async fn nobody_is_waited_for_who_sends_by_drops() {
    let folder = TempDir::new().unwrap();
    let bounds = Bounds { connections: 3, stall: Duration::from_millis(300), ..Bounds::default() };
    let options = Options { bounds, ..options(folder.path()) };
    let house = House::open_with(folder, options).await;
    let address = on_tcp(&house).await;
    let token = std::fs::read_to_string(house.edge.admin_token_file()).unwrap();
    let begin = async |text: String| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    };

    // All that the edge takes at once, each held by one that is slow in its own way: nothing, half a head, half a body.
    let silent = begin(String::new()).await;
    let head = begin("GET /healthz HTTP/1.1\r\nHost: local".to_owned()).await;
    let body = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{",
        token.trim()
    );
    let body = begin(body).await;
    let other = get(address, "/healthz", "Host: localhost\r\n");
    let other = tokio::time::timeout(Duration::from_secs(10), other);
    assert_eq!(other.await.expect("their places are free again").0, 200);
    assert_eq!(until_closed(silent).await, "");
    assert_eq!(until_closed(head).await, "");
    let answer = until_closed(body).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("the body did not come within"), "{answer}");

    // A body of which a little more comes all the time has no more time than one that stopped.
    let dripped = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
        token.trim()
    );
    let (mut reader, mut writer) = begin(dripped).await.into_split();
    let drops = tokio::spawn(async move {
        while writer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = Vec::new();
    let all = tokio::time::timeout(Duration::from_secs(10), reader.read_to_end(&mut answer));
    let _ = all.await.expect("the connection is closed");
    drops.abort();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
}
