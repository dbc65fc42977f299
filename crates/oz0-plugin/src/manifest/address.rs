//! Addresses of functions and agents: `<part>` for the plugin's own, `<plugin>/<part>` for another plugin's.

use oz0_diagnostic::Check;
use oz0_listing::{FunctionId, ToolId};
use oz0_yaml::Node;

use super::name::{PartName, PluginName, function, id, plugin};
use crate::check::OZ_L002;
use crate::decode::Context;
use crate::decode::reference::Target;
use crate::decode::text::{Text, pattern};

/// What an address of functions ends in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionTarget {
    /// One function.
    Function(FunctionId),
    /// Every function of a tool: `<tool>.*`.
    WholeTool(ToolId),
    /// A function of the platform's own, by its name after `oz.`.
    Platform(String),
}

impl FunctionTarget {
    /// Reads what the form of addresses has let through.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (tool, function) =
            text.split_once('.').ok_or_else(|| "is not <tool>.<function>".to_owned())?;
        if tool == "oz" {
            return Ok(Self::Platform(function.to_owned()));
        }
        let tool = ToolId::try_from(tool).map_err(|_| format!("has no tool's ID in `{tool}`"))?;
        if function == "*" {
            return Ok(Self::WholeTool(tool));
        }
        FunctionId::new(&tool, function)
            .map(Self::Function)
            .map_err(|_| format!("has no function's name in `{function}`"))
    }

    /// The tool's ID; `None` for the platform's own.
    pub fn tool(&self) -> Option<ToolId> {
        match self {
            Self::Function(function) => Some(function.tool()),
            Self::WholeTool(tool) => Some(tool.clone()),
            Self::Platform(_) => None,
        }
    }
}

impl std::fmt::Display for FunctionTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Function(function) => function.fmt(f),
            Self::WholeTool(tool) => write!(f, "{tool}.*"),
            Self::Platform(name) => write!(f, "oz.{name}"),
        }
    }
}

/// Functions that an agent lists: `<tool>.<function>`, `<tool>.*`, `oz.<function>`, and the same after `<plugin>/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionAddress {
    /// The other plugin's name, where the address says one.
    pub plugin: Option<PluginName>,
    /// The function or functions.
    pub target: FunctionTarget,
}

impl FunctionAddress {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (plugin, target) = match text.split_once('/') {
            Some((plugin, target)) => (Some(PluginName::parse(plugin)?), target),
            None => (None, text),
        };
        let target = FunctionTarget::parse(target)?;
        if plugin.is_some() && matches!(target, FunctionTarget::Platform(_)) {
            return Err("takes the platform's own tool from a plugin".to_owned());
        }
        Ok(Self { plugin, target })
    }

    pub(crate) fn target(&self) -> Target {
        Target::Function {
            plugin: self.plugin.as_ref().map(|plugin| plugin.as_str().to_owned()),
            function: self.target.to_string(),
        }
    }
}

impl std::fmt::Display for FunctionAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(plugin) = &self.plugin {
            write!(f, "{plugin}/")?;
        }
        self.target.fmt(f)
    }
}

impl Text for FunctionAddress {
    const WHAT: &'static str = "a function's address";
    const RULE: &'static str =
        "write `<tool>.<function>` or `<tool>.*`, and `<plugin>/` before it for another plugin's";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^(", plugin!(), "/)?", id!(), r"\.(\*|", function!(), ")$"));

    fn parse(text: &str) -> Result<Self, String> {
        Self::read(text)
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(self.target(), cx.span(node.range.clone()));
    }
}

/// Functions of another plugin that this one uses: `<tool>.<function>` or `<tool>.*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionGrant(FunctionTarget);

impl FunctionGrant {
    /// The function or functions.
    pub fn target(&self) -> &FunctionTarget {
        &self.0
    }
}

impl Text for FunctionGrant {
    const WHAT: &'static str = "a function of that plugin";
    const RULE: &'static str = "write `<tool>.<function>`, without the plugin's name";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^", id!(), r"\.(\*|", function!(), ")$"));

    fn parse(text: &str) -> Result<Self, String> {
        match FunctionTarget::parse(text)? {
            FunctionTarget::Platform(_) => Err("is the platform's own, no plugin's".to_owned()),
            target => Ok(Self(target)),
        }
    }
}

/// One function of the plugin's own tools: `<tool>.<function>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnFunction(FunctionId);

impl OwnFunction {
    /// The function.
    pub fn id(&self) -> &FunctionId {
        &self.0
    }
}

impl Text for OwnFunction {
    const WHAT: &'static str = "a function of the plugin's own";
    const RULE: &'static str = "write `<tool>.<function>`, with a tool of this plugin";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^", id!(), r"\.", function!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        match FunctionTarget::parse(text)? {
            FunctionTarget::Function(function) => Ok(Self(function)),
            _ => Err("is not a function of the plugin's own".to_owned()),
        }
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        let tool = self.0.tool();
        cx.refer(Target::OwnTool(tool.to_string()), cx.span_within(node, tool.as_ref()));
    }

    fn hint(text: &str) -> Option<String> {
        text.contains('/').then(|| {
            "only the plugin's own functions can stand here: write `<tool>.<function>`".to_owned()
        })
    }
}

/// An agent: `<agent>` for the plugin's own, `<plugin>/<agent>` for another plugin's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentAddress {
    /// The other plugin's name, where the address says one.
    pub plugin: Option<PluginName>,
    /// The agent's name.
    pub agent: PartName,
}

impl std::fmt::Display for AgentAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(plugin) = &self.plugin {
            write!(f, "{plugin}/")?;
        }
        self.agent.fmt(f)
    }
}

impl Text for AgentAddress {
    const WHAT: &'static str = "an agent's address";
    const RULE: &'static str = "write `<agent>`, and `<plugin>/` before it for another plugin's";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^(", plugin!(), "/)?", id!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        let (plugin, agent) = match text.split_once('/') {
            Some((plugin, agent)) => (Some(PluginName::parse(plugin)?), agent),
            None => (None, text),
        };
        Ok(Self { plugin, agent: PartName::parse(agent)? })
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        let target = Target::Agent {
            plugin: self.plugin.as_ref().map(|plugin| plugin.as_str().to_owned()),
            agent: self.agent.as_str().to_owned(),
        };
        cx.refer(target, cx.span(node.range.clone()));
    }
}
