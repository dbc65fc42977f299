//! Whose a name is: the plugin's own, another plugin's, or the platform's.

use std::collections::{HashMap, HashSet};

use oz0_plugin::manifest::{AgentAddress, FunctionAddress, FunctionTarget, Manifest, PluginName};

use super::View;

/// Whose a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner<'p> {
    /// The plugin's own.
    Own,
    /// The platform's.
    Platform,
    /// Another plugin's, by the name under `uses:`.
    Other(&'p PluginName),
}

impl Owner<'_> {
    pub(crate) fn is_other(self) -> bool {
        matches!(self, Self::Other(_))
    }
}

/// Parts by their bare names.
#[derive(Debug)]
pub(super) struct Parts<'p> {
    agents: HashSet<&'p str>,
    /// The plugin whose tool it is, by the entries of `uses:`.
    used_tools: HashMap<String, &'p PluginName>,
    used_agents: HashMap<&'p str, &'p PluginName>,
}

impl<'p> Parts<'p> {
    pub(super) fn of(manifest: &'p Manifest) -> Self {
        let mut parts = Self {
            agents: manifest.agents.keys().map(|key| key.value.as_str()).collect(),
            used_tools: HashMap::new(),
            used_agents: HashMap::new(),
        };
        for (plugin, uses) in &manifest.uses {
            for tool in uses.tools.iter().filter_map(|grant| grant.target().tool()) {
                parts.used_tools.entry(tool.to_string()).or_insert(&plugin.value);
            }
            for agent in &uses.agents {
                parts.used_agents.entry(agent.as_str()).or_insert(&plugin.value);
            }
        }
        parts
    }
}

impl<'p> View<'p> {
    /// Whose a function is. A bare name that is no own tool's belongs to the entry of `uses:` that names it.
    pub(crate) fn owner_of(&self, address: &'p FunctionAddress) -> Owner<'p> {
        if let Some(plugin) = &address.plugin {
            return Owner::Other(plugin);
        }
        match &address.target {
            FunctionTarget::Platform(_) => Owner::Platform,
            FunctionTarget::Function(id) => self.owner_of_tool(id.tool().as_str()),
            FunctionTarget::WholeTool(tool) => self.owner_of_tool(tool.as_str()),
        }
    }

    /// Whose the tool of a bare name is.
    pub(crate) fn owner_of_tool(&self, tool: &str) -> Owner<'p> {
        if self.tool(tool).is_some() {
            return Owner::Own;
        }
        self.parts.used_tools.get(tool).copied().map_or(Owner::Own, Owner::Other)
    }

    /// Whose an agent is.
    pub(crate) fn owner_of_agent(&self, address: &'p AgentAddress) -> Owner<'p> {
        if let Some(plugin) = &address.plugin {
            return Owner::Other(plugin);
        }
        let name = address.agent.as_str();
        if self.parts.agents.contains(name) {
            return Owner::Own;
        }
        self.parts.used_agents.get(name).copied().map_or(Owner::Own, Owner::Other)
    }
}
