//! What parses, what does not, and what is one and the same.

use oz0_api::{ChangeId, Endpoint, NodeName, PluginName, PluginVersion};
use proptest::prelude::*;

#[track_caller]
fn parses<T: std::str::FromStr>(texts: &[&str]) {
    for text in texts {
        assert!(text.parse::<T>().is_ok(), "{text:?}");
    }
}

#[track_caller]
fn fails<T: std::str::FromStr>(texts: &[&str]) {
    for text in texts {
        assert!(text.parse::<T>().is_err(), "{text:?}");
    }
}

#[test]
fn names_are_parsed_at_the_door() {
    let long = "a".repeat(63);
    parses::<PluginName>(&["a", "team", "a-1", &long]);
    fails::<PluginName>(&[
        "",
        "A",
        "1a",
        "-a",
        "a_b",
        "a.b",
        "t\u{e9}am",
        "a\n",
        &format!("{long}a"),
    ]);
    parses::<NodeName>(&["node-1", "1", "a.b_c-d"]);
    fails::<NodeName>(&["", "Node", ".a", "a b", "a/b", &format!("{long}a")]);
    parses::<PluginVersion>(&["1.2.3", "1.0.0-rc.1+build"]);
    fails::<PluginVersion>(&["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3 "]);
    let hex = "0123456789abcdef".repeat(4);
    parses::<ChangeId>(&[&hex]);
    fails::<ChangeId>(&["", &hex[1..], &hex.to_uppercase(), &format!("{hex}0")]);
}

#[test]
fn a_message_about_a_name_shows_what_is_hidden_in_it() {
    let error = "te\u{200b}am\u{1b}[2J".parse::<PluginName>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`te\\u{200B}am\\u{1B}[2J` is not a plugin's name: a lower-case letter, then up to 62 \
         lower-case letters, digits and `-`"
    );
    let long = "x".repeat(10_000).parse::<ChangeId>().unwrap_err().to_string();
    assert!(long.len() < 250, "{long}");
}

#[test]
fn a_change_id_is_of_its_parts_and_not_of_their_text() {
    assert_eq!(ChangeId::over(&["a", "b"]), ChangeId::over(&["a", "b"]));
    assert_ne!(ChangeId::over(&["ab", ""]), ChangeId::over(&["a", "b"]));
    assert_ne!(ChangeId::over(&["a"]), ChangeId::over(&["a", ""]));
}

#[test]
fn an_endpoint_is_an_origin_however_it_is_written() {
    for (text, expected) in [
        ("https://mcp.example.com", "https://mcp.example.com"),
        ("https://mcp.example.com:443/mcp?x#y", "https://mcp.example.com"),
        ("HTTPS://MCP.EXAMPLE.COM./", "https://mcp.example.com"),
        ("https://mcp.example.com:8443/", "https://mcp.example.com:8443"),
        ("http://127.0.0.1:80/", "http://127.0.0.1"),
        ("http://0x7f.1/", "http://127.0.0.1"),
        ("https://[::1]:443/", "https://[::1]"),
        ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example"),
        ("https://mcp.example.com/{team}/mcp", "https://mcp.example.com"),
        ("https://{host}/mcp", "https://{host}"),
        ("https://{team}.Example.com:8443/mcp", "https://{team}.example.com:8443"),
    ] {
        let endpoint: Endpoint = text.parse().unwrap();
        assert_eq!(endpoint.as_str(), expected, "{text}");
        assert_eq!(expected.parse::<Endpoint>().unwrap(), endpoint, "written and read again");
        assert_eq!(endpoint.is_template(), expected.contains('{'));
    }
    fails::<Endpoint>(&[
        "",
        "mcp.example.com",
        "ftp://mcp.example.com",
        "https://",
        "https:///mcp",
        "https://.",
        "https://..",
        "https://mcp.example.com..",
        "https://.example.com",
        "https://mcp..example.com",
        "https://user@mcp.example.com",
        "https://user:pass@mcp.example.com",
        "https://mcp.example.com\\@evil.example",
        "https://mcp.example.com:99999",
        "https://mcp example.com",
        "https://{host}@evil.example/",
        "https://{ho st}/",
    ]);
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic_and_what_parses_prints_as_itself(text in "\\PC{0,80}") {
        if let Ok(name) = text.parse::<PluginName>() {
            prop_assert_eq!(name.to_string(), text.clone());
        }
        if let Ok(endpoint) = text.parse::<Endpoint>() {
            prop_assert_eq!(endpoint.to_string().parse::<Endpoint>().unwrap(), endpoint);
        }
    }

    #[test]
    fn an_endpoint_that_is_written_is_read_as_the_same(text in "https?://[a-z{}.:@0-9/\\[\\]-]{0,40}") {
        if let Ok(endpoint) = text.parse::<Endpoint>() {
            prop_assert_eq!(endpoint.to_string().parse::<Endpoint>().unwrap(), endpoint);
        }
    }
}
