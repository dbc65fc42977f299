//! The configuration of an MCP client: what people have of the servers that they use.
//!
//! Clients differ in where their servers stand (`mcpServers`, `servers`, `mcp_servers`,
//! `context_servers`) and agree in what is said of each: a command with arguments and variables, or a
//! URL with headers. Some have JSON with comments, one has TOML. What only the client can fill in (a
//! question that it asks, a folder that it has open) is not guessed: in a variable's value it is a secret to be
//! handed over, anywhere else it is refused.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::secret::looks_secret;
use crate::wrap::Server;

/// A server of a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the client calls it.
    pub name: String,
    /// Its command or URL.
    pub server: Server,
    /// Its variables, without the secret ones.
    pub env: BTreeMap<String, String>,
    /// The names of the variables whose values are not written down.
    pub secrets: Vec<String>,
    /// The folder that it is started in.
    pub folder: Option<String>,
}

/// The keys that clients have their servers under, each as a path.
const PLACES: [&[&str]; 6] = [
    &["mcpServers"],
    &["servers"],
    &["mcp_servers"],
    &["context_servers"],
    &["mcp", "servers"],
    &["mcp"],
];

/// The servers of a configuration, by name. `is_toml` where it is TOML and not JSON.
fn servers(text: &str, is_toml: bool) -> Result<Map<String, Value>, Refusal> {
    let root: Value = if is_toml {
        let table: toml::Table =
            text.parse().map_err(|error| Refusal::new(format!("it is no TOML: {error}")))?;
        serde_json::to_value(table).unwrap_or_default()
    } else {
        let plain = without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
        serde_json::from_str(&plain)
            .map_err(|error| Refusal::new(format!("it is no JSON: {error}")))?
    };
    let found = PLACES.iter().find_map(|path| {
        let at = path.iter().try_fold(&root, |value, key| value.get(key))?;
        at.as_object().filter(|servers| servers.values().all(Value::is_object)).cloned()
    });
    found.ok_or_else(|| {
        Refusal::new("it has no servers of an MCP client (mcpServers, servers, mcp_servers)")
    })
}

/// One server of a configuration: the one of that name, or the only one.
pub fn read(text: &str, is_toml: bool, name: Option<&str>) -> Result<Entry, Refusal> {
    let servers = servers(text, is_toml)?;
    let names = || servers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let (name, entry) = match name {
        Some(name) => servers.get_key_value(name).ok_or_else(|| {
            Refusal::new(format!("it has no server {name}")).hint(format!("it has: {}", names()))
        })?,
        None if servers.len() == 1 => servers.iter().next().expect("there is one"),
        None if servers.is_empty() => return Err(Refusal::new("it has no server")),
        None => {
            return Err(Refusal::new(format!("it has {} servers", servers.len()))
                .hint(format!("name one of them: {}", names())));
        }
    };
    let text = |value: &Value, what: &str| -> Result<String, Refusal> {
        let text =
            value.as_str().ok_or_else(|| Refusal::new(format!("{what} of {name} is no text")))?;
        match text.split_once("${") {
            Some((_, rest)) => Err(Refusal::new(format!(
                "{what} of {name} has ${{{}, which only its client fills in",
                rest.split_inclusive('}').next().unwrap_or_default()
            ))
            .hint("write the value out, and wrap the command: oz0 wrap -- COMMAND")),
            None => Ok(text.to_owned()),
        }
    };
    // Zed has had the command as an object.
    let inner = entry.get("command").filter(|command| command.is_object()).unwrap_or(entry);
    let command = inner.get("command").or_else(|| inner.get("path"));
    let url = ["url", "serverUrl", "httpUrl", "uri"].iter().find_map(|key| entry.get(*key));
    let server = match (command, url) {
        (Some(command), _) => {
            let mut argv = match command {
                Value::Array(words) => {
                    words.iter().map(|word| text(word, "the command")).collect::<Result<_, _>>()?
                }
                command => vec![text(command, "the command")?],
            };
            for word in inner.get("args").and_then(Value::as_array).into_iter().flatten() {
                argv.push(text(word, "an argument")?);
            }
            Server::Command(argv)
        }
        (None, Some(url)) => {
            let headers = ["headers", "http_headers"].iter().find_map(|key| entry.get(*key));
            let mut read = Vec::new();
            for (header, value) in headers.and_then(Value::as_object).into_iter().flatten() {
                read.push((header.clone(), text(value, &format!("the header {header}"))?));
            }
            Server::Remote { url: text(url, "the URL")?, headers: read }
        }
        (None, None) => {
            return Err(Refusal::new(format!("{name} has neither a command nor a URL")));
        }
    };
    let mut env = BTreeMap::new();
    let mut secrets = Vec::new();
    let variables = inner.get("env").or_else(|| inner.get("environment"));
    for (variable, value) in variables.and_then(Value::as_object).into_iter().flatten() {
        let value = match value {
            Value::String(value) => value.clone(),
            Value::Null => String::new(),
            value => value.to_string(),
        };
        if value.contains("${") || looks_secret(variable, &value) {
            secrets.push(variable.clone());
        } else {
            env.insert(variable.clone(), value);
        }
    }
    let folder = entry.get("cwd").map(|folder| text(folder, "the folder")).transpose()?;
    Ok(Entry { name: name.clone(), server, env, secrets, folder })
}

/// JSON without the comments and the commas before a closing bracket that editors allow in theirs. What stood in their
/// places are blanks, so an error's line and column stay right.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    // Where the last comma stands, if nothing but blanks and comments came since.
    let mut comma = None;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                comma = None;
                plain.push(c);
                while let Some(c) = rest.next() {
                    plain.push(c);
                    match c {
                        '"' => break,
                        '\\' => plain.extend(rest.next()),
                        _ => {}
                    }
                }
            }
            '/' if rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                    plain.push(' ');
                }
                plain.push(' ');
            }
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                plain.push_str("  ");
                let mut star = false;
                for c in rest.by_ref() {
                    plain.push(if c == '\n' { c } else { ' ' });
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
            }
            ',' => {
                comma = Some(plain.len());
                plain.push(c);
            }
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
                plain.push(c);
            }
            c => {
                if !c.is_whitespace() {
                    comma = None;
                }
                plain.push(c);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_and_last_commas_go_and_everything_else_stays_where_it_is() {
        let text = "{ // one\n \"a\": \"//, }\\\"\", /* two\n */ \"b\": [1, 2, ], }";
        let plain = without_comments(text);
        let value: serde_json::Value = serde_json::from_str(&plain).expect("it is JSON");
        assert_eq!(value, serde_json::json!({"a": "//, }\"", "b": [1, 2]}));
        assert_eq!(plain.lines().count(), text.lines().count());
    }
}
