//! Secrets and connections of the built binary: where their values go, and where they never do.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use oz0_issuer::{Issuer, MARK};
use oz0_mcp::EraChoice;
use serde_json::Value;

use crate::local::home::{Home, Plugin, Process, eventually};
use crate::operator::house::Terminal;
use crate::support::Said;

/// Texts that stand nowhere else. Every value of these tests has the issuer's mark, which is looked for.
const VALUE: &str = "s3cr3t-of-a-process";
const TOKEN: &str = "s3cr3t-of-a-connection";
const CONNECTIONS: &str =
    "connections:\n  tracker:\n    secrets: [TRACKER_TOKEN]\n    scopes: {read: [team.hello]}\n";

/// Everything, in the log's own form.
const LOG: [&str; 4] = ["--log", "trace", "--log-format", "json"];

/// Runs a command that reads this.
fn given(command: &mut Command, input: &str) -> Said {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that needs nothing of it may be gone.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

fn done(said: Said) -> Said {
    assert_eq!(said.code, Some(0), "{}", said.all());
    said
}

/// A plugin whose process says in its variables whose it is.
fn plugin(home: &Home, name: &str, more: &str) -> Plugin {
    let plugin = Plugin::new(home, name);
    let who = format!("{name}-of-{}", home.folder.path().display());
    plugin.write(
        "oz0-plugin.yaml",
        &format!(
            "name: {name}\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  {name}:\n    \
             mcp: {{command: [./oz0-actor, script.json], env: {{WHO: '{who}'}}}}\n{more}"
        ),
    );
    plugin
}

/// Whose processes have this in their variables, of those that this home's servers are.
fn who_has(home: &Home, text: &str) -> BTreeSet<String> {
    let mark = format!("-of-{}", home.folder.path().display());
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
        let variables = String::from_utf8_lossy(&variables).into_owned();
        let mut variables = variables.split('\0');
        let all: Vec<&str> = variables.by_ref().collect();
        let who = all.iter().find_map(|one| one.strip_prefix("WHO=")?.strip_suffix(mark.as_str()));
        match who {
            Some(who) if all.iter().any(|one| one.contains(text)) => {
                found.insert(who.to_owned());
            }
            None if text == VALUE || text == TOKEN => {
                let own =
                    all.iter().any(|one| one.contains(&*home.folder.path().to_string_lossy()));
                let has = all.iter().any(|one| one.contains(text));
                assert!(!(own && has), "a process of oz0's own has it: {all:?}");
            }
            _ => {}
        }
    }
    found
}

/// The files below a folder that hold a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn call(home: &Home, function: &str) -> Said {
    home.run(&["call", function, "{\"x\": 1}", "--json"])
}

/// Everything that anybody can be shown has no secret in it.
fn nowhere(home: &Home, up: &Process, said: &[&Said]) {
    for command in [
        &["secret", "list", "--json"][..],
        &["secret", "list"],
        &["connection", "list", "--json"],
        &["connection", "list"],
        &["plugin", "list", "--json"],
        &["catalog", "--json"],
        &["audit", "--json"],
        &["node", "list", "--json"],
    ] {
        let said = home.run(command);
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(!said.all().contains(MARK), "{command:?}\n{}", said.all());
    }
    for said in said {
        assert!(!said.all().contains(MARK), "{}", said.all());
    }
    let log = up.said();
    let line = log.lines().find(|line| line.contains(MARK));
    assert!(line.is_none(), "it is logged: {line:?}");
    assert_eq!(files_with(&home.data(), MARK), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_the_declared_process_and_nothing_that_is_shown_or_kept() {
    let home = Home::new();
    let team = plugin(&home, "team", &format!("requires: {{secrets: [TEAM_KEY]}}\n{CONNECTIONS}"));
    let other = plugin(&home, "other", "requires: {optional_secrets: [OTHER_KEY]}\n");
    let mut up = home.up(&LOG, &[&team, &other]);
    eventually("the other is called", || call(&home, "other.hello").code == Some(0));
    assert_eq!(call(&home, "team.hello").code, Some(1), "it does not run without");

    let set = |name: &str, value: &str| given(&mut home.oz0(&["secret", "set", name]), value);
    let first = done(set("team/TEAM_KEY", &format!("{VALUE}\n")));
    let connected = done(given(
        &mut home.oz0(&["connection", "connect", "team/tracker"]),
        &format!("{TOKEN}\n"),
    ));
    eventually("it is called", || call(&home, "team.hello").code == Some(0));
    assert_eq!(who_has(&home, VALUE), BTreeSet::from(["team".to_owned()]));
    assert_eq!(who_has(&home, "WHO="), BTreeSet::from(["other".to_owned(), "team".to_owned()]));
    assert_eq!(who_has(&home, TOKEN), BTreeSet::new(), "a token goes with calls");
    // The actor says what it was called with, and so what its call carried: a client is told, as with any result. What an
    // operator asks for is kept by the edge until it is read, and has no token in it.
    let client = up.client(EraChoice::Legacy, None).await;
    let hello = async |name: &str| {
        let params = format!(r#"{{"name":"{name}","arguments":{{"x":1}}}}"#);
        crate::seen::call(&client, &params).await.unwrap().to_string()
    };
    assert!(hello("team__hello").await.contains(TOKEN));
    assert!(!hello("other__hello").await.contains(MARK));
    let shown = call(&home, "team.hello").all();
    assert!(shown.contains("[secret]") && !shown.contains(MARK), "{shown}");

    // What is refused is not repeated either.
    let wrong = [
        set("team/NOTHING", VALUE),
        set("nothing/TEAM_KEY", VALUE),
        set("team/TEAM_KEY", &format!("{VALUE}\0")),
        given(&mut home.oz0(&["secret", "set", "team/TRACKER_TOKEN"]), TOKEN),
        given(&mut home.oz0(&["connection", "connect", "team/nothing"]), TOKEN),
        given(&mut home.oz0(&["connection", "connect", "team/tracker", "--param", "a=b"]), TOKEN),
        given(
            &mut home.oz0(&["secret", "set", "team/TEAM_KEY", "--edge", "http://127.0.0.1:9"]),
            VALUE,
        ),
    ];
    for said in &wrong {
        assert!(matches!(said.code, Some(1..=3)), "{}", said.all());
    }
    let mut all: Vec<&Said> = wrong.iter().collect();
    all.extend([&first, &connected]);
    nowhere(&home, &up, &all);

    done(home.run(&["connection", "disconnect", "team/tracker"]));
    eventually("calls that need it are refused", || {
        let said = call(&home, "team.hello");
        said.code == Some(1) && said.all().contains("team/tracker is not connected")
    });
    done(home.run(&["secret", "unset", "team/TEAM_KEY"]));
    eventually("no process has it any more", || who_has(&home, VALUE).is_empty());
    nowhere(&home, &up, &[]);
    assert_eq!(up.end(), Some(0));
    assert_eq!(files_with(&home.data(), MARK), [] as [String; 0]);
    assert!(!up.said().contains(MARK) && !up.said().contains("panicked"), "{}", up.said());
}

#[test]
fn a_person_connects_a_remote_server_in_a_browser_and_ends_it() {
    let issuer = Issuer::new();
    let home = Home::new();
    let weather = Plugin::new(&home, "weather");
    weather.write(
        "oz0-plugin.yaml",
        "name: weather\nversion: 1.0.0\nkind: connector\ndescription: A test.\nlicense: MIT\ntools:\n  wx:\n    \
         url: http://{host}/mcp\n    connection: wx\nconnections:\n  wx:\n    params: {host: {}}\n    \
         scopes: {read: [wx.seen]}\n",
    );
    let up = home.up(&LOG, &[&weather]);
    let host = format!("host={}", issuer.address());
    let connect = |more: &[&str]| {
        let mut arguments = vec![
            "connection",
            "connect",
            "weather/wx",
            "--oauth",
            "--no-browser",
            "--param",
            &host,
        ];
        arguments.extend(more);
        Process::start(home.oz0(&arguments).stdin(Stdio::null()))
    };
    let browsed = |process: &mut Process| {
        process.says("code_challenge_method=S256");
        let said = process.said();
        let url = said.lines().find(|line| line.starts_with("http://")).unwrap().to_owned();
        assert_eq!(oz0_issuer::browse(&url), 200, "{said}");
        process.ended()
    };
    let mut connecting = connect(&[]);
    assert_eq!(browsed(&mut connecting), Some(0), "{}", connecting.said());
    assert!(connecting.said().contains("its token goes with calls of wx.seen"));
    assert!(!connecting.said().contains(MARK), "{}", connecting.said());
    eventually("it is called", || call(&home, "wx.seen").code == Some(0));
    let requests = issuer.requests();
    assert!(requests.iter().all(|request| request.authorization.is_some()), "{requests:?}");
    nowhere(&home, &up, &[]);

    let said = done(home.run(&["connection", "disconnect", "weather/wx"]));
    assert!(said.stderr.contains("its tokens are revoked"), "{}", said.all());
    assert_eq!(issuer.revoked().len(), 2);
    eventually("it is refused", || {
        let said = call(&home, "wx.seen");
        said.code == Some(1) && said.all().contains("not called")
    });
    nowhere(&home, &up, &[&said]);

    // A server that does not hold a code to whom it was made for is not spoken to, nor one whose endpoints lie elsewhere.
    issuer.behave(|manner| manner.without_pkce = true);
    let mut connecting = connect(&[]);
    assert_eq!(connecting.ended(), Some(1), "{}", connecting.said());
    issuer.behave(|manner| {
        manner.without_pkce = false;
        manner.elsewhere = Some("https://evil.example".to_owned());
    });
    let mut connecting = connect(&[]);
    assert_eq!(connecting.ended(), Some(3), "{}", connecting.said());
    assert!(connecting.said().contains("at another origin"), "{}", connecting.said());
}

#[test]
fn on_a_terminal_a_value_is_asked_for_and_not_shown() {
    let home = Home::new();
    let team = plugin(&home, "team", "requires: {secrets: [TEAM_KEY]}\n");
    let _up = home.up(&[], &[&team]);
    let mut terminal = Terminal::start(&mut home.oz0(&["secret", "set", "team/TEAM_KEY"]), 100);
    terminal.wait_for("Value of team/TEAM_KEY: ");
    assert!(!terminal.echoes());
    terminal.enter(&format!("{VALUE}\n"));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains(MARK), "{screen}");
    eventually("it runs", || call(&home, "team.hello").code == Some(0));
    assert_eq!(who_has(&home, VALUE), BTreeSet::from(["team".to_owned()]));
    // Nothing is no value.
    let said = given(&mut home.oz0(&["secret", "set", "team/TEAM_KEY"]), "\n");
    assert_eq!(said.code, Some(2), "{}", said.all());
}

#[test]
fn a_key_of_the_environment_is_kept_nowhere_and_a_wrong_one_is_not_repeated() {
    const KEY: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let home = Home::new();
    let team = plugin(&home, "team", "requires: {secrets: [TEAM_KEY]}\n");
    let wrong = crate::support::run(
        home.up_command(&[], &[&team]).env("OZ0_SEAL_KEY", "s3cr3t-and-no-key"),
    );
    assert_eq!(wrong.code, Some(2), "{}", wrong.all());
    assert!(
        wrong.stderr.contains("OZ0_SEAL_KEY") && !wrong.all().contains(MARK),
        "{}",
        wrong.all()
    );

    let start = |key: Option<&str>| {
        let mut command = home.up_command(&[], &[&team]);
        if let Some(key) = key {
            command.env("OZ0_SEAL_KEY", key);
        }
        let mut up = Process::start(&mut command);
        assert!(serde_json::from_str::<Value>(&up.line()).is_ok(), "{}", up.said());
        up
    };
    let mut up = start(Some(KEY));
    done(given(&mut home.oz0(&["secret", "set", "team/TEAM_KEY"]), VALUE));
    eventually("it runs", || call(&home, "team.hello").code == Some(0));
    assert!(!home.data().join("seal.key").exists());
    assert_eq!(files_with(&home.data(), KEY), [] as [String; 0]);
    up.end();
    // Without the key the rest goes on, and says what is missing.
    let mut up = start(None);
    eventually("it says so", || up.said().contains("seal.key"));
    assert_eq!(call(&home, "team.hello").code, Some(1));
    up.end();
    let up = start(Some(KEY));
    eventually("it runs again", || call(&home, "team.hello").code == Some(0));
    assert!(!up.said().contains(KEY) && !up.said().contains(MARK), "{}", up.said());
}

#[test]
fn a_death_in_the_middle_of_setting_leaves_the_old_value_or_the_new_one() {
    let home = Home::new();
    let team = plugin(&home, "team", "requires: {secrets: [TEAM_KEY]}\n");
    let wal = home.data().join("edge.db-wal");
    let length = || fs::metadata(&wal).map_or(0, |file| file.len());
    let mut before = None;
    for round in 0..4 {
        let mut up = home.up(&[], &[&team]);
        let value = format!("{VALUE}-{round}");
        let was = length();
        let mut set = home
            .oz0(&["secret", "set", "team/TEAM_KEY"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        set.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
        // At once, and when something was written.
        while round % 2 == 1 && length() == was && set.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        up.kill();
        let said: Said = set.wait_with_output().unwrap().into();
        assert!(!said.all().contains(MARK), "{}", said.all());
        assert_eq!(files_with(&home.data(), MARK), [] as [String; 0]);

        let mut up = home.up(&[], &[&team]);
        let listed: Value =
            serde_json::from_str(&home.does(&["secret", "list", "--json"])).unwrap();
        let is_set = listed["secrets"][0]["set_at"].is_number();
        if said.code == Some(0) {
            assert!(is_set, "what was acknowledged is there");
        }
        if is_set {
            eventually("it runs", || call(&home, "team.hello").code == Some(0));
            let has = |value: &str| {
                who_has(&home, &format!("TEAM_KEY={value}")) == BTreeSet::from(["team".to_owned()])
            };
            let new = has(&value);
            assert!(new || before.as_deref().is_some_and(has), "the old value, or the new one");
            assert!(new || said.code != Some(0), "what was acknowledged holds");
            if new {
                before = Some(value);
            }
        }
        home.does(&["audit", "verify"]);
        up.end();
    }
}
