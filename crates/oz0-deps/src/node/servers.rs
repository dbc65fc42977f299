//! Lists of MCP servers, as clients and plugins keep them: `.mcp.json` and the like.
//!
//! The shapes differ (`mcpServers`, `servers`, `context_servers`, `mcp`), and what they have in common is enough: an object
//! with a `command`, and `args` behind it.

use jsonc_parser::ast::Value;

use super::json::{Text, items, member, members};
use crate::How;
use crate::command::command;
use crate::file::{File, Sink};

pub(super) fn read(file: &File<'_>, text: &str, root: &Value<'_>, sink: &mut Sink) {
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        let words = words(value);
        let texts: Vec<&str> = words.iter().map(|word| word.value).collect();
        let mut places = Vec::new();
        for named in command(&texts, file.wanted).named {
            let place = words[named.word].place(named.range);
            places.push(place.clone());
            sink.mention(named.package, How::Command, text, place, None);
        }
        // Some clients take the whole command line in one text.
        if let [line, arguments @ ..] = words.as_slice()
            && line.value.contains(char::is_whitespace)
        {
            let parts: Vec<&str> = line.value.split_whitespace().collect();
            let arguments = arguments.iter().map(|word| word.value);
            let texts: Vec<&str> = parts.iter().copied().chain(arguments).collect();
            for named in command(&texts, file.wanted).named {
                let place = match parts.get(named.word) {
                    Some(part) => {
                        let at = part.as_ptr() as usize - line.value.as_ptr() as usize;
                        line.place(at + named.range.start..at + named.range.end)
                    }
                    None => words[named.word - parts.len() + 1].place(named.range),
                };
                if !places.contains(&place) {
                    sink.mention(named.package, How::Command, text, place, None);
                }
            }
        }
        open.extend(members(value).into_iter().map(|(_, value)| value).rev());
        open.extend(items(value).iter().rev());
    }
}

/// The command line of a server: its program, as a text or with its arguments in a list, and `args`.
fn words<'v>(server: &'v Value<'_>) -> Vec<Text<'v>> {
    let command = match member(server, "command") {
        // Some clients write `{"path": …, "args": […]}` there, which is visited by itself.
        Some(Value::Object(_)) => None,
        command => command.or_else(|| member(server, "path")),
    };
    let Some(command) = command else { return Vec::new() };
    let mut words: Vec<Text<'_>> = Text::of(command).into_iter().collect();
    words.extend(items(command).iter().filter_map(Text::of));
    let arguments = member(server, "args").map(items).unwrap_or_default();
    words.extend(arguments.iter().filter_map(Text::of));
    words
}
