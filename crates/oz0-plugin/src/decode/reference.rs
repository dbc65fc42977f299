//! What names what: the references of a file, resolved against the names that the manifest defines.
//!
//! The names come from the tree, not from the decoded values, so one mistake inside a connection is one finding, not one
//! more for each tool that uses it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_diagnostic::{Diagnostic, Span};
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

/// The names that a manifest defines. Each question is one look-up, however many names there are.
#[derive(Debug, Default)]
pub(crate) struct Names {
    tools: BTreeSet<String>,
    agents: BTreeSet<String>,
    flows: BTreeSet<String>,
    harnesses: BTreeSet<String>,
    event_sources: BTreeSet<String>,
    connections: BTreeSet<String>,
    /// Each connection's params.
    params: BTreeMap<String, BTreeSet<String>>,
    /// The plugins under `uses:`.
    plugins: BTreeSet<String>,
    /// For each of them its functions and whole tools, and its agents.
    uses: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>,
    /// The plugins under `uses:` that a function, a whole tool (`<tool>.*`) or an agent is of.
    used_functions: BTreeMap<String, Vec<String>>,
    used_agents: BTreeMap<String, Vec<String>>,
    /// For each tool of another plugin, one plugin that it is of.
    used_tools: BTreeMap<String, String>,
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
        let mut names = Self {
            tools: keys(root, "tools"),
            agents: keys(root, "agents"),
            flows: keys(root, "flows"),
            harnesses: keys(root, "harnesses"),
            event_sources: keys(root, "event_sources"),
            connections: keys(root, "connections"),
            params: entries(root, "connections", |node| keys(Some(node), "params")),
            plugins: keys(root, "uses"),
            ..Self::default()
        };
        let uses = entries(root, "uses", |node| (texts(node, "tools"), texts(node, "agents")));
        for (plugin, (functions, agents)) in &uses {
            for function in functions {
                names.used_functions.entry(function.clone()).or_default().push(plugin.clone());
                let tool = function.split('.').next().unwrap_or_default();
                names.used_tools.entry(tool.to_owned()).or_insert_with(|| plugin.clone());
            }
            for agent in agents {
                names.used_agents.entry(agent.clone()).or_default().push(plugin.clone());
            }
        }
        Self { uses, ..names }
    }

    /// Reports every reference that finds nothing.
    pub(crate) fn resolve(&self, references: &[Reference], cx: &mut Context<'_>) {
        // The nearest name is looked for among all of them: a courtesy, which a manifest of ten thousand mistakes
        // must not turn into a wait.
        let mut courtesies = 64_usize;
        for reference in references {
            let Some(miss) = self.miss(&reference.target) else { continue };
            let message = format!("`{}`: {}", reference.place, miss.message);
            let diagnostic = Diagnostic::new(&OZ_L002, reference.span.clone(), message);
            cx.report(diagnostic.help(miss.help(&mut courtesies)));
        }
    }

    /// What a reference misses, if it does, and what could have been meant.
    fn miss(&self, target: &Target) -> Option<Miss<'_>> {
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
                absent(&self.connections, "connection", "connections", connection)
            }
            Target::Plugin(plugin) => absent(&self.plugins, "plugin", "uses", plugin),
            Target::Param { connection, param } => self.param(connection.as_deref(), param),
            Target::File(_) => None,
        }
    }

    /// The bare name of a part of another plugin, where that name alone finds the same part.
    pub(crate) fn bare<'t>(&self, target: &'t Target) -> Option<&'t str> {
        match target {
            Target::Function { plugin: Some(plugin), function } => {
                let alone = self.function(None, function).is_none();
                let own = self.tools.contains(function.split('.').next().unwrap_or_default());
                (alone && !own && self.function(Some(plugin), function).is_none())
                    .then_some(function)
            }
            Target::Agent { plugin: Some(plugin), agent } => {
                let alone = self.agent(None, agent).is_none();
                (alone && !self.agents.contains(agent) && self.agent(Some(plugin), agent).is_none())
                    .then_some(agent)
            }
            _ => None,
        }
    }

    /// The same for a hook's pattern, where it names a tool that one plugin under `uses:` alone has.
    pub(crate) fn bare_pattern<'t>(&self, pattern: &'t str) -> Option<&'t str> {
        let (plugin, rest) = pattern.split_once('/')?;
        let (tool, _) = rest.split_once('.')?;
        let has_tool = |functions: &BTreeSet<String>| {
            functions.iter().any(|function| function.split('.').next() == Some(tool))
        };
        let mut users = self.uses.iter().filter(|(_, (functions, _))| has_tool(functions));
        let of_this = users.next().is_some_and(|(name, _)| name == plugin);
        (of_this && users.next().is_none() && !tool.contains('*') && !self.tools.contains(tool))
            .then_some(rest)
    }

    fn own_tool(&self, tool: &str) -> Option<Miss<'_>> {
        let miss = absent(&self.tools, "tool", "tools", tool)?;
        let Some(plugin) = self.used_tools.get(tool) else { return Some(miss) };
        Some(Miss::plain(
            format!(
                "the tool `{}` is of the plugin `{}`, and only the plugin's own can stand here",
                brief(tool),
                brief(plugin)
            ),
            "name a function of a tool under `tools:`".to_owned(),
        ))
    }

    fn function(&self, plugin: Option<&str>, function: &str) -> Option<Miss<'_>> {
        let (tool, _) = function.split_once('.')?;
        if tool == "oz" {
            return None;
        }
        let whole_tool = format!("{tool}.*");
        if let Some(plugin) = plugin {
            let Some((functions, _)) = self.uses.get(plugin) else {
                return absent(&self.plugins, "plugin", "uses", plugin);
            };
            if functions.contains(function) || functions.contains(&whole_tool) {
                return None;
            }
            return Some(not_granted(plugin, "tools", functions, function));
        }
        if self.tools.contains(tool) {
            return None;
        }
        let users: BTreeSet<&String> = [function, &whole_tool]
            .into_iter()
            .filter_map(|function| self.used_functions.get(function))
            .flatten()
            .collect();
        match users.first() {
            None => {
                let mut miss = absent(&self.tools, "tool", "tools", tool)?;
                miss.otherwise = format!(
                    "name one of the plugin's own tools, or list `{}` under `uses:`",
                    brief(function)
                );
                Some(miss)
            }
            Some(first) if users.len() > 1 => Some(of_several(first, function)),
            Some(_) => None,
        }
    }

    fn agent(&self, plugin: Option<&str>, agent: &str) -> Option<Miss<'_>> {
        if let Some(plugin) = plugin {
            let Some((_, agents)) = self.uses.get(plugin) else {
                return absent(&self.plugins, "plugin", "uses", plugin);
            };
            if agents.contains(agent) {
                return None;
            }
            return Some(not_granted(plugin, "agents", agents, agent));
        }
        if self.agents.contains(agent) {
            return None;
        }
        match self.used_agents.get(agent).map(Vec::as_slice) {
            Some([_]) => None,
            Some([first, ..]) => Some(of_several(first, agent)),
            Some([]) | None => absent(&self.agents, "agent", "agents", agent),
        }
    }

    fn param(&self, connection: Option<&str>, param: &str) -> Option<Miss<'_>> {
        let Some(connection) = connection else {
            return Some(Miss::plain(
                format!(
                    "`{{{}}}` stands for a param, and the tool has no connection",
                    brief(param)
                ),
                "add `connection:` to the tool, or write the URL out".to_owned(),
            ));
        };
        // A connection that is not there is its own finding.
        let params = self.params.get(connection)?;
        if params.contains(param) {
            return None;
        }
        Some(Miss {
            message: format!(
                "the connection `{}` has no param `{}`",
                brief(connection),
                brief(param)
            ),
            known: Some(params),
            wanted: param.to_owned(),
            otherwise: format!("add it to `connections.{}.params`", brief(connection)),
        })
    }
}

/// A reference that finds nothing: what to say, what could have been meant, and what to do otherwise.
struct Miss<'n> {
    message: String,
    known: Option<&'n BTreeSet<String>>,
    wanted: String,
    otherwise: String,
}

impl Miss<'_> {
    fn plain(message: String, help: String) -> Self {
        Self { message, known: None, wanted: String::new(), otherwise: help }
    }

    fn help(self, courtesies: &mut usize) -> String {
        /// So many names are looked through in no time.
        const ENOUGH: usize = 1000;
        let names = match self.known {
            Some(known) if *courtesies > 0 => {
                *courtesies -= 1;
                known.iter().map(String::as_str).take(ENOUGH).collect()
            }
            _ => Vec::new(),
        };
        match super::nearest(&self.wanted, &names) {
            Some(near) => {
                format!("did you mean `{}`? Otherwise, {}", brief(near), self.otherwise)
            }
            None => self.otherwise,
        }
    }
}

fn absent<'n>(known: &'n BTreeSet<String>, what: &str, key: &str, name: &str) -> Option<Miss<'n>> {
    if known.contains(name) {
        return None;
    }
    Some(Miss {
        message: format!("there is no {what} `{}` under `{key}:`", brief(name)),
        known: Some(known),
        wanted: name.to_owned(),
        otherwise: format!("add `{}` under `{key}:`", brief(name)),
    })
}

fn of_several<'n>(first: &str, name: &str) -> Miss<'n> {
    Miss::plain(
        format!("`{}` is of more than one plugin under `uses:`", brief(name)),
        format!("write which one: {}/{}", brief(first), brief(name)),
    )
}

fn not_granted<'n>(plugin: &str, key: &str, granted: &'n BTreeSet<String>, name: &str) -> Miss<'n> {
    Miss {
        message: format!("`uses.{}.{key}` does not list `{}`", brief(plugin), brief(name)),
        known: Some(granted),
        wanted: name.to_owned(),
        otherwise: format!("list `{}` there", brief(name)),
    }
}
