//! What every route turns away, whoever asks: wrong methods and media types, bodies that are too long or no JSON, other hosts
//! and pages; and requests that one reader could take for another than the next.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::tokens::hello;
use super::wire::{Address, Answer, Request};
use super::{House, code};

#[test]
fn a_request_that_is_not_the_route_s_is_told_so() {
    let house = House::new();
    let to = house.address();
    let operations = house.operations();
    for operation in &operations {
        let name = operation.name();
        let token = house.token_for(operation).unwrap_or_default();
        let as_owner = |request: Request| request.token(token).send(&to);
        let told = |request: Request, status: u16, problem: &str, what: &str| {
            let answer = as_owner(request);
            let got = (answer.status, code(&answer));
            assert_eq!(got, (status, problem.to_owned()), "{name} {what}: {}", answer.body);
            if status != 405 {
                assert!(
                    operation.statuses.contains(&status),
                    "{name} {what}: {status} is described"
                );
            }
        };

        for method in ["PATCH", "TRACE", "BREW", "GET", "PUT", "POST", "DELETE"] {
            if operations.iter().any(|of| of.path == operation.path && of.method == method) {
                continue;
            }
            let answer = as_owner(Request::new(method, &operation.path));
            let got = (answer.status, code(&answer));
            assert_eq!(got, (405, "method_not_allowed".to_owned()), "{method} {}", operation.path);
            let allowed = answer.header("Allow").unwrap_or_default();
            assert!(allowed.split(',').any(|of| of.trim() == operation.method), "{}", answer.head);
        }

        let harmless = operation.harmless();
        let foreign = ["Host: evil.example\r\n", "Host: localhost.evil.example\r\n", ""];
        for host in foreign.into_iter().chain(["Host: localhost\r\nHost: localhost\r\n"]) {
            told(harmless.clone().host(host), 403, "wrong_origin", host);
        }
        for origin in ["http://evil.example", "http://localhost:1", "null", ""] {
            told(harmless.clone().header("Origin", origin), 403, "wrong_origin", origin);
        }

        let Some((media, limit)) = &operation.body else { continue };
        for wrong in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
        {
            let request = Request::new(&operation.method, &operation.path).body(wrong, "null");
            told(request, 415, "wrong_media_type", wrong);
        }
        let bare = Request::new(&operation.method, &operation.path).header("Content-Length", "0");
        told(bare, 415, "wrong_media_type", "without a media type");
        let right = |body: &str| Request::new(&operation.method, &operation.path).body(media, body);
        told(right("null").header("Content-Type", media), 415, "wrong_media_type", "with two");
        for encoding in ["gzip", "deflate", "br", "zstd", "identity, gzip"] {
            let request = right("null").header("Content-Encoding", encoding);
            told(request, 415, "wrong_media_type", encoding);
        }
        for broken in ["", "{", "[1", "{\"a\": 1}}", "\u{feff}null", "NaN"] {
            told(right(broken), 400, "malformed", broken);
        }
        let deep = "[".repeat(100_000);
        told(right(&deep), 400, "malformed", "100,000 lists in each other");
        let said = (limit + 1).to_string();
        let long = Request::new(&operation.method, &operation.path)
            .header("Content-Type", media)
            .header("Content-Length", &said);
        told(long, 413, "too_large", "a body that is said to be too long");
    }
}

#[test]
fn a_body_that_does_not_say_how_long_it_is_ends_at_the_limit() {
    let house = House::new();
    let head = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        house.tokens["admin"]
    );
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let bytes = [head, chunk.repeat(17), "0\r\n\r\n".to_owned()].concat();
    let answer = Answer::of(&house.address().exchange(bytes.as_bytes()));
    // A server that closes with bytes unread may take its own answer back.
    assert!([0, 413].contains(&answer.status), "{}", answer.body);
    assert_eq!(Request::get("/healthz").send(&house.address()).status, 200);
}

/// Requests that are bent, by name. In each, `ASK` stands for the method, `PATH` for the target, and `REST` for the fields and
/// the body of one that is done when it is straight.
const BENT: &[(&str, &str)] = &[
    ("an empty segment in front", "ASK /PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a path that goes up", "ASK /x/..PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("dots that are encoded", "ASK /%2e%2ePATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a slash that is encoded", "ASK %2fPATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a trailing slash", "ASK PATH/ HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a path's parameters", "ASK PATH;x=1 HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a NUL that is encoded", "ASK PATH%00 HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a backslash", "ASK \\PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a target elsewhere", "ASK http://evil.examplePATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a host elsewhere", "ASK http://localhostPATH HTTP/1.1\r\nHost: evil.example\r\nREST"),
    (
        "user information",
        "ASK http://localhost@evil.examplePATH HTTP/1.1\r\nHost: localhost\r\nREST",
    ),
    ("no host", "ASK PATH HTTP/1.1\r\nREST"),
    ("no host, of old", "ASK PATH HTTP/1.0\r\nREST"),
    ("two hosts", "ASK PATH HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nREST"),
    ("a folded host", "ASK PATH HTTP/1.1\r\nHost: localhost\r\n .evil.example\r\nREST"),
    ("a folded field", "ASK PATH HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb\r\nREST"),
    ("a space before the colon", "ASK PATH HTTP/1.1\r\nHost : localhost\r\nREST"),
    ("a bare carriage return", "ASK PATH HTTP/1.1\r\nHost: localhost\rX: y\r\nREST"),
    ("a NUL in a field", "ASK PATH HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\nREST"),
    ("a method that is none", "G(T PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a method in lower case", "get PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("two spaces", "ASK  PATH HTTP/1.1\r\nHost: localhost\r\nREST"),
    ("a version that is none", "ASK PATH HTTP/9.9\r\nHost: localhost\r\nREST"),
    ("HTTP/2 as if it were known", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("a tunnel", "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nREST"),
    (
        "two lengths",
        "ASK PATH HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 5\r\nREST",
    ),
    ("a length that is none", "ASK PATH HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\nREST"),
    ("a negative length", "ASK PATH HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\nREST"),
    (
        "an encoding that is none",
        "ASK PATH HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\nREST",
    ),
];

/// A request that is answered with 200.
struct Straight<'a> {
    method: &'a str,
    path: &'a str,
    /// Fields, each with its line end, and the body behind an empty line.
    rest: String,
}

/// No bent form of a request is answered as the straight one is, and none keeps the straight one from being answered.
fn no_bent_form_is_answered(to: &Address, straight: &Straight<'_>) {
    let Straight { method, path, rest } = straight;
    let ask = || {
        let bytes = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{rest}");
        Answer::of(&to.exchange(bytes.as_bytes())).status
    };
    assert_eq!(ask(), 200, "straight");
    let many = "X: y\r\n".repeat(65);
    let long = format!("X: {}\r\n", "y".repeat(70_000));
    let target = "/y".repeat(40_000);
    let more = [
        ("too many fields", format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{many}{rest}")),
        (
            "a field too long",
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{long}{rest}"),
        ),
        ("a target too long", format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{rest}")),
    ];
    let bent = BENT.iter().map(|(what, request)| {
        (*what, request.replace("ASK", method).replace("PATH", path).replace("REST", rest))
    });
    for (what, request) in bent.chain(more) {
        let bytes = to.exchange(request.as_bytes());
        let answer = Answer::of(&bytes);
        let refused = answer.status == 0 || (400..500).contains(&answer.status);
        assert!(refused, "{what}: {}\n{}", answer.head, answer.body);
        // One request, and no second one that was hidden in it.
        let answers = String::from_utf8_lossy(&bytes).matches("HTTP/1.1 ").count();
        assert!(answers <= 1, "{what}: {answers} answers");
        assert_eq!(ask(), 200, "after {what}");
    }
}

#[test]
fn a_bent_request_is_not_answered_by_the_edge() {
    let house = House::new();
    let token = &house.tokens["admin"];
    let rest = format!("Authorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    let straight = Straight { method: "GET", path: "/v1/plugins", rest };
    no_bent_form_is_answered(&house.address(), &straight);
    let rest = "Connection: close\r\n\r\n".to_owned();
    no_bent_form_is_answered(&house.address(), &Straight { method: "GET", path: "/healthz", rest });
}

#[test]
fn a_bent_request_is_not_answered_by_the_mcp_endpoint() {
    let house = House::new();
    house.machines.join("node", &house.url);
    let (_node, url) = house.machines.node("node");
    let hello = hello().token(&house.tokens["client"]).bytes();
    let hello = String::from_utf8(hello).expect("text");
    let rest = hello.split_once("Host: localhost\r\n").expect("it has one").1.to_owned();
    let straight = Straight { method: "POST", path: "/mcp", rest };
    no_bent_form_is_answered(&Address::of(&url), &straight);
}

/// RFC 9112, section 6.3: `Transfer-Encoding` overrides `Content-Length`, and what is behind its end is no request of its own.
#[test]
fn a_body_with_two_lengths_is_one_request() {
    let house = House::new();
    let token = &house.tokens["admin"];
    let hidden = format!(
        "GET /v1/plugins HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let request = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n{hidden}",
        hidden.len() + 5
    );
    let bytes = house.address().exchange(request.as_bytes());
    let answers = String::from_utf8_lossy(&bytes).matches("HTTP/1.1 ").count();
    assert_eq!(answers, 1, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(Answer::of(&bytes).status, 400, "an empty body is no JSON");
}

#[test]
fn three_hundred_connections_of_this_machine_are_in_nobody_s_way() {
    let house = House::new();
    let Address::Tcp(address) = house.address() else { unreachable!("it is on TCP") };
    let idle: Vec<TcpStream> = (0..300).map(|_| connect(&address)).collect();
    assert_eq!(Request::get("/healthz").send(&house.address()).status, 200);
    for stream in &idle {
        assert!(is_open(stream), "a connection on loopback is not closed for there being many");
    }
}

fn connect(address: &SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a time-out");
    stream
}

fn is_open(mut stream: &TcpStream) -> bool {
    stream.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}
