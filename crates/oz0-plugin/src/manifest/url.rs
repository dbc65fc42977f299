//! The URL of a remote server, in which a connection's params may stand.

use oz0_diagnostic::Check;

use crate::check::OZ_L002;
use crate::decode::text::{Text, pattern};

/// The URL of an MCP server on Streamable HTTP: `https`, or `http` to this machine alone; `{name}` stands for a param
/// of the tool's connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlTemplate {
    text: String,
    params: Vec<String>,
}

impl UrlTemplate {
    /// The URL as it is written, placeholders and all.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The params that it names, each once, in their order.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// Whether a param stands in the host or the port: then the host is the connection's, not the plugin's.
    pub fn host_is_param(&self) -> bool {
        authority(&self.text).contains('{')
    }

    /// The URL with each param's value put in; `None` where a value is missing, or makes something else of the URL than
    /// its place (a host with a path in it, a segment with a `/`).
    pub fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Option<url::Url> {
        let host = authority(&self.text);
        let host = fill(host, |name| {
            value(name).filter(|value| {
                !value.is_empty()
                    && value
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
            })
        })?;
        let (scheme, rest) = self.text.split_once("://")?;
        let path = fill(&rest[authority(&self.text).len()..], |name| {
            value(name).filter(|value| {
                !value.is_empty()
                    && !matches!(*value, "." | "..")
                    && value
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"._-~".contains(&byte))
            })
        })?;
        checked(&format!("{scheme}://{host}{path}")).ok()
    }
}

impl std::fmt::Display for UrlTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn authority(text: &str) -> &str {
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or_default()
}

fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(value(name)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn checked(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).map_err(|error| format!("is no URL: {error}"))?;
    let loopback = match url.host() {
        Some(url::Host::Domain(host)) => host == "localhost" || host.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && !loopback {
        return Err("uses plain http, which only goes to this machine".to_owned());
    }
    Ok(url)
}

impl Text for UrlTemplate {
    const WHAT: &'static str = "a server's URL";
    const RULE: &'static str =
        "write https://HOST/PATH, with {NAME} for a param of the connection; no user, no fragment";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(
        r"^https?://([A-Za-z0-9._-]|\{[A-Za-z][A-Za-z0-9_]*\}|\[[0-9A-Fa-f:.]+\])+(:([0-9]+|\{[A-Za-z][A-Za-z0-9_]*\}))?([/?]([!$-;=?-Z_a-z~%]|\{[A-Za-z][A-Za-z0-9_]*\})*)?$"
    );

    fn parse(text: &str) -> Result<Self, String> {
        let mut params: Vec<String> = Vec::new();
        for piece in text.split('{').skip(1) {
            let name = piece.split('}').next().unwrap_or_default();
            if !params.iter().any(|param| param == name) {
                params.push(name.to_owned());
            }
        }
        // A digit is as good as any value: in a host it is a label's character, in a port a port.
        let sample = fill(text, |_| Some("1")).ok_or_else(|| "has a brace left open".to_owned())?;
        // With a param for its host, whether plain http stays on this machine shows when it is filled in.
        if !(authority(text).contains('{') && text.starts_with("http:")) {
            checked(&sample)?;
        }
        Ok(Self { text: text.to_owned(), params })
    }
}
