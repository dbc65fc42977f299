//! What a plugin needs from outside: accounts, secrets, models, other plugins.

use super::address::{FunctionGrant, OwnFunction};
use super::host::HostPattern;
use super::name::{EnvName, Label, ParamName, PartName, Prose, SecretPrefix};
use super::version::VersionRange;
use crate::decode::declare::record;
use crate::{List, Map};

record! {
    /// An account at an outside system.
    pub struct Connection {
        /// What the names of its secrets begin with: `GITHUB` for `GITHUB_TOKEN`.
        [optional] prefix = "prefix": SecretPrefix,
        /// The secrets that connecting asks for.
        [many] secrets = "secrets": List<EnvName>,
        /// What differs from account to account, such as a host.
        [many] params = "params": Map<ParamName, Param>,
        /// The functions that need each of the system's scopes.
        [many] scopes = "scopes": Map<Label, List<OwnFunction>>,
    }
}

record! {
    /// Something that differs from account to account.
    pub struct Param {
        /// Its value where whoever connects gives none.
        [optional] default = "default": Prose,
    }
}

record! {
    /// What the plugin's own processes are given.
    pub struct Requires {
        /// Secrets that they cannot run without.
        [many] secrets = "secrets": List<EnvName>,
        /// Secrets that they use where there are some.
        [many] optional_secrets = "optional_secrets": List<EnvName>,
        /// Secrets that no process sees: they are put into requests to these hosts outside it.
        [many] inject = "inject": Map<EnvName, List<HostPattern>>,
        /// Models.
        [optional] models = "models": Models,
    }
}

record! {
    /// The models that the plugin's own processes call.
    pub struct Models {
        /// The alias or model that answers MCP sampling.
        [optional] sampling = "sampling": Label,
        /// What they call the model gateway for, with a token of each call's own.
        [many] gateway = "gateway": List<Label>,
    }
}

record! {
    /// The parts of another plugin that this one uses.
    pub struct Uses {
        /// The versions that work; any, where it is left out.
        [optional] version = "version": VersionRange,
        /// Its functions: `<tool>.<function>`, or `<tool>.*` for a whole tool.
        [many] tools = "tools": List<FunctionGrant>,
        /// Its agents.
        [many] agents = "agents": List<PartName>,
        /// Its skills.
        [many] skills = "skills": List<PartName>,
    }
}
