//! What a plugin is given: what its manifest asked for when a person started it, and nothing that an edit adds.

use std::fs;

use oz0_mcp::EraChoice;

use super::home::{Home, Plugin, refused, until};

#[tokio::test]
async fn an_edit_that_asks_for_more_is_not_taken_until_oz0_is_started_again() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let before = fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    let mut up = home.up(&["--secret", "HOME"], &[&team]);
    let client = up.client(EraChoice::Modern, None).await;
    until(&client, &team, None).await;

    let more = format!("{before}egress: [api.example.com]\nrequires: {{secrets: [HOME]}}\n");
    team.write("oz0-plugin.yaml", &more);
    up.says("asks for more than when this oz0 started: the network, to api.example.com; the secret HOME\n");
    assert_eq!(refused(&client, &team).await, None);
    let installs = || home.does(&["audit", "--json", "--action", "plugin.install"]).lines().count();
    assert_eq!(installs(), 1);

    team.write("oz0-plugin.yaml", &before.replace("A test.", "Another test."));
    up.says("was edited; team starts anew");
    until(&client, &team, None).await;
    assert_eq!(installs(), 2);
    assert_eq!(up.end(), Some(0), "{}", up.said());
}

#[test]
fn what_is_given_to_a_plugin_that_is_not_run_is_wrong_usage() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let said = crate::support::run(&mut home.up_command(&["--secret", "nope=HOME"], &[&team]));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("no plugin nope is run here"), "{}", said.all());
}
