//! The whole of it as a process that an MCP client starts.

use std::process::Stdio;

use oz0_mcp::{Client, ClientOptions, EraChoice};
use tokio::process::Command;

use crate::house::{House, Plugin, function, program, raw};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_starts_it_lists_calls_and_ends_it_over_stdio() {
    let house = House::new().await;
    let pid = r#"{"name":"pid","description":"-","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets."), pid]);
    for era in [EraChoice::Legacy, EraChoice::Modern] {
        let mut child = Command::new(program())
            .arg(house.folder.path().join("other"))
            .arg(&plugin.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let options = ClientOptions { era, ..ClientOptions::default() };
        let client = Client::stdio(stdout, stdin, &options).await.unwrap();
        let listed = client.list_functions().await.unwrap().functions;
        assert_eq!(listed.len(), 2, "{listed:?}");
        let params = raw(r#"{"name":"team__hello","arguments":{"x":7}}"#);
        let result = client.request("tools/call", &params).await.unwrap();
        assert!(result.get().contains('7'), "{result}");
        client.close().await;
        let ended = tokio::time::timeout(std::time::Duration::from_secs(20), child.wait());
        assert!(ended.await.unwrap().unwrap().success());
    }
}
