//! The configuration of an MCP client: what people have of the servers that they use.
//!
//! Clients differ in where their servers stand (`mcpServers`, `servers`, `mcp_servers`,
//! `context_servers`) and agree in what is said of each: a command with arguments and variables, or a
//! URL with headers. Some have JSON with comments, one has TOML. What only the client can fill in (a
//! question that it asks, a folder that it has open) is not guessed: in a variable's value it is a secret to be
//! handed over; a header is left as it stands, and refused where it is wrapped; anything else is refused here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::secret::looks_secret;
use crate::shell;
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

/// Servers that a configuration has in one place, and the project that they are for, where it is not everywhere.
struct Scope {
    servers: Map<String, Value>,
    project: Option<String>,
}

/// What a configuration has: for the working folder, the nearest first, and for other projects.
struct Scopes {
    here: Vec<Scope>,
    elsewhere: Vec<Scope>,
}

impl Scopes {
    /// A server, and the project that it is for.
    fn get(&self, name: &str) -> Option<(&Value, Option<&str>)> {
        self.here
            .iter()
            .find_map(|scope| Some((scope.servers.get(name)?, scope.project.as_deref())))
    }

    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.here.iter().flat_map(|scope| scope.servers.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What is said of a server that it does not have.
    fn reach(&self) -> &'static str {
        if self.elsewhere.is_empty() { "" } else { " for this folder" }
    }

    /// Where a server, or any, is to be found instead.
    fn instead(&self, name: Option<&str>, working: &Path) -> String {
        let has = |servers: &Map<String, Value>| match name {
            Some(name) => servers.contains_key(name),
            None => !servers.is_empty(),
        };
        let it = name.unwrap_or("servers");
        if let Some(file) = shared_file(working, has) {
            return format!("{} has {it}: name that file with --from", file.display());
        }
        let projects: Vec<&str> = self
            .elsewhere
            .iter()
            .filter(|scope| has(&scope.servers))
            .filter_map(|scope| scope.project.as_deref())
            .collect();
        let names = self.names();
        if let Some(project) = projects.first() {
            return format!(
                "it has {it} for {} alone; give the command there: cd {}",
                projects.join(", "),
                shell::quoted(project)
            );
        }
        if names.is_empty() {
            return "wrap the server by its command, as your client's settings show it: oz0 wrap -- COMMAND".to_owned();
        }
        format!("it has: {}", names.join(", "))
    }
}

/// The file that a project shares its servers in, for clients that have their users' own in another.
fn shared_file(working: &Path, has: impl Fn(&Map<String, Value>) -> bool) -> Option<PathBuf> {
    working.ancestors().map(|folder| folder.join(".mcp.json")).find(|file| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let root: Value = serde_json::from_str(&without_comments(&text)).unwrap_or_default();
        root.get("mcpServers").and_then(Value::as_object).is_some_and(&has)
    })
}

/// The servers of a configuration. `is_toml` where it is TOML and not JSON. Claude Code's own file has servers for
/// everywhere under `mcpServers`, and those for one folder under `projects`, by the folder's path.
fn scopes(text: &str, is_toml: bool, working: &Path) -> Result<Scopes, Refusal> {
    let whole = "name the file in which the client has its servers; the guide to oz0 wrap lists where clients have it";
    let root: Value = if is_toml {
        let table: toml::Table = text
            .parse()
            .map_err(|error| Refusal::new(format!("it is no TOML: {error}")).hint(whole))?;
        serde_json::to_value(table).unwrap_or_default()
    } else {
        let plain = without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
        serde_json::from_str(&plain)
            .map_err(|error| Refusal::new(format!("it is no JSON: {error}")).hint(whole))?
    };
    let everywhere = PLACES.iter().find_map(|path| {
        let at = path.iter().try_fold(&root, |value, key| value.get(key))?;
        at.as_object().filter(|servers| servers.values().all(Value::is_object)).cloned()
    });
    let projects = root.get("projects").and_then(Value::as_object);
    let mut of_projects: Vec<Scope> = projects
        .into_iter()
        .flatten()
        .filter_map(|(project, settings)| {
            let servers = settings.get("mcpServers")?.as_object()?;
            (!servers.is_empty())
                .then(|| Scope { servers: servers.clone(), project: Some(project.clone()) })
        })
        .collect();
    if everywhere.is_none() && projects.is_none() {
        let message = "it has no servers of an MCP client (mcpServers, servers, mcp_servers)";
        return Err(Refusal::new(message).hint(whole));
    }
    let mut here = Vec::new();
    for folder in working.ancestors() {
        let is_its =
            |scope: &Scope| scope.project.as_deref().is_some_and(|at| Path::new(at) == folder);
        here.extend(of_projects.extract_if(.., |scope| is_its(scope)));
    }
    here.extend(everywhere.map(|servers| Scope { servers, project: None }));
    Ok(Scopes { here, elsewhere: of_projects })
}

/// One server of a configuration: the one of that name, or the only one. Of servers that the client has for single
/// projects, those of the working folder and of the folders above it count, the nearest first.
pub fn read(
    text: &str,
    is_toml: bool,
    name: Option<&str>,
    working: &Path,
) -> Result<Entry, Refusal> {
    let scopes = scopes(text, is_toml, working)?;
    let names = scopes.names();
    let name = match (name, names.as_slice()) {
        (Some(name), _) => name,
        (None, [name]) => name,
        (None, []) => {
            return Err(Refusal::new(format!("it has no server{}", scopes.reach()))
                .hint(scopes.instead(None, working)));
        }
        (None, several) => {
            return Err(Refusal::new(format!("it has {} servers", several.len()))
                .hint(format!("name one of them: {}", several.join(", "))));
        }
    };
    let (entry, project) = scopes.get(name).ok_or_else(|| {
        Refusal::new(format!("it has no server {name}{}", scopes.reach()))
            .hint(scopes.instead(Some(name), working))
    })?;
    let text = |value: &Value, what: &str| -> Result<String, Refusal> {
        let text = value.as_str().ok_or_else(|| {
            Refusal::new(format!("{what} of {name} is no text"))
                .hint("mend it there, or wrap the server by its command: oz0 wrap -- COMMAND")
        })?;
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
                // What a bridge to a remote server has filled in is a header mostly, of which wrapping says more.
                let bridged = argv.iter().any(|word| word.starts_with("mcp-remote"));
                match word.as_str().filter(|_| bridged) {
                    Some(word) => argv.push(word.to_owned()),
                    None => argv.push(text(word, "an argument")?),
                }
            }
            Server::Command(argv)
        }
        (None, Some(url)) => {
            let headers = ["headers", "http_headers"].iter().find_map(|key| entry.get(*key));
            let mut read = Vec::new();
            // Codex has the names of variables instead, whose values the client sends.
            let variable = entry.get("bearer_token_env_var").and_then(Value::as_str);
            read.extend(
                variable.map(|name| ("Authorization".to_owned(), format!("Bearer ${{{name}}}"))),
            );
            let variables = entry.get("env_http_headers").and_then(Value::as_object);
            for (header, variable) in variables.into_iter().flatten() {
                let variable = variable.as_str().unwrap_or_default();
                read.push((header.clone(), format!("${{{variable}}}")));
            }
            for (header, value) in headers.and_then(Value::as_object).into_iter().flatten() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                read.push((header.clone(), value));
            }
            Server::Remote { url: text(url, "the URL")?, headers: read }
        }
        (None, None) => {
            return Err(Refusal::new(format!("{name} has neither a command nor a URL"))
                .hint("wrap the server by its command: oz0 wrap -- COMMAND; or by its URL: oz0 wrap --url URL"));
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
    let folder = folder.or_else(|| project.map(str::to_owned));
    Ok(Entry { name: name.to_owned(), server, env, secrets, folder })
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
