//! Configurations of clients.

use oz0_scaffold::Server;
use oz0_scaffold::client::read;

fn command(entry: &oz0_scaffold::client::Entry) -> Vec<&str> {
    let Server::Command(words) = &entry.server else { panic!("{entry:?}") };
    words.iter().map(String::as_str).collect()
}

#[test]
fn the_forms_of_many_clients_are_read() {
    for (text, is_toml) in [
        (r#"{"mcpServers": {"one": {"command": "npx", "args": ["-y", "x"]}}}"#, false),
        (
            r#"{"servers": {"one": {"type": "stdio", "command": "npx", "args": ["-y", "x"],}}, /* */ "inputs": []}"#,
            false,
        ),
        (
            r#"{"context_servers": {"one": {"command": {"path": "npx", "args": ["-y", "x"]}}}}"#,
            false,
        ),
        (r#"{"mcp": {"one": {"type": "local", "command": ["npx", "-y", "x"]}}}"#, false),
        (r#"{"mcp": {"servers": {"one": {"command": "npx", "args": ["-y", "x"]}}}}"#, false),
        ("[mcp_servers.one]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n", true),
    ] {
        let entry = read(text, is_toml, None).unwrap();
        assert_eq!(
            (entry.name.as_str(), command(&entry)),
            ("one", vec!["npx", "-y", "x"]),
            "{text}"
        );
    }
}

#[test]
fn secrets_are_named_and_their_values_left_where_they_are() {
    let text = r#"{"mcpServers": {"gh": {"command": "x", "cwd": "/somewhere", "env": {
        "GITHUB_TOKEN": "ghp_0123456789abcdefghij", "ASKED": "${input:key}", "LOG_LEVEL": "info", "PORT": 80}}}}"#;
    let entry = read(text, false, Some("gh")).unwrap();
    assert_eq!(entry.secrets, ["ASKED", "GITHUB_TOKEN"]);
    let env: Vec<_> =
        entry.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("LOG_LEVEL", "info"), ("PORT", "80")]);
    assert_eq!(entry.folder.as_deref(), Some("/somewhere"));
}

#[test]
fn remote_servers_have_their_headers() {
    let text = r#"{"servers": {"r": {"type": "http", "url": "https://mcp.example.com/", "headers": {"X-A": "b"}}}}"#;
    let entry = read(text, false, None).unwrap();
    let Server::Remote { url, headers } = entry.server else { panic!() };
    assert_eq!(url, "https://mcp.example.com/");
    assert_eq!(headers, [("X-A".to_owned(), "b".to_owned())]);
}

#[test]
fn what_only_the_client_can_fill_in_and_what_is_missing_is_refused() {
    let refused = |text: &str, name: Option<&str>| {
        let refusal = read(text, false, name).unwrap_err();
        format!("{refusal} | {}", refusal.help().unwrap_or(""))
    };
    let two = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"url": 7}, "c": {}}}"#;
    let told = [
        refused(two, None),
        refused(two, Some("d")),
        refused(two, Some("b")),
        refused(two, Some("c")),
        refused(
            r#"{"mcpServers": {"a": {"command": "x", "args": ["${workspaceFolder}/y"]}}}"#,
            None,
        ),
        refused(r#"{"mcpServers": {}}"#, None),
        refused(r#"{"theme": "dark"}"#, None),
        refused("{", None),
    ];
    insta::assert_snapshot!(told.join("\n"));
}
