//! Configurations of clients.

use std::path::Path;

use oz0_scaffold::client::{self, Entry};
use oz0_scaffold::{Refusal, Server};

use crate::support::{working, write};

/// Read where no project is.
fn read(text: &str, is_toml: bool, name: Option<&str>) -> Result<Entry, Refusal> {
    client::read(text, is_toml, name, Path::new("/nowhere"))
}

fn command(entry: &Entry) -> Vec<&str> {
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
    // What a client fills in is left as it stands: it is refused where it is wrapped.
    for (text, is_toml) in [
        (
            r#"{"servers": {"r": {"url": "https://mcp.example.com/", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}"#,
            false,
        ),
        (
            "[mcp_servers.r]\nurl = \"https://mcp.example.com/\"\nbearer_token_env_var = \"TOKEN\"\n",
            true,
        ),
        (
            "[mcp_servers.r]\nurl = \"https://mcp.example.com/\"\n[mcp_servers.r.env_http_headers]\nAuthorization = \"TOKEN\"\n",
            true,
        ),
    ] {
        let Server::Remote { headers, .. } = read(text, is_toml, None).unwrap().server else {
            panic!()
        };
        assert_eq!(headers[0].0, "Authorization", "{text}");
        assert!(headers[0].1.contains("${"), "{text}");
    }
    let text = r#"{"mcpServers": {"r": {"command": "npx", "args": ["mcp-remote", "https://mcp.example.com/", "--header", "Authorization: Bearer ${TOKEN}"]}}}"#;
    assert_eq!(
        command(&read(text, false, None).unwrap()).last(),
        Some(&"Authorization: Bearer ${TOKEN}")
    );
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

#[test]
fn claude_codes_own_file_has_servers_for_folders_and_for_everywhere() {
    let text = r#"{"numStartups": 3, "projects": {
        "/home/me/one": {"allowedTools": [], "mcpServers": {"time": {"command": "near"}}},
        "/home/me": {"mcpServers": {"time": {"command": "above"}, "git": {"command": "above"}}},
        "/home/me/other": {"mcpServers": {"fetch": {"url": "https://fetch.example.com/"}}},
        "/home/me/none": {"mcpServers": {}}
    }, "mcpServers": {"git": {"command": "everywhere"}, "notes": {"command": "everywhere"}}}"#;
    let of = |name: &str, working: &str| {
        let entry = client::read(text, false, Some(name), Path::new(working)).unwrap();
        let Server::Command(words) = entry.server else { panic!() };
        (words[0].clone(), entry.folder)
    };
    let found =
        |command: &str, folder: Option<&str>| (command.to_owned(), folder.map(str::to_owned));
    assert_eq!(of("time", "/home/me/one/src"), found("near", Some("/home/me/one")));
    assert_eq!(of("git", "/home/me/one"), found("above", Some("/home/me")));
    assert_eq!(of("git", "/srv"), found("everywhere", None));
    assert_eq!(of("notes", "/home/me/one"), found("everywhere", None));
    let refused = |name: Option<&str>, working: &Path, text: &str| {
        let refusal = client::read(text, false, name, working).unwrap_err();
        format!("{refusal} | {}", refusal.help().expect("a hint"))
    };
    let (_folder, here) = working();
    let srv = Path::new("/srv");
    let mut told = vec![
        refused(Some("time"), srv, text),
        refused(Some("nothing"), srv, text),
        refused(None, srv, text),
        refused(None, srv, r#"{"projects": {"/a": {"mcpServers": {"x": {"command": "x"}}}}}"#),
        refused(None, srv, r#"{"projects": {}, "mcpServers": {}}"#),
        refused(Some("x"), srv, r#"{"projects": {}, "mcpServers": {}}"#),
    ];
    write(&here, ".mcp.json", r#"{"mcpServers": {"time": {"command": "shared"}}}"#);
    let shared = refused(Some("time"), &here.join("src"), text);
    told.push(shared.replace(here.to_str().unwrap(), "HERE"));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn codex_has_projects_beside_its_servers() {
    let text =
        "[projects.\"/srv\"]\ntrust_level = \"trusted\"\n[mcp_servers.one]\ncommand = \"x\"\n";
    assert_eq!(command(&client::read(text, true, None, Path::new("/srv")).unwrap()), ["x"]);
}
