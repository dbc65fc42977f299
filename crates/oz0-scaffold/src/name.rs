//! Names for plugins, out of what their servers are called.
//!
//! Everybody's server is called `mcp-server-…`; the name of a plugin stands before each of its
//! functions, so it is the part that tells one from another.

use oz0_listing::{IdError, ToolId};
use oz0_plugin::{PathFault, check_path};

use crate::refusal::Refusal;

/// The longest name of a plugin.
const LONGEST: usize = 63;

/// A plugin's name that can be its tool's ID as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginName(String);

impl PluginName {
    /// Takes a name that somebody gave.
    pub(crate) fn parse(text: &str) -> Result<Self, Misnamed> {
        if is_name(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Misnamed { text: text.to_owned() })
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that somebody gave as a plugin's name, and that is none.
#[derive(Debug)]
pub(crate) struct Misnamed {
    text: String,
}

impl Misnamed {
    /// A name made of it: of a path, of the last part, which is what the plugin was to be called.
    pub(crate) fn slug(&self) -> Option<String> {
        let last = self.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        slug(last)
    }

    /// Says so; `example` is what to type instead.
    pub(crate) fn refusal(&self, example: Option<&str>) -> Refusal {
        let shown = oz0_listing::escape::line_within(&self.text, LONGEST + 1);
        let (what, rule) = match fault(&self.text) {
            Some(Fault::Reserved) => (
                format!(
                    "no plugin can be called `{shown}`: as a tool's ID it is the platform's own (OZ-L003)"
                ),
                "add a word that says what it is for",
            ),
            Some(Fault::Device) => (
                format!(
                    "no plugin can be called `{shown}`: to Windows it is the name of a device, so no folder can have it"
                ),
                "add a word that says what it is for",
            ),
            Some(Fault::Malformed) | None => (
                format!("`{shown}` is no plugin's name"),
                "it begins with a lower-case letter, and has lower-case letters, digits and `-`, at most 63",
            ),
        };
        Refusal::new(what).hint(match example {
            Some(example) => format!("{rule}, such as: {example}"),
            None => rule.to_owned(),
        })
    }
}

/// A plugin's name made of a text: valid by construction. `None` where nothing of the text can stand in one.
pub(crate) fn slug(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut camel = false;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && camel {
                name.push('-');
            }
            camel = c.is_ascii_lowercase() || c.is_ascii_digit();
            name.push(c.to_ascii_lowercase());
        } else {
            camel = false;
            if !name.ends_with('-') {
                name.push('-');
            }
        }
    }
    let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let name = &name[..name.len().min(LONGEST)];
    let name = name.trim_end_matches('-');
    match fault(name) {
        None => Some(name.to_owned()),
        Some(Fault::Reserved | Fault::Device) => Some(format!("{name}-server")),
        Some(Fault::Malformed) => None,
    }
}

/// The words that say only that it is a server.
const GENERIC: [&str; 8] =
    ["mcp", "server", "model", "context", "protocol", "stdio", "main", "index"];

/// The name of a package, a program or a script without what every server is called: `@scope/mcp-server-git` is `git`.
pub(crate) fn of_server(text: &str) -> Option<String> {
    let (scope, own) = match text.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, own)) => (Some(scope), own),
        None => (None, text),
    };
    telling(own).or_else(|| telling(scope?)).or_else(|| slug(own))
}

fn telling(text: &str) -> Option<String> {
    let slug = slug(text)?;
    let mut words: Vec<&str> = slug.split('-').collect();
    while words.first().is_some_and(|word| GENERIC.contains(word)) {
        words.remove(0);
    }
    while words.last().is_some_and(|word| GENERIC.contains(word)) {
        words.pop();
    }
    self::slug(&words.join("-"))
}

/// The name of a remote server, by its host: `mcp.linear.app` is `linear`.
pub(crate) fn of_host(host: &str) -> Option<String> {
    let labels: Vec<&str> = host.split('.').collect();
    let labels = match labels.len() {
        0 | 1 => &labels[..],
        count => &labels[..count - 1],
    };
    let telling: Vec<&str> = labels
        .iter()
        .copied()
        .filter(|label| !["mcp", "api", "www", "server", "co", "com"].contains(label))
        .collect();
    slug(telling.last()?)
}

/// Whether a text is a plugin's name, and can be its tool's ID and its folder's name as well.
pub(crate) fn is_name(text: &str) -> bool {
    fault(text).is_none()
}

/// Why a text is no plugin's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It has another form.
    Malformed,
    /// It is the platform's own, as a tool's ID.
    Reserved,
    /// Windows takes it for a device: no folder, and no file that is called after the plugin, can have it.
    Device,
}

fn fault(text: &str) -> Option<Fault> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !text.chars().all(plain) {
        return Some(Fault::Malformed);
    }
    match ToolId::try_from(text) {
        Err(IdError::Reserved) => Some(Fault::Reserved),
        Err(IdError::Malformed { .. }) => Some(Fault::Malformed),
        Ok(_) => (check_path(text) == Err(PathFault::Device)).then_some(Fault::Device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_tells_a_server_from_others() {
        for (text, name) in [
            ("@modelcontextprotocol/server-filesystem", "filesystem"),
            ("mcp-server-git", "git"),
            ("mcp_server_time", "time"),
            ("@playwright/mcp", "playwright"),
            ("@upstash/context7-mcp", "context7"),
            ("mcp-server", "mcp-server"),
            ("weather.py", "weather-py"),
            ("DesktopCommander", "desktop-commander"),
            ("oz", "oz-server"),
            ("mcp-server-aux", "aux-server"),
            ("com1", "com1-server"),
            ("oz0", "oz0"),
            ("a--", "a"),
            ("7zip-mcp", "zip"),
        ] {
            assert_eq!(of_server(text).as_deref(), Some(name), "{text}");
        }
        assert_eq!(of_server("***"), None);
        assert_eq!(of_host("mcp.linear.app").as_deref(), Some("linear"));
        assert_eq!(of_host("localhost").as_deref(), Some("localhost"));
    }
}
