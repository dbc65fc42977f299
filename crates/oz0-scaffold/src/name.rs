//! Names for plugins, out of what their servers are called.
//!
//! Everybody's server is called `mcp-server-…`; the name of a plugin stands before each of its
//! functions, so it is the part that tells one from another.

use oz0_listing::ToolId;

/// The longest name of a plugin.
const LONGEST: usize = 63;

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
    // The platform's own, as a tool's ID.
    let name = if name == "oz" { "oz-server" } else { name };
    is_name(name).then(|| name.to_owned())
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

/// Whether a text is a plugin's name, and can be its tool's ID as well.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(plain)
        && ToolId::try_from(text).is_ok()
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
            ("7zip-mcp", "zip"),
        ] {
            assert_eq!(of_server(text).as_deref(), Some(name), "{text}");
        }
        assert_eq!(of_server("***"), None);
        assert_eq!(of_host("mcp.linear.app").as_deref(), Some("linear"));
        assert_eq!(of_host("localhost").as_deref(), Some("localhost"));
    }
}
