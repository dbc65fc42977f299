//! What a manifest asks for beyond its own folder: the network, secrets, what its remote servers are sent, and calls that
//! nobody is asked about.
//!
//! A person who starts a plugin has its manifest before them; whoever edits it while it runs (the author, the author's
//! coding agent) has asked nobody. So what was asked for at the start is all that is given until somebody starts it
//! again. The node holds every server's start against it, so it does not matter who saw an edit first.

use std::collections::{BTreeMap, BTreeSet};

use oz0_listing::ToolId;
use oz0_plugin::manifest::{Backend, Manifest, Tool, UrlTemplate};

use crate::loosened::Calls;

/// What one manifest asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    hosts: BTreeSet<String>,
    secrets: BTreeSet<String>,
    remote: BTreeMap<ToolId, Remote>,
    calls: Calls,
}

/// What a remote tool's server is, and is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remote {
    /// The URL as it is written.
    written: String,
    /// Where it goes.
    origin: String,
    headers: BTreeSet<String>,
}

impl Asked {
    /// What this manifest asks for.
    pub fn by(manifest: &Manifest) -> Self {
        let requires = manifest.requires.as_ref();
        let needed = requires.iter().flat_map(|requires| {
            let injected = requires.inject.iter().map(|(name, _)| name.as_str());
            requires
                .secrets
                .iter()
                .chain(requires.optional_secrets.iter())
                .map(|name| name.as_str())
                .chain(injected)
        });
        let connected = manifest
            .connections
            .iter()
            .flat_map(|(_, connection)| connection.secrets.iter())
            .map(|name| name.as_str());
        let remote = manifest.tools.iter().filter_map(|(id, tool)| match tool.backend() {
            Backend::Url(url) => Some((id.value.clone(), Remote::of(manifest, tool, url))),
            Backend::Mcp(_) | Backend::Package(_) => None,
        });
        Self {
            hosts: manifest.egress.iter().map(|host| host.as_str().to_ascii_lowercase()).collect(),
            secrets: needed.chain(connected).map(str::to_owned).collect(),
            remote: remote.collect(),
            calls: Calls::of(manifest),
        }
    }

    /// What this asks for that `start` did not, in words; empty where it is no more.
    ///
    /// A remote tool that was there keeps its origin in another way: one that moves waits at the edge for approval, and
    /// is sent nothing until then.
    pub fn beyond(&self, start: &Self) -> Vec<String> {
        let mut more = Vec::new();
        for host in &self.hosts {
            if !start.hosts.iter().any(|had| covers(had.as_bytes(), host.as_bytes())) {
                more.push(format!("the network, to {host}"));
            }
        }
        more.extend(
            self.secrets.difference(&start.secrets).map(|name| format!("the secret {name}")),
        );
        for (tool, remote) in &self.remote {
            let Some(had) = start.remote.get(tool) else {
                let known = |had: &Remote| {
                    had.origin == remote.origin && remote.headers.is_subset(&had.headers)
                };
                if !start.remote.values().any(known) {
                    more.push(format!("the remote tool {tool} at {}", remote.origin));
                }
                continue;
            };
            if remote.written == had.written && remote.origin != had.origin {
                more.push(format!("{tool} at {} instead of {}", remote.origin, had.origin));
            }
            let headers = remote.headers.difference(&had.headers);
            more.extend(headers.map(|name| format!("the header {name} for {tool}")));
        }
        more.extend(self.calls.beyond(&start.calls));
        more
    }
}

impl Remote {
    fn of(manifest: &Manifest, tool: &Tool, url: &UrlTemplate) -> Self {
        let written = url.as_str().to_owned();
        let origin = filled(manifest, tool, url)
            .map_or_else(|| written.clone(), |url| url.origin().ascii_serialization());
        let headers = tool.headers.iter().map(|(name, _)| name.as_str().to_ascii_lowercase());
        Self { written, origin, headers: headers.collect() }
    }
}

/// A remote tool's URL with the defaults of its connection's params; none where one has no value.
pub(crate) fn filled(manifest: &Manifest, tool: &Tool, url: &UrlTemplate) -> Option<url::Url> {
    let connection =
        tool.connection.as_ref().and_then(|name| manifest.connections.get(name.as_str()));
    url.fill(|param| {
        let param = &connection?.params.get(param)?.value;
        param.default.as_ref().map(|value| value.as_str())
    })
}

/// Whether every host that `new` stands for is one that `had` stands for: a `*` of `new` is only met by one of `had`.
fn covers(had: &[u8], new: &[u8]) -> bool {
    let (mut pattern, mut text) = (0, 0);
    // Behind the last `*`, and how far it reaches so far.
    let mut star: Option<(usize, usize)> = None;
    while text < new.len() {
        match had.get(pattern) {
            Some(b'*') => {
                pattern += 1;
                star = Some((pattern, text));
            }
            Some(byte) if *byte == new[text] => {
                pattern += 1;
                text += 1;
            }
            _ => {
                let Some((behind, reach)) = star else { return false };
                star = Some((behind, reach + 1));
                (pattern, text) = (behind, reach + 1);
            }
        }
    }
    had[pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(more: &str, tools: &str) -> Asked {
        let text = format!(
            "name: team\nversion: 1.0.0\ndescription: A test.\nlicense: Apache-2.0\n{more}\ntools:\n{tools}\n"
        );
        let decoded = oz0_plugin::manifest::decode("oz0-plugin.yaml", text.as_bytes());
        Asked::by(&decoded.manifest.unwrap_or_else(|| panic!("{:#?}", decoded.diagnostics)))
    }

    const PROCESS: &str = "  team: {mcp: {command: [./server]}}";

    #[test]
    fn a_wider_host_is_more_and_a_narrower_one_is_less() {
        let of = |host: &str| asked(&format!("egress: [\"{host}\"]"), PROCESS);
        let more = |new: &str, had: &str| !of(new).beyond(&of(had)).is_empty();
        for (new, had) in [
            ("api.example.com", "api.example.com"),
            ("API.example.com", "api.example.com"),
            ("api.example.com", "*.example.com"),
            ("*.a.example.com", "*.example.com"),
            ("x", "*"),
        ] {
            assert!(!more(new, had), "{new} is in {had}");
        }
        for (new, had) in [
            ("*.example.com", "api.example.com"),
            ("*", "*.example.com"),
            ("example.com", "*.example.com"),
            ("api.example.org", "*.example.com"),
        ] {
            assert!(more(new, had), "{new} is not in {had}");
        }
        assert!(asked("", PROCESS).beyond(&of("x")).is_empty());
        assert_eq!(of("x").beyond(&asked("", PROCESS)), ["the network, to x"]);
    }

    #[test]
    fn every_place_that_names_a_secret_asks_for_it() {
        let none = asked("", PROCESS);
        for more in [
            "requires: {secrets: [KEY]}",
            "requires: {optional_secrets: [KEY]}",
            "connections: {c: {secrets: [KEY]}}",
        ] {
            let with = asked(more, PROCESS);
            assert_eq!(with.beyond(&none), ["the secret KEY"], "{more}");
            assert!(none.beyond(&with).is_empty() && with.beyond(&with).is_empty());
        }
    }

    #[test]
    fn a_new_remote_tool_or_header_is_more() {
        let one = asked("", "  wx: {url: \"https://a.example/mcp\"}");
        let header = asked("", "  wx: {url: \"https://a.example/mcp\", headers: {X-Key: k}}");
        let renamed = asked("", "  wx2: {url: \"https://b.example/mcp\"}");
        assert_eq!(header.beyond(&one), ["the header x-key for wx"]);
        assert_eq!(renamed.beyond(&one), ["the remote tool wx2 at https://b.example"]);
        assert!(one.beyond(&header).is_empty());
    }

    #[test]
    fn a_params_default_that_moves_the_host_is_more() {
        let of = |host: &str| {
            asked(
                &format!("connections: {{c: {{params: {{host: {{default: {host}}}}}}}}}"),
                "  wx: {url: \"https://{host}/mcp\", connection: c}",
            )
        };
        let (a, b) = (of("a.example"), of("b.example"));
        assert_eq!(b.beyond(&a), ["wx at https://b.example instead of https://a.example"]);
    }

    #[test]
    fn less_asking_is_more_and_more_asking_is_not() {
        const TOOL: &str = "  team: {mcp: {command: [./server]}";
        let plain = asked("", PROCESS);
        let of = |more: &str| asked("", &format!("{TOOL}, {more}}}"));
        let rules = |rules: &str| asked(&format!("policy: [{rules}]"), PROCESS);
        let ask = "{match: team.send, action: ask}";
        for (after, before, more) in [
            (&plain, &rules(ask), "calls of team.send with less asking"),
            (&rules("{match: team.*, action: allow}"), &plain, "calls of team with less asking"),
            (&plain, &of("approval: always"), "calls of team with less asking"),
            (&plain, &of("requires_approval: [send]"), "calls of team.send with less asking"),
            (
                &of("overrides: {send: {annotations: {readOnlyHint: true}}}"),
                &plain,
                "calls of team.send with less asking",
            ),
            (
                &plain,
                &of("overrides: {send: {ai_label: /text}}"),
                "calls of team.send without the AI label",
            ),
            (
                &plain,
                &asked("hooks: [{on: before_call, call: team.check}]", PROCESS),
                "calls around which team.check is not called",
            ),
        ] {
            assert_eq!(after.beyond(before), [more]);
            assert!(after.beyond(after).is_empty() && before.beyond(before).is_empty());
            assert!(before.beyond(after).is_empty(), "the other way asks more: {more}");
        }
        let watches = "kind: policy\nhooks: [{on: before_call, call: team.check}]";
        assert_eq!(
            asked(watches, PROCESS).beyond(&plain),
            ["that team.check looks at the calls of every plugin"]
        );
        let when = |value: &str| {
            rules(&format!(
                "{{match: team.send, action: refuse, when: {{/to: {{const: {value}}}}}}}"
            ))
        };
        assert!(!when("a").beyond(&when("b")).is_empty(), "another condition may hold less");
        assert!(when("a").beyond(&plain).is_empty());
    }
}
