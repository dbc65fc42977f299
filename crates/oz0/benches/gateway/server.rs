//! The server that is called, and the relay that is the least that a process in between can do.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// The text of the small result.
const HELLO: &str = r#"{"content":[{"type":"text","text":"Hello, you!"}],"structuredContent":{"greeting":"Hello, you!"}}"#;
/// Bytes of text in the large one.
pub(crate) const LARGE: usize = 1 << 20;

const TOOLS: &str = r#"{"tools":[{"name":"hello","description":"Says hello.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"Who is greeted"}},"required":["name"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"greeting":{"type":"string"}},"required":["greeting"]}},{"name":"large","description":"Says much.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}"#;

fn own(fd: impl AsFd) -> File {
    File::from(fd.as_fd().try_clone_to_owned().unwrap())
}

/// Answers what comes, a line at a time, on one thread. A file `description.txt` in its folder, where there is one,
/// is what `hello` says of itself.
pub(crate) fn serve() {
    let mut reader = BufReader::with_capacity(64 << 10, own(std::io::stdin()));
    let mut writer = own(std::io::stdout());
    let large = format!(
        r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#,
        "line of text ".repeat(LARGE / 13)
    );
    let (mut line, mut answer) = (Vec::new(), String::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).unwrap() == 0 {
            return;
        }
        let text = std::str::from_utf8(&line).unwrap();
        let Some(at) = text.find("\"id\":") else { continue };
        let id = &text[at + 5..];
        let id = &id[..id.find([',', '}']).unwrap()];
        let said;
        let result = if text.contains("\"tools/call\"") {
            if text.contains("\"name\":\"large\"") { large.as_str() } else { HELLO }
        } else if text.contains("\"tools/list\"") {
            match std::fs::read_to_string("description.txt") {
                Ok(description) => {
                    said = TOOLS.replace("Says hello.", description.trim());
                    said.as_str()
                }
                Err(_) => TOOLS,
            }
        } else if text.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#
        } else {
            answer.clear();
            answer.extend([
                r#"{"jsonrpc":"2.0","id":"#,
                id,
                r#","error":{"code":-32601,"message":"Method not found"}}"#,
                "\n",
            ]);
            writer.write_all(answer.as_bytes()).unwrap();
            continue;
        };
        answer.clear();
        answer.extend([r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#, result, "}\n"]);
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Starts a server and copies each line to it and from it: two threads, and nothing looked at.
pub(crate) fn relay(command: &[String]) {
    let mut server = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = server.stdin.take().unwrap();
    let output = server.stdout.take().unwrap();
    std::thread::spawn(move || lines(own(std::io::stdin()), input));
    lines(output, own(std::io::stdout()));
    server.wait().unwrap();
}

fn lines(reader: impl Read, mut writer: impl Write) {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if writer.write_all(&line).is_err() {
            return;
        }
        line.clear();
    }
}
