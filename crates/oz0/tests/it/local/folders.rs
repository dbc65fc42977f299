//! Two folders of one plugin's name, and a folder whose plugin was removed.

use oz0_mcp::EraChoice;
use serde_json::Value;

use super::home::{Home, Plugin, eventually, refused, until};

/// The folder of the last installation, and the one whose place it took, by the audit log.
fn last_install(home: &Home) -> (String, String) {
    let audit = home.does(&["audit", "--json", "--action", "plugin.install"]);
    let entry: Value = serde_json::from_str(audit.lines().last().unwrap()).unwrap();
    let detail = |name: &str| entry["detail"][name].as_str().unwrap_or("").to_owned();
    (detail("folder"), detail("instead_of"))
}

#[tokio::test]
async fn a_client_never_gets_the_code_of_another_folder_with_the_same_name() {
    let home = Home::new();
    let in_folder = |name: &str| Plugin::at(&home.folder.path().join(name).join("team"), "team");
    let (one, two) = (in_folder("one"), in_folder("two"));
    let (old, new) = (one.root.to_str().unwrap(), two.root.to_str().unwrap());
    let (process, client) = home.mcp(&one, EraChoice::Legacy).await;
    until(&client, &one, None).await;
    for command in ["mcp", "up"] {
        let mut arguments = vec![command, new];
        if command == "up" {
            arguments.extend(["--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"]);
        }
        let said = home.run(&arguments);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.stdout.is_empty(), "{}", said.all());
        let what = format!("team is being run from {old}, and {new} is another plugin");
        assert!(said.stderr.contains(&what), "{}", said.all());
        assert!(said.stderr.contains("oz0 plugin remove team"), "{}", said.all());
    }
    eventually("there is an edge", || home.has_edge());
    assert_eq!(last_install(&home), (old.to_owned(), String::new()));
    assert_eq!(refused(&client, &one).await, None);
    client.close().await;
    drop(process);

    // Nobody runs it now.
    let (process, client) = home.mcp(&two, EraChoice::Legacy).await;
    until(&client, &two, None).await;
    process.says(&format!("it was what is in {old}, which nobody runs now"));
    assert_eq!(last_install(&home), (new.to_owned(), old.to_owned()));
    // A folder that is gone holds nothing, whoever is there.
    std::fs::rename(&two.root, home.folder.path().join("moved")).unwrap();
    let (other, third) = home.mcp(&one, EraChoice::Legacy).await;
    other.says(&format!("it was what is in {new}, which is gone"));
    until(&third, &one, None).await;
    process.says(&format!("team is no longer run from {new}: it is now run from {old}"));
    assert!(refused(&client, &two).await.is_some(), "its client does not get the other's code");
}

#[tokio::test]
async fn a_removed_plugin_stays_removed_whatever_is_edited_in_its_folder() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    home.does(&["plugin", "remove", "team"]);
    for edit in ["one", "two"] {
        team.write("notes.md", edit);
        up.says("team was removed, so edits in ");
        assert_eq!(home.does(&["plugin", "list", "--json"]), "{\n  \"plugins\": []\n}\n");
    }
    assert_eq!(up.said().matches("was removed").count(), 1, "{}", up.said());
    assert_eq!(up.end(), Some(0));
    let mut up = home.up(&[], &[&team]);
    until(&up.client(EraChoice::Modern, None).await, &team, None).await;
    assert_eq!(up.end(), Some(0));
}
