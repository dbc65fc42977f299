//! Commands that fetch a package, commands that are refused, and URLs.

use oz0_scaffold::Server;

use crate::support::{outcome, working, wrapping};

fn of(command: &[&str]) -> String {
    let (_folder, here) = working();
    std::fs::create_dir(here.join("notes")).unwrap();
    let command: Vec<String> =
        command.iter().map(|word| word.replace("HERE", here.to_str().unwrap())).collect();
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let told = outcome(&wrapping(&here, &words));
    told.replace(
        "note: the server has no network; name the hosts that it reaches with --egress HOST\n",
        "",
    )
}

fn all(commands: &[&[&str]]) -> String {
    let told: Vec<String> = commands
        .iter()
        .map(|command| format!("$ {}\n{}", command.join(" "), of(command)))
        .collect();
    told.join("\n")
}

#[test]
fn packages_of_npm() {
    insta::assert_snapshot!(all(&[
        &["npx", "-y", "@modelcontextprotocol/server-filesystem", "HERE/notes"],
        &["npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31", "stdio"],
        &["/usr/local/bin/npx", "context7-mcp@latest"],
        &["bunx", "@playwright/mcp@^1.0", "--headless"],
        &["pnpm", "dlx", "some-mcp"],
        &["npm", "exec", "--yes", "--", "some-mcp@1.2.3", "--", "x"],
        &["cmd", "/c", "npx", "-y", "some-mcp"],
        &["npx", "-y", "-p", "some-package@1.0.0", "other-program", "--flag"],
        &["npx", "-y", "-p", "@scope/some-package", "some-package"],
    ]));
}

#[test]
fn packages_of_pypi() {
    insta::assert_snapshot!(all(&[
        &["uvx", "mcp-server-git", "--repository", "./notes"],
        &["uvx", "mcp-server-git==2026.10.19", "--repository=HERE/notes"],
        &["uvx", "mcp-server-time@2026.10.19"],
        &["uvx", "mcp_server_fetch@latest"],
        &["uvx", "--python", "3.12", "--from", "some-tools[mcp]>=1.2", "some-tools"],
        &["uvx", "--from", "some-tools==1.2", "some-server", "serve"],
        &["uvx", "--with", "httpx", "some-server==1.0"],
        &["uv", "tool", "run", "mcp-server-time"],
        &["pipx", "run", "mcp-server-time==2026.10.19", "--local-timezone", "UTC"],
        &["pipx", "run", "--spec", "some-tools==1.2", "some-server"],
        &["env", "TZ=UTC", "uvx", "mcp-server-time"],
    ]));
}

#[test]
fn what_is_no_release_or_runs_elsewhere_is_refused_with_what_to_do() {
    insta::assert_snapshot!(all(&[
        &["docker", "run", "-i", "--rm", "mcp/time"],
        &["/usr/bin/podman", "run", "mcp/time"],
        &["ssh", "host", "server"],
        &["sudo", "server"],
        &["go", "run", "."],
        &["npm", "start"],
        &["poetry", "run", "server"],
        &["npx", "github:me/server"],
        &["npx", "-y", "./server"],
        &["npx", "--registry", "https://r.example.com", "x"],
        &["npx", "-c", "a | b"],
        &["npx", "-p", "a", "-p", "b", "c"],
        &["uvx", "--from", "git+https://example.com/x.git", "x"],
        &["uvx", "--from", ".", "x"],
        &["uvx", "--index", "https://r.example.com", "x"],
        &["python3", "-m", "mcp_server_git"],
        &["no-such-program"],
        &["python3", "nowhere.py"],
        &["node", "HERE/build/index.js"],
        &["npx"],
        &["env", "-i", "npx", "x"],
        &[],
    ]));
}

#[test]
fn a_shell_with_one_command_is_that_command_and_any_other_is_refused() {
    insta::assert_snapshot!(all(&[
        &["bash", "-c", "npx -y some-mcp@1.0.0 --flag 'two words'"],
        &["/bin/sh", "-lc", "exec uvx some-mcp==1.0"],
        &["sh", "-c", "LOG=1 exec uvx some-mcp==1.0", "ignored"],
        &["env", "-S", "LOG=1 npx some-mcp@1.0.0", "--flag"],
        &["/usr/bin/env", "--split-string=bash -c 'npx some-mcp@1.0.0'"],
        &["cmd.exe", "/d", "/s", "/c", "npx -y some-mcp@1.0.0"],
        &["bash", "-c", "cd /srv && npx some-mcp"],
        &["bash", "-c", "npx some-mcp --key \"$KEY\""],
        &["zsh", "-c", "npx 'open"],
        &["bash", "-o", "pipefail", "-c", "npx some-mcp"],
        &["bash", "-c"],
        &["sh", "-c", ""],
        &["sh", "-c", "docker run x"],
        &["env", "-S", "npx ${X}"],
        &["cmd", "/c", "npx", "some-mcp", "&&", "other"],
        &["cmd", "/k", "npx", "some-mcp"],
        &["powershell", "-Command", "npx some-mcp"],
    ]));
}

#[test]
fn remote_servers() {
    let (_folder, here) = working();
    let remote = |url: &str, headers: &[(&str, &str)]| {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let url = url.to_owned();
        let server = Server::Remote { url, headers };
        outcome(&oz0_scaffold::Wrapping { server, ..wrapping(&here, &[]) })
    };
    let told = [
        remote("https://mcp.linear.app/mcp", &[]),
        remote("https://api.example.com/mcp?x=1", &[("X-Client", "oz0")]),
        remote("http://127.0.0.1:8080/mcp", &[("X-Team", "red")]),
        remote("http://mcp.other.org/mcp", &[]),
        remote("https://me:secret@mcp.third.net/mcp", &[]),
        remote("nowhere", &[]),
    ];
    let (_other, there) = working();
    let bridge = [
        "npx",
        "-y",
        "mcp-remote@latest",
        "https://mcp.example.com/sse",
        "--header",
        "X-Team: red",
    ];
    let bridged = outcome(&wrapping(&there, &bridge));
    insta::assert_snapshot!(told.join("\n") + "\n" + &bridged);
}

#[test]
fn a_secret_of_a_remote_server_is_refused_and_written_nowhere() {
    let (_folder, here) = working();
    let remote = |url: &str, headers: &[(&str, &str)], secrets: &[&str]| {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let server = Server::Remote { url: url.to_owned(), headers };
        let secrets = secrets.iter().map(|name| (*name).to_owned()).collect();
        outcome(&oz0_scaffold::Wrapping { server, secrets, ..wrapping(&here, &[]) })
    };
    let url = "https://mcp.example.com/mcp";
    let bridge = ["npx", "mcp-remote", url, "--header", "Authorization: Bearer ${TOKEN}"];
    let told = [
        remote(url, &[("Authorization", "Bearer ghp_0123456789abcdefghij")], &[]),
        remote(url, &[("Authorization", "Bearer ${TOKEN}")], &[]),
        remote(url, &[("X-Api-Key", "12345678")], &[]),
        remote(&format!("{url}?api_key=abcdefgh12345678"), &[], &[]),
        remote(url, &[], &["TOKEN"]),
        outcome(&wrapping(&here, &bridge)),
    ];
    assert!(told.iter().all(|told| told.starts_with("refused: ") && told.contains("\nhint: ")));
    assert_eq!(std::fs::read_dir(&here).unwrap().count(), 0);
    let told = told.map(|told| told.lines().next().unwrap_or_default().to_owned());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn variables_secrets_hosts_and_the_licence_go_into_the_manifest() {
    let (_folder, here) = working();
    let wrapping = oz0_scaffold::Wrapping {
        env: [
            ("LOG_LEVEL", "debug"),
            ("API_TOKEN", "abcdef0123456789"),
            ("NOTES", here.to_str().unwrap()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        secrets: vec!["GITHUB_TOKEN".to_owned()],
        egress: vec!["api.github.com".to_owned()],
        license: Some("MIT".to_owned()),
        folder: Some("../elsewhere-for-this-test".into()),
        ..wrapping(&here, &["npx", "some-mcp@1.0.0", "--dsn", "postgres://me:pw@db.example.com/x"])
    };
    let told = outcome(&wrapping);
    std::fs::remove_dir_all(here.join("../elsewhere-for-this-test")).unwrap();
    insta::assert_snapshot!(told.replace(here.parent().unwrap().to_str().unwrap(), "ABOVE"));
}

#[test]
fn names_are_checked_and_a_folder_that_is_there_is_left_as_it_is() {
    let (_folder, here) = working();
    let command = ["npx", "some-mcp@1.0.0"];
    let named = |name: &str| {
        outcome(&oz0_scaffold::Wrapping {
            name: Some(name.to_owned()),
            ..wrapping(&here, &command)
        })
    };
    assert!(named("My Server").starts_with("refused: `My Server` is no plugin's name\nhint: "));
    assert!(named("My Server").contains("--name my-server"));
    assert!(named("oz").starts_with("refused"));
    assert!(outcome(&wrapping(&here, &command)).starts_with("HERE/some: oz0-plugin.yaml\n"));
    let again = outcome(&wrapping(&here, &command));
    assert!(again.starts_with("refused: HERE/some is a plugin already"), "{again}");
    let forced =
        oz0_scaffold::Wrapping { force: true, ..wrapping(&here, &["npx", "some-mcp@1.0.1"]) };
    assert!(outcome(&forced).contains("npm:some-mcp@1.0.1"));
    std::fs::create_dir(here.join("other")).unwrap();
    std::fs::write(here.join("other/file"), "").unwrap();
    let taken = outcome(&wrapping(&here, &["npx", "other-mcp@1.0.0"]));
    assert!(taken.starts_with("refused: HERE/other is there already"), "{taken}");
}

#[test]
fn a_plugin_is_not_put_into_a_folder_that_its_server_works_on() {
    let (_folder, here) = working();
    let told = outcome(&wrapping(&here, &["uvx", "mcp-server-git==1.0", "--repository", "."]));
    assert!(told.starts_with("refused: the plugin would lie in HERE"), "{told}");
    assert!(told.contains("--dir"), "{told}");
}

#[test]
fn a_bare_word_that_is_a_folder_here_is_not_guessed_at_and_one_with_a_slash_is_a_path() {
    let (_folder, here) = working();
    std::fs::create_dir_all(here.join("notes/old")).unwrap();
    let bare = ["uvx", "mcp-server-git==1.0", "--repository", "notes"];
    let told = outcome(&wrapping(&here, &bare));
    assert!(told.contains("warning: notes is a folder here"), "{told}");
    let path = ["uvx", "mcp-server-time==1.0", "--repository", "notes/old"];
    let told = outcome(&wrapping(&here, &path));
    assert!(told.contains("HERE/notes/old"), "{told}");
}
