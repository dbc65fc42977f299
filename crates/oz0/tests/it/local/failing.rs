//! Servers that do not start: what is said of them, and how often.

use std::time::{Duration, Instant};

use oz0_mcp::EraChoice;
use serde_json::Value;

use super::home::{Home, Plugin, Process, eventually, names, refused, until};

/// What `plugin list` says is wrong with the plugin's one server.
fn failure(home: &Home) -> String {
    let said = home.run(&["plugin", "list", "--json"]);
    let list: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    list["plugins"][0]["tools"][0]["nodes"][0]["failure"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_missing_secret_is_said_once_with_what_to_do_and_nobody_waits_for_it() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let manifest = std::fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    team.write("oz0-plugin.yaml", &format!("{manifest}requires:\n  secrets: [TEAM_KEY]\n"));
    for (is_set, what) in [
        (
            false,
            "the secret TEAM_KEY, which is not set: set it with: oz0 secret set team/TEAM_KEY, or in the environment, and give it with: --secret TEAM_KEY",
        ),
        (
            true,
            "the secret TEAM_KEY, which is set in the environment and was not given to it: give it with: --secret TEAM_KEY, or keep it with: oz0 secret set team/TEAM_KEY",
        ),
    ] {
        let mut command = home.up_command(&[], &[&team]);
        command.env_remove("TEAM_KEY");
        if is_set {
            command.env("TEAM_KEY", "s3cret-of-team");
        }
        let mut up = Process::start(&mut command);
        up.first = serde_json::from_str(&up.line()).unwrap();
        up.says(&format!("the server of team is not started: it needs {what}\n"));
        eventually("`plugin list` says so", || failure(&home).contains(what));
        let client = up.client(EraChoice::Modern, None).await;
        let began = Instant::now();
        assert!(names(&client).await.is_empty());
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        let refusal = refused(&client, &team).await.unwrap();
        assert!(refusal.ends_with("does not run; `oz0 plugin list` says why"), "{refusal}");
        // More than a few tries would have fitted in here.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(up.said().matches("TEAM_KEY, which").count(), 1, "{}", up.said());
        assert_eq!(up.end(), Some(0));
    }
}

#[tokio::test]
async fn a_failure_is_said_once_and_again_when_it_is_another_and_the_end_of_it_with_a_count() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    // Its files stay as they are, so what changes is no edit: it is the same server that is tried again.
    let fails = |text: &str| {
        let broken = format!("echo 'pid '$$' {text}' >&2; exit 3\n");
        team.write("start.txt", &broken);
    };
    fails("no such module");
    let manifest = std::fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    let command = "[./oz0-actor, script.json]";
    assert!(manifest.contains(command));
    team.write("oz0-plugin.yaml", &manifest.replace(command, "[/bin/sh, start.txt]"));
    let mut up = home.up(&[], &[&team]);
    up.says("the server of team failed, and is tried again until it runs: ");
    up.says("no such module");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(up.said().matches("no such module").count(), 1, "{}", up.said());
    fails("out of memory");
    up.says("out of memory");
    team.write("start.txt", "exec ./oz0-actor script.json\n");
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    up.says("the server of team runs again, after ");
    assert_eq!(up.said().matches("no such module").count(), 1, "{}", up.said());
    assert_eq!(up.said().matches("out of memory").count(), 1, "{}", up.said());
    assert_eq!(up.end(), Some(0));
}

#[tokio::test]
async fn a_folder_that_a_server_is_started_with_and_does_not_see_is_named_with_the_flag_that_shares_it()
 {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let notes = home.folder.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    team.write(
        "start.txt",
        "test -d \"$1\" || { echo no notes >&2; exit 3; }; exec ./oz0-actor script.json\n",
    );
    let manifest = std::fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    let command = format!("[/bin/sh, start.txt, '{}']", notes.display());
    team.write("oz0-plugin.yaml", &manifest.replace("[./oz0-actor, script.json]", &command));
    let flag = format!("--share team={}", notes.display());
    let what = format!(
        "team's server names {}, which is not shared with it; share it with: {flag}",
        notes.display()
    );
    let mut up = home.up(&[], &[&team]);
    up.says(&what);
    eventually("`plugin list` says so", || failure(&home).contains(&what));
    assert_eq!(up.end(), Some(0));
    let share = format!("team={}", notes.display());
    let mut up = home.up(&["--share", &share], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert!(!up.said().contains("not shared"), "{}", up.said());
    assert_eq!(up.end(), Some(0));
}
