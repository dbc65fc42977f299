//! Requests as bytes: cookies, headers, forms that somebody else sends, and wrong tokens.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::operator::house::{House, function};

/// An answer: its head, and its body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (of, value) = line.split_once(':')?;
            of.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

fn send(house: &House, request: &str, headers: &str, body: &str) -> Answer {
    let edge = house.edge();
    let host = edge.strip_prefix("http://").expect("plain HTTP");
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time-out");
    let host = if headers.contains("Host:") { String::new() } else { format!("Host: {host}\r\n") };
    let length = body.len();
    write!(stream, "{request} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        .expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// Signs in, and gives the cookie.
fn sign_in(house: &House, headers: &str) -> (Answer, String) {
    let token = std::fs::read_to_string(house.data().join("admin.token")).expect("a token");
    let form = format!("token={}&next=%2Fplugins", token.trim());
    let answer = send(house, "POST /sign-in", &format!("{FORM}{headers}"), &form);
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    let pair = cookie.split(';').next().expect("a pair").to_owned();
    (answer, pair)
}

#[test]
fn a_session_is_a_strict_cookie_and_ends() {
    let (house, _plugin) = House::with("team", &[&function("hello", "One.")]);
    let outside = send(&house, "GET /plugins/team?page=1", "", "");
    assert_eq!(outside.status, 303);
    assert_eq!(outside.header("location"), Some("/sign-in?next=%2Fplugins%2Fteam%3Fpage%3D1"));
    let (answer, cookie) = sign_in(&house, "");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/plugins")));
    let set = answer.header("set-cookie").expect("a cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "over plain HTTP a browser would not send it back: {set}");

    let home = send(&house, "GET /", &format!("Cookie: {cookie}\r\n"), "");
    assert_eq!(home.status, 200);
    let policy = home.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(home.header("cache-control"), Some("no-store"));
    assert!(!home.body.contains("style="), "no style of a page's own");
    assert!(!home.body.contains("<script>"), "no script of a page's own");
    assert!(!home.body.contains("://"), "nothing of elsewhere: {}", home.body);

    // Somebody else's form has no token of this session, or the wrong one.
    let cookie = format!("{FORM}Cookie: {cookie}\r\n");
    assert_eq!(send(&house, "POST /sign-out", &cookie, "").status, 403);
    assert_eq!(send(&house, "POST /sign-out", &cookie, "csrf=0123").status, 403);
    let foreign = format!("{cookie}Origin: https://elsewhere.example\r\n");
    assert_eq!(send(&house, "POST /sign-out", &foreign, "").status, 403);
    let csrf =
        home.body.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let csrf = csrf.expect("a token in the form");
    assert_eq!(send(&house, "POST /sign-out", &cookie, &format!("csrf={csrf}")).status, 303);
    assert_eq!(send(&house, "GET /", &cookie, "").status, 303, "it is over");
}

#[test]
fn wrong_tokens_are_slowed_down() {
    let house = {
        let mut house = House::new();
        house.up(&[]);
        house
    };
    let wrong = |headers: &str| {
        send(&house, "POST /sign-in", &format!("{FORM}{headers}"), "token=oz0_admin_x_y")
    };
    for _ in 0..10 {
        assert_eq!(wrong("").status, 403);
    }
    let slowed = wrong("");
    assert_eq!(slowed.status, 429);
    assert!(slowed.header("retry-after").is_some());
    // What a proxy says that nobody named changes nothing.
    assert_eq!(wrong("X-Forwarded-For: 192.0.2.9\r\n").status, 429);
    // A node's token, and a client's, are no person's.
    let other = send(&house, "GET /", "Host: elsewhere.example\r\n", "");
    assert_eq!(other.status, 403);
}

#[test]
fn behind_a_named_proxy_the_public_address_counts() {
    let mut house = House::new();
    std::fs::create_dir_all(house.folder.path().join("config/oz0")).expect("a folder");
    std::fs::write(
        house.folder.path().join("config/oz0/config.toml"),
        "public_url = \"https://oz0.example\"\ntrusted_proxies = [\"127.0.0.1\"]\n",
    )
    .expect("it can be written");
    house.up(&[]);
    let front = "Host: oz0.example\r\nOrigin: https://oz0.example\r\nX-Forwarded-Proto: https\r\n";
    let (answer, _) = sign_in(&house, &format!("{front}X-Forwarded-For: 192.0.2.7\r\n"));
    assert!(answer.header("set-cookie").expect("a cookie").contains("; Secure"), "{}", answer.head);
    let log = house.json(&["audit", "--json", "--action", "console.sign_in"]);
    assert!(log.to_string().contains("192.0.2.7"), "{log}");
    // Who is slowed down is whoever the proxy stands for.
    let wrong = |from: &str| {
        let headers = format!("{FORM}{front}X-Forwarded-For: {from}\r\n");
        send(&house, "POST /sign-in", &headers, "token=x").status
    };
    for _ in 0..10 {
        assert_eq!(wrong("192.0.2.8"), 403);
    }
    assert_eq!(wrong("192.0.2.8"), 429);
    assert_eq!(wrong("192.0.2.9"), 403);
}
