//! What names what: the references of a file, resolved against the names that the manifest defines.
//!
//! The names come from the tree, not from the decoded values, so one mistake inside a connection is one finding, not one
//! more for each tool that uses it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_diagnostic::{Diagnostic, Span, did_you_mean};
use oz0_yaml::{Node, Value};

use super::{Context, brief};
use crate::check::OZ_L002;

/// A value that names something.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) target: Target,
    pub(crate) span: Span,
    /// The path of keys to it, for the message.
    pub(crate) place: String,
}

/// What a value names.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A tool of this plugin, where no other's can stand.
    OwnTool(String),
    /// A function or a whole tool, of this plugin or another.
    Function {
        plugin: Option<String>,
        function: String,
    },
    /// An agent, of this plugin or another.
    Agent {
        plugin: Option<String>,
        agent: String,
    },
    /// A flow of this plugin.
    Flow(String),
    Connection(String),
    Harness(String),
    EventSource(String),
    /// Another plugin.
    Plugin(String),
    /// A param of a tool's connection.
    Param {
        connection: Option<String>,
        param: String,
    },
    /// A file or folder of the plugin, which only the folder's loader can look for.
    File(String),
}

/// What a plugin uses of another.
#[derive(Debug, Default)]
struct Used {
    tools: BTreeSet<String>,
    agents: BTreeSet<String>,
}

impl Used {
    fn grants(&self, function: &str) -> bool {
        self.tools.contains(function)
            || function
                .split_once('.')
                .is_some_and(|(tool, _)| self.tools.contains(&format!("{tool}.*")))
    }
}

/// The names that a manifest defines.
#[derive(Debug, Default)]
pub(crate) struct Names {
    tools: BTreeSet<String>,
    agents: BTreeSet<String>,
    flows: BTreeSet<String>,
    harnesses: BTreeSet<String>,
    event_sources: BTreeSet<String>,
    /// Each connection's params.
    connections: BTreeMap<String, BTreeSet<String>>,
    uses: BTreeMap<String, Used>,
}

/// The names under a key of a mapping.
fn keys(node: Option<&Node>, key: &str) -> BTreeSet<String> {
    match node.and_then(|node| node.get(key)).map(|entry| &entry.value.value) {
        Some(Value::Mapping(entries)) => {
            entries.iter().filter_map(|entry| entry.key.as_str()).map(str::to_owned).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The texts of a list under a key of a mapping.
fn texts(node: &Node, key: &str) -> BTreeSet<String> {
    match node.get(key).map(|entry| &entry.value.value) {
        Some(Value::Sequence(nodes)) => {
            nodes.iter().filter_map(Node::as_str).map(str::to_owned).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The entries of a mapping under a key of a mapping, read one by one.
fn entries<T>(node: Option<&Node>, key: &str, read: impl Fn(&Node) -> T) -> BTreeMap<String, T> {
    match node.and_then(|node| node.get(key)).map(|entry| &entry.value.value) {
        Some(Value::Mapping(entries)) => entries
            .iter()
            .filter_map(|entry| Some((entry.key.as_str()?.to_owned(), read(&entry.value))))
            .collect(),
        _ => BTreeMap::new(),
    }
}

impl Names {
    /// The names that the manifest with this root defines.
    pub(crate) fn of(root: Option<&Node>) -> Self {
        Self {
            tools: keys(root, "tools"),
            agents: keys(root, "agents"),
            flows: keys(root, "flows"),
            harnesses: keys(root, "harnesses"),
            event_sources: keys(root, "event_sources"),
            connections: entries(root, "connections", |node| keys(Some(node), "params")),
            uses: entries(root, "uses", |node| Used {
                tools: texts(node, "tools"),
                agents: texts(node, "agents"),
            }),
        }
    }

    /// Reports every reference that finds nothing.
    pub(crate) fn resolve(&self, references: &[Reference], cx: &mut Context<'_>) {
        // The nearest name is looked for among all of them: a courtesy, which a manifest of ten thousand mistakes
        // must not turn into a wait.
        let mut courtesies = 64_usize;
        for reference in references {
            let Some((what, nearby)) = self.miss(&reference.target) else { continue };
            let message = format!("`{}`: {what}", reference.place);
            let mut diagnostic = Diagnostic::new(&OZ_L002, reference.span.clone(), message);
            if let Some(help) = nearby.help(&mut courtesies) {
                diagnostic = diagnostic.help(help);
            }
            cx.report(diagnostic);
        }
    }

    /// What a reference misses, if it does, and what could have been meant.
    fn miss(&self, target: &Target) -> Option<(String, Nearby<'_>)> {
        match target {
            Target::OwnTool(tool) => self.own_tool(tool),
            Target::Function { plugin, function } => self.function(plugin.as_deref(), function),
            Target::Agent { plugin, agent } => self.agent(plugin.as_deref(), agent),
            Target::Flow(flow) => absent(&self.flows, "flow", "flows", flow),
            Target::Harness(harness) => absent(&self.harnesses, "harness", "harnesses", harness),
            Target::EventSource(source) => {
                absent(&self.event_sources, "event source", "event_sources", source)
            }
            Target::Connection(connection) => {
                absent_from(self.connections.keys(), "connection", "connections", connection)
            }
            Target::Plugin(plugin) => absent_from(self.uses.keys(), "plugin", "uses", plugin),
            Target::Param { connection, param } => self.param(connection.as_deref(), param),
            Target::File(_) => None,
        }
    }

    fn own_tool(&self, tool: &str) -> Option<(String, Nearby<'_>)> {
        let (message, nearby) = absent(&self.tools, "tool", "tools", tool)?;
        let prefix = format!("{tool}.");
        let foreign = self
            .uses
            .iter()
            .find(|(_, used)| used.tools.iter().any(|function| function.starts_with(&prefix)));
        match foreign {
            Some((plugin, _)) => Some((
                format!(
                    "the tool `{}` is of the plugin `{}`, and only the plugin's own can stand here",
                    brief(tool),
                    brief(plugin)
                ),
                Nearby::none("name a function of a tool under `tools:`".to_owned()),
            )),
            None => Some((message, nearby)),
        }
    }

    fn function(&self, plugin: Option<&str>, function: &str) -> Option<(String, Nearby<'_>)> {
        let (tool, name) = function.split_once('.')?;
        if tool == "oz" {
            return None;
        }
        let Some(plugin) = plugin else {
            if self.tools.contains(tool) {
                return None;
            }
            let users: Vec<&String> = self
                .uses
                .iter()
                .filter(|(_, used)| used.grants(function))
                .map(|(plugin, _)| plugin)
                .collect();
            return match users.as_slice() {
                [_] => None,
                [] => {
                    let (message, mut nearby) = absent(&self.tools, "tool", "tools", tool)?;
                    if nearby.names.is_empty() || !self.uses.is_empty() {
                        nearby.otherwise = format!(
                            "name one of the plugin's own tools, or list `{}` under `uses:`",
                            brief(function)
                        );
                    }
                    Some((message, nearby))
                }
                [first, ..] => Some((
                    format!(
                        "`{}` is a function of more than one plugin under `uses:`",
                        brief(function)
                    ),
                    Nearby::none(format!("write which one: {}/{}", brief(first), brief(function))),
                )),
            };
        };
        let Some(used) = self.uses.get(plugin) else {
            return absent_from(self.uses.keys(), "plugin", "uses", plugin);
        };
        if used.grants(function) || (name == "*" && used.tools.contains(function)) {
            return None;
        }
        Some((
            format!("`uses.{}.tools` does not list `{}`", brief(plugin), brief(function)),
            Nearby {
                names: used.tools.iter().collect(),
                wanted: function.to_owned(),
                otherwise: format!("list `{}` there", brief(function)),
            },
        ))
    }

    fn agent(&self, plugin: Option<&str>, agent: &str) -> Option<(String, Nearby<'_>)> {
        let Some(plugin) = plugin else {
            if self.agents.contains(agent)
                || self.uses.values().filter(|used| used.agents.contains(agent)).count() == 1
            {
                return None;
            }
            return absent(&self.agents, "agent", "agents", agent);
        };
        let Some(used) = self.uses.get(plugin) else {
            return absent_from(self.uses.keys(), "plugin", "uses", plugin);
        };
        if used.agents.contains(agent) {
            return None;
        }
        Some((
            format!("`uses.{}.agents` does not list `{}`", brief(plugin), brief(agent)),
            Nearby {
                names: used.agents.iter().collect(),
                wanted: agent.to_owned(),
                otherwise: format!("list `{}` there", brief(agent)),
            },
        ))
    }

    fn param(&self, connection: Option<&str>, param: &str) -> Option<(String, Nearby<'_>)> {
        let Some(connection) = connection else {
            return Some((
                format!(
                    "`{{{}}}` stands for a param, and the tool has no connection",
                    brief(param)
                ),
                Nearby::none("add `connection:` to the tool, or write the URL out".to_owned()),
            ));
        };
        // A connection that is not there is its own finding.
        let params = self.connections.get(connection)?;
        if params.contains(param) {
            return None;
        }
        Some((
            format!("the connection `{}` has no param `{}`", brief(connection), brief(param)),
            Nearby {
                names: params.iter().collect(),
                wanted: param.to_owned(),
                otherwise: format!("add it to `connections.{}.params`", brief(connection)),
            },
        ))
    }
}

/// What could have been meant, and what to do otherwise.
struct Nearby<'n> {
    names: Vec<&'n String>,
    wanted: String,
    otherwise: String,
}

impl Nearby<'_> {
    fn none(help: String) -> Self {
        Self { names: Vec::new(), wanted: String::new(), otherwise: help }
    }

    fn help(self, courtesies: &mut usize) -> Option<String> {
        let near = if *courtesies > 0 && self.names.len() <= 1000 && self.wanted.len() <= 256 {
            *courtesies -= 1;
            did_you_mean(&self.wanted, self.names.iter().map(|name| name.as_str()))
        } else {
            None
        };
        match near {
            Some(near) => {
                Some(format!("did you mean `{}`? Otherwise, {}", brief(near), self.otherwise))
            }
            None => Some(self.otherwise),
        }
    }
}

fn absent<'n>(
    names: &'n BTreeSet<String>,
    what: &str,
    key: &str,
    name: &str,
) -> Option<(String, Nearby<'n>)> {
    absent_from(names.iter(), what, key, name)
}

fn absent_from<'n>(
    names: impl Iterator<Item = &'n String>,
    what: &str,
    key: &str,
    name: &str,
) -> Option<(String, Nearby<'n>)> {
    let names: Vec<&String> = names.collect();
    if names.iter().any(|known| *known == name) {
        return None;
    }
    Some((
        format!("there is no {what} `{}` under `{key}:`", brief(name)),
        Nearby {
            names,
            wanted: name.to_owned(),
            otherwise: format!("add `{}` under `{key}:`", brief(name)),
        },
    ))
}
