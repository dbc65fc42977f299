//! Origins: spellings that are one, and spellings that are none.

use oz0_mcp::{BoundHeaders, Endpoint, HeaderName, HeaderValue, Origin, OriginError};

fn shown(text: &str) -> String {
    Origin::parse(text)
        .map_or_else(|error| format!("refused: {error}"), |origin| origin.to_string())
}

#[test]
fn spellings_of_one_origin_are_one() {
    for (text, origin) in [
        ("https://EXAMPLE.com:443/a?b#c", "https://example.com"),
        ("https://example.com:0443", "https://example.com"),
        ("https://example.com./", "https://example.com"),
        ("https://example.com.:8443/", "https://example.com:8443"),
        ("https://exämple.com/", "https://xn--exmple-cua.com"),
        ("https://xn--exmple-cua.com/", "https://xn--exmple-cua.com"),
        ("https://faß.de/", "https://xn--fa-hia.de"),
        ("https://ｅxample.com/", "https://example.com"),
        ("https://ex%61mple.com/", "https://example.com"),
        ("http://127.0.0.1./", "http://127.0.0.1"),
        ("http://0x7f.1:80/", "http://127.0.0.1"),
        ("https://[::1]:8443/", "https://[::1]:8443"),
        ("https://example.com/a@b//c@d", "https://example.com"),
        ("https://example.com/?u=http://a@b", "https://example.com"),
    ] {
        assert_eq!(shown(text), origin, "{text}");
        assert_eq!(Origin::parse(text).unwrap(), Origin::parse(origin).unwrap());
    }
}

#[test]
fn what_could_pass_for_another_host_is_refused() {
    for text in [
        "https://user@example.com/",
        "https://user:pw@example.com/",
        "https://@example.com/",
        "https://:@example.com/",
        "https://example.com@evil.example/",
    ] {
        assert_eq!(Origin::parse(text), Err(OriginError::UserInfo), "{text}");
    }
    for text in [
        "https://example.com\\@evil.example/",
        "https:\\\\example.com",
        "https://exa\tmple.com/",
        "https://example.com/\r\n",
        " https://example.com/",
        "https://example.com/a b",
    ] {
        assert_eq!(Origin::parse(text), Err(OriginError::Ambiguous), "{text:?}");
    }
    for text in ["ftp://example.com/", "file:///etc/passwd", "data:text/plain,a", "javascript:1"] {
        assert!(matches!(Origin::parse(text), Err(OriginError::Scheme(_))), "{text}");
    }
    for text in ["", "example.com", "//example.com", "https://", "https://./", "https://a../"] {
        assert!(Origin::parse(text).is_err(), "{text}");
    }
}

#[test]
fn plain_http_goes_to_this_machine_only() {
    for text in [
        "http://localhost:3000/mcp",
        "http://a.localhost/",
        "http://localhost./",
        "http://127.0.0.1/",
        "http://127.9.9.9/",
        "http://[::1]/",
        "https://example.com/",
    ] {
        assert!(Endpoint::new(text).is_ok(), "{text}");
    }
    for text in [
        "http://example.com/",
        "http://localhost.example.com/",
        "http://notlocalhost/",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://[::ffff:10.0.0.1]/",
    ] {
        assert_eq!(Endpoint::new(text).unwrap_err(), OriginError::PlainHttp, "{text}");
    }
}

#[test]
fn an_endpoint_shows_neither_its_headers_nor_its_query() {
    let headers = bound("https://example.com");
    let url = "https://example.com/mcp?key=secret";
    let endpoint = Endpoint::new(url).unwrap().with(headers.clone()).unwrap();
    assert_eq!(format!("{endpoint:?}"), "Endpoint(https://example.com/mcp)");
    assert_eq!(format!("{headers:?}"), "BoundHeaders(for https://example.com)");
}

fn bound(pin: &str) -> BoundHeaders {
    let headers = BoundHeaders::to(pin.parse().unwrap());
    let token = HeaderValue::from_static("Bearer secret");
    headers.set(HeaderName::from_static("authorization"), token);
    headers
}

#[test]
fn headers_go_to_the_origin_that_they_are_for_or_nowhere() {
    for url in ["https://example.com/", "https://EXAMPLE.com.:443/mcp", "https://example.com/a/b"] {
        assert!(Endpoint::new(url).unwrap().with(bound("https://example.com/")).is_ok(), "{url}");
    }
    for url in [
        "https://example.com:8443/",
        "https://evil.example/",
        "https://a.example.com/",
        "https://example.com.evil.example/",
        "http://localhost/",
    ] {
        let endpoint = Endpoint::new(url).unwrap();
        let error = endpoint.clone().with(bound("https://example.com/")).unwrap_err();
        assert_eq!(
            (&error.origin, error.pin.to_string()),
            (endpoint.origin(), "https://example.com".to_owned())
        );
    }
    let plain = Endpoint::new("http://localhost:443/").unwrap();
    assert!(plain.with(bound("https://localhost/")).is_err(), "the scheme is part of it");
}
