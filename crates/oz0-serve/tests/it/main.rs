//! A port under peers that are many, slow, or both. The connections are pipes in memory with the addresses that a test gives
//! them, and the time is the test's.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use axum::serve::Listener;
use oz0_serve::{Bounds, Fair, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// A port that peers come to as the test says.
struct Port(mpsc::UnboundedReceiver<(DuplexStream, SocketAddr)>);

impl Listener for Port {
    type Io = DuplexStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (DuplexStream, SocketAddr) {
        match self.0.recv().await {
            Some(peer) => peer,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr::from(([192, 0, 2, 0], 80)))
    }
}

struct House(mpsc::UnboundedSender<(DuplexStream, SocketAddr)>);

impl House {
    fn new(bounds: Bounds) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let router = Router::new()
            .route("/", get(async || "here"))
            .route("/long", get(async || "y".repeat(1 << 20)));
        let port = Fair::new(Port(receiver), bounds.each);
        tokio::spawn(serve(port, router, bounds, std::future::pending()));
        Self(sender)
    }

    fn connect(&self, from: &str) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(1024);
        self.0.send((theirs, from.parse().unwrap())).unwrap();
        ours
    }

    /// What a request from there is answered with; nothing where the connection is closed at once.
    async fn ask(&self, from: &str) -> String {
        let mut stream = self.connect(from);
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        rest(stream).await
    }
}

async fn rest(mut stream: DuplexStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8(text).unwrap()
}

fn is_answered(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200") && answer.ends_with("here")
}

#[tokio::test(start_paused = true)]
async fn one_address_alone_keeps_nobody_else_out() {
    let bounds = Bounds { connections: 8, each: 4, ..Bounds::default() };
    let house = House::new(bounds);
    let refused = oz0_serve::refused();
    // Four are held, and the others are closed as they come.
    let held: Vec<_> = (1..=4).map(|port| house.connect(&format!("192.0.2.1:{port}"))).collect();
    for port in 5..=50 {
        assert_eq!(rest(house.connect(&format!("192.0.2.1:{port}"))).await, "");
    }
    assert!(oz0_serve::refused() >= refused + 46, "each is counted");
    let began = Instant::now();
    for other in ["192.0.2.2:1", "[2001:db8::1]:1", "127.0.0.1:1", "[::1]:1"] {
        assert!(is_answered(&house.ask(other).await), "{other}");
    }
    assert!(began.elapsed() < bounds.stall, "nobody waited for the silent ones to be let go");
    assert_eq!(house.ask("192.0.2.1:9").await, "", "it has its part already");
    drop(held);
    while !is_answered(&house.ask("192.0.2.1:9").await) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn many_addresses_of_one_network_are_one() {
    let house = House::new(Bounds { connections: 8, each: 2, ..Bounds::default() });
    let _held: Vec<_> =
        (1..=2).map(|host| house.connect(&format!("[2001:db8:0:1::{host}]:1"))).collect();
    assert_eq!(house.ask("[2001:db8:0:1:ffff::1]:1").await, "");
    assert!(is_answered(&house.ask("[2001:db8:0:2::1]:1").await));
}

#[tokio::test(start_paused = true)]
async fn loopback_gets_every_place_there_is() {
    let house = House::new(Bounds { connections: 300, each: 1, ..Bounds::default() });
    let _held: Vec<_> = (1..=299).map(|port| house.connect(&format!("127.0.0.1:{port}"))).collect();
    assert!(is_answered(&house.ask("127.0.0.1:300").await));
}

/// Sends a byte a second for as long as somebody takes it, and says how long that was.
async fn drip(mut stream: DuplexStream, start: &str, byte: u8) -> (Duration, String) {
    let began = Instant::now();
    stream.write_all(start.as_bytes()).await.unwrap();
    while stream.write_all(&[byte]).await.is_ok() {
        sleep(Duration::from_secs(1)).await;
        assert!(began.elapsed() < Duration::from_mins(5), "nobody ever closes it");
    }
    (began.elapsed(), rest(stream).await)
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_by_drops_is_not_waited_for() {
    let bounds = Bounds::default();
    let house = House::new(bounds);
    for start in ["", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: "] {
        let byte = if start.is_empty() { b'G' } else { b'y' };
        let (lasted, answer) = drip(house.connect("192.0.2.1:1"), start, byte).await;
        let late = bounds.stall + Duration::from_secs(3);
        assert!(lasted <= late, "{start:?}: {lasted:?}");
        assert!(!answer.contains("here"), "{start:?}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_not_waited_with() {
    let bounds = Bounds { connections: 1, ..Bounds::default() };
    let house = House::new(bounds);
    let mut slow = house.connect("192.0.2.1:1");
    slow.write_all(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let began = Instant::now();
    assert!(is_answered(&house.ask("192.0.2.2:1").await), "its place is free again");
    assert!(began.elapsed() <= bounds.stall + Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn an_edge_has_room_for_a_fleet_within_the_files_that_it_may_have_open() {
    let room = |open| {
        let Bounds { connections, each, .. } = Bounds::of_edge(open);
        (connections, each)
    };
    assert_eq!(room(u64::MAX), (8192, 2048));
    assert_eq!(room(524_288), (8192, 2048));
    assert_eq!(room(20_000), (6666, 1666));
    assert_eq!(room(4096), (1365, 341));
    assert_eq!(room(100), (64, 16));
}
