//! The client against real sockets whose other end misbehaves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use oz0_api::memory::pipe;
use oz0_api::node::PollQuery;
use oz0_api::{Client, ClientError, Code, Kind};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const LOCAL: &str = r#"{"actor":"local"}"#;

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Reads one request's head, answers it, and gives the head back.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let _ = stream.shutdown().await;
    String::from_utf8(head).unwrap()
}

/// A server that gives every connection one answer.
async fn peer(answer: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            serve(stream, &answer).await;
        }
    });
    address
}

async fn error_of(answer: String) -> ClientError {
    let address = peer(answer).await;
    Client::tcp(&format!("http://{address}")).unwrap().whoami().await.unwrap_err()
}

#[test]
fn plain_http_is_for_loopback_and_an_address_is_an_origin() {
    for good in [
        "http://127.0.0.1:7070",
        "http://localhost:7070/",
        "http://[::1]:7070",
        "http://127.8.8.8",
        "https://edge.example",
        "https://edge.example:8443",
        "https://192.0.2.1",
    ] {
        assert!(Client::tcp(good).is_ok(), "{good}");
    }
    for bad in [
        "http://edge.example",
        "http://192.0.2.1:7070",
        "http://localhost.evil.example",
        "http://0.0.0.0:7070",
        "ftp://localhost",
        "unix:/run/edge.sock",
        "localhost:7070",
        "https://user:pass@edge.example",
        "https://edge.example/v1",
        "https://edge.example?x",
        "",
    ] {
        let error = Client::tcp(bad).unwrap_err();
        assert!(matches!(error, ClientError::Address { .. }), "{bad}: {error}");
        assert_eq!(error.kind(), Kind::Usage);
    }
}

#[tokio::test]
async fn no_redirect_is_followed_and_no_token_goes_with_one() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = elsewhere.local_addr().unwrap();
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let redirect = format!(
            "HTTP/1.1 {status}\r\nLocation: http://{target}/v1/whoami\r\nContent-Length: 0\r\n\r\n"
        );
        let address = peer(redirect).await;
        let client = Client::tcp(&format!("http://{address}")).unwrap().with_token("secret");
        let error = client.whoami().await.unwrap_err();
        assert!(error.to_string().ends_with("and redirects are not followed"), "{error}");
    }
    let nobody = tokio::time::timeout(Duration::from_millis(200), elsewhere.accept()).await;
    assert!(nobody.is_err(), "somebody came to the redirect's target");
}

#[tokio::test]
async fn an_answer_that_is_no_edges_is_said_to_be() {
    for (answer, expected) in [
        (answer("200 OK", "<html>hello</html>"), "did not answer `GET /v1/whoami` as an edge does"),
        (answer("200 OK", r#"{"actor":1}"#), "did not answer `GET /v1/whoami` as an edge does"),
        (answer("502 Bad Gateway", "<html>"), "it answered 502 Bad Gateway without a problem"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned(),
            "its body could not be read",
        ),
        ("SSH-2.0-OpenSSH\r\n".to_owned(), "could not reach the edge at"),
        (String::new(), "could not reach the edge at"),
    ] {
        let error = error_of(answer).await;
        assert_eq!(error.kind(), Kind::Failed);
        assert!(error.to_string().contains(expected), "{error}");
    }
    let problem = r#"{"code":"conflict","message":"it is known","hint":"rename it"}"#;
    let error = error_of(answer("409 Conflict", problem)).await;
    assert_eq!(error.code(), Some(Code::Conflict));
    assert_eq!(error.kind(), Kind::Refused);
    assert_eq!((error.to_string().as_str(), error.hint()), ("it is known", Some("rename it")));
}

#[tokio::test(start_paused = true)]
async fn a_silent_edge_is_given_up_and_a_poll_is_given_its_wait() {
    let (connector, mut listener) = pipe();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Some(stream) = listener.accept().await {
            kept.push(stream);
        }
    });
    let client = Client::memory(connector);
    let started = tokio::time::Instant::now();
    let error = client.whoami().await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { seconds: 30, .. }), "{error}");
    assert_eq!(started.elapsed().as_secs(), 30);
    let error = client.poll(&PollQuery { wait: Some(25), ..PollQuery::default() }).await;
    assert!(matches!(error.unwrap_err(), ClientError::TimedOut { seconds: 55, .. }));
}

#[tokio::test]
async fn the_token_goes_out_as_a_bearer_and_nowhere_else() {
    let (connector, mut listener) = pipe();
    let head = tokio::spawn(async move {
        serve(listener.accept().await.unwrap(), &answer("200 OK", LOCAL)).await
    });
    let client = Client::memory(connector).with_token("  the-secret\n");
    client.whoami().await.unwrap();
    let head = head.await.unwrap();
    assert!(head.starts_with("GET /v1/whoami HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer the-secret\r\n"), "{head}");
    assert_eq!(head.matches("the-secret").count(), 1);
    assert!(!format!("{client:?}").contains("the-secret"));
    let error = client.with_token("a\nb").whoami().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Malformed), "before anything is sent");
}

#[tokio::test]
async fn tls_is_spoken_to_a_peer_whose_certificate_is_known_and_to_no_other() {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(server));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(stream) = acceptor.accept(stream).await {
                serve(stream, &answer("200 OK", LOCAL)).await;
            }
        }
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let known = Client::tcp_with(&format!("https://localhost:{port}"), config.clone()).unwrap();
    assert_eq!(known.whoami().await.unwrap().actor, "local");
    // Another name than the certificate's.
    let other = Client::tcp_with(&format!("https://127.0.0.1:{port}"), config).unwrap();
    let error = other.whoami().await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    // A certificate that the system does not know.
    let stranger = Client::tcp(&format!("https://localhost:{port}")).unwrap();
    let error = stranger.whoami().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
}
