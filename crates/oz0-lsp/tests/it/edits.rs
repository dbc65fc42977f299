//! Whatever edits an editor sends, the server has the text that the editor has.

use std::fmt::Write as _;

use oz0_lsp::{Ended, Options, serve};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// One end of a conversation.
struct Editor {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
}

impl Editor {
    async fn send(&mut self, message: Value) {
        let body = message.to_string();
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.output.write_all(text.as_bytes()).await.unwrap();
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn receive(&mut self) -> Value {
        let mut header = String::new();
        self.input.read_line(&mut header).await.unwrap();
        let length = header.strip_prefix("Content-Length: ").expect("a header").trim_end();
        let mut body = vec![0; length.parse::<usize>().unwrap() + 2];
        self.input.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body[2..]).unwrap()
    }

    /// The findings of a version, as they are told.
    async fn findings(&mut self, version: i64) -> String {
        loop {
            let message = self.receive().await;
            let params = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics"
                && params["version"] == version
            {
                let mut told = String::new();
                for found in params["diagnostics"].as_array().unwrap() {
                    writeln!(told, "{} {} {}", found["range"], found["code"], found["message"])
                        .unwrap();
                }
                return told;
            }
        }
    }
}

/// Puts a text in place of a range, told in lines and UTF-16 code units, as an editor does it.
fn edit(text: &str, from: (usize, usize), to: (usize, usize), new: &str) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let offset = |(line, column): (usize, usize)| {
        let mut starts = vec![0];
        for (at, unit) in units.iter().enumerate() {
            let cr_of_two = *unit == 13 && units.get(at + 1) == Some(&10);
            if *unit == 10 || *unit == 13 && !cr_of_two {
                starts.push(at + 1);
            }
        }
        let Some(start) = starts.get(line).copied() else { return units.len() };
        let mut end = starts.get(line + 1).copied().unwrap_or(units.len());
        while end > start && matches!(units[end - 1], 10 | 13) {
            end -= 1;
        }
        let at = (start + column).min(end);
        // Inside of a pair is before it.
        at - usize::from(at > start && at < end && (0xdc00..0xe000).contains(&units[at]))
    };
    let start = offset(from);
    let end = offset(to).max(start);
    let mut changed = String::from_utf16(&units[..start]).unwrap();
    changed.push_str(new);
    changed.push_str(&String::from_utf16(&units[end..]).unwrap());
    changed
}

const TEXT: &str = "name: te\u{1f980}am\r\nversion: 1.0.0\ndescription: 'Grüße'\rlicense: Apache-2.0\n\
                    egress: ['\u{1f980}', '*.example.com']\n";

fn place() -> impl Strategy<Value = (usize, usize)> {
    (0..8_usize, prop_oneof![0..14_usize, Just(1000)])
}

fn piece() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "x",
        "\u{1f980}",
        "\n",
        "\r\n",
        "\r",
        "'",
        "ü: [",
        "*",
        "\u{feff}",
        " ",
    ])
    .prop_map(str::to_owned)
}

type Change = ((usize, usize), (usize, usize), String);

fn law(changes: &[Change]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oz0-plugin.yaml");
    std::fs::write(&path, TEXT).unwrap();
    let uri = format!("file://{}", path.display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move { serve(input, output, Options::default()).await });
        let (input, output) = tokio::io::split(ours);
        let mut editor = Editor { input: BufReader::new(input), output };
        let params = json!({ "processId": null, "capabilities": {} });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        editor.send(initialize).await;
        editor.receive().await;
        editor.notify("initialized", json!({})).await;
        let open = |version: i64, text: &str| {
            json!({ "textDocument": { "uri": uri, "languageId": "yaml", "version": version, "text": text } })
        };
        editor.notify("textDocument/didOpen", open(1, TEXT)).await;
        let mut text = TEXT.to_owned();
        let mut content_changes = Vec::new();
        for (from, to, new) in changes {
            // An end before its beginning is its beginning.
            text = edit(&text, *from, *to, new);
            content_changes.push(json!({
                "range": {
                    "start": { "line": from.0, "character": from.1 },
                    "end": { "line": to.0, "character": to.1 },
                },
                "text": new,
            }));
        }
        let document = json!({ "uri": uri, "version": 2 });
        let params = json!({ "textDocument": document, "contentChanges": content_changes });
        editor.notify("textDocument/didChange", params).await;
        let by_edits = editor.findings(2).await;
        editor.notify("textDocument/didOpen", open(3, &text)).await;
        let as_a_whole = editor.findings(3).await;
        assert_eq!(by_edits, as_a_whole, "{changes:?} of {text:?}");
        editor.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" })).await;
        editor.notify("exit", Value::Null).await;
        assert_eq!(serving.await.unwrap(), Ended::InOrder);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edits_leave_the_text_that_the_editor_has(
        changes in prop::collection::vec((place(), place(), piece()), 1..8),
    ) {
        law(&changes);
    }
}
