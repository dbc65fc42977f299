//! Tools: the servers of a plugin, and what the manifest says about their functions.

use std::collections::BTreeMap;

use oz0_listing::Pointer;
use oz0_yaml::Node;
use serde_json::Map as JsonObject;
use serde_json::Value;

use super::name::{
    Argument, ConnectionName, EnvName, FunctionName, HeaderName, HeaderValue, Label,
};
use super::package::PackageRef;
use super::pointer::{JsonPointer, UnstablePointer};
use super::url::UrlTemplate;
use crate::decode::declare::{choice, record};
use crate::decode::reference::Target;
use crate::decode::text::Text;
use crate::decode::{Constraint, Context};
use crate::{List, Map, NonEmpty, Spanned};

record! {
    /// One server and what is said about its functions. Exactly one of `mcp`, `package` and `url` says where it is.
    pub struct Tool {
        /// A server of the plugin's own, started in the plugin's folder, on stdio.
        [optional] mcp = "mcp": Mcp,
        /// A server from a public package: `pypi:NAME==VERSION`, `npm:NAME@VERSION` or `oci:IMAGE@sha256:DIGEST`.
        [optional] package = "package": PackageRef,
        /// A remote server's URL; `{name}` stands for a param of the tool's connection.
        [optional] url = "url": UrlTemplate,
        /// Arguments for the package's server.
        [many] args = "args": List<Argument>,
        /// Variables of the package's server, beside the ones that every server gets.
        [many] env = "env": Map<EnvName, Argument>,
        /// Headers for the remote server.
        [many] headers = "headers": Map<HeaderName, HeaderValue>,
        /// The connection whose token its calls get.
        [optional] connection = "connection": ConnectionName,
        /// Which calls of the whole tool a person is asked about.
        [optional] approval = "approval": Approval,
        /// Functions of which a person decides every call, by the names that the server lists.
        [many] requires_approval = "requires_approval": List<FunctionName>,
        /// What is said of single functions beyond what the server lists, by the names that it lists.
        [many] overrides = "overrides": Map<FunctionName, Override>,
        /// Places of functions' listings that differ from start to start, which are cut before a listing is hashed.
        [many] unstable = "unstable": Map<FunctionName, List<UnstablePointer>>,
        /// What its data is.
        [optional] labels = "labels": Labels,
    }
    constraints &[
        Constraint::ExactlyOne(&["mcp", "package", "url"]),
        Constraint::OnlyWith("args", "package"),
        Constraint::OnlyWith("env", "package"),
        Constraint::OnlyWith("headers", "url"),
    ];
    then refer_to_params;
}

/// Each placeholder of a tool's URL is a param of its connection.
fn refer_to_params(node: &Node, cx: &mut Context<'_>) {
    let Some(url) = node.get("url") else { return };
    let Some(Ok(template)) = url
        .value
        .as_str()
        .filter(|text| UrlTemplate::pattern().is_match(text))
        .map(UrlTemplate::parse)
    else {
        return;
    };
    let connection =
        node.get("connection").and_then(|entry| entry.value.as_str()).map(str::to_owned);
    for param in template.params() {
        let span = cx.span_within(&url.value, &format!("{{{param}}}"));
        let target = Target::Param { connection: connection.clone(), param: param.clone() };
        cx.within("url".to_owned(), url.key.range.clone(), |cx| cx.refer(target, span));
    }
}

/// Where a tool's server is.
#[derive(Debug, Clone, Copy)]
pub enum Backend<'t> {
    /// A process in the plugin's folder.
    Mcp(&'t Mcp),
    /// A package's server.
    Package(&'t PackageRef),
    /// A remote server.
    Url(&'t UrlTemplate),
}

impl Tool {
    /// Where the server is.
    pub fn backend(&self) -> Backend<'_> {
        match (&self.mcp, &self.package, &self.url) {
            (Some(mcp), ..) => Backend::Mcp(&mcp.value),
            (_, Some(package), _) => Backend::Package(&package.value),
            (.., Some(url)) => Backend::Url(&url.value),
            (None, None, None) => unreachable!("a tool decodes only with exactly one of the three"),
        }
    }

    /// Whether its server is a remote one, which is never dialled by a test.
    pub fn is_remote(&self) -> bool {
        self.url.is_some()
    }

    /// The variables that the manifest gives its process, and their values; none of a remote one.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.mcp.iter().flat_map(|mcp| mcp.value.env.iter());
        own.chain(self.env.iter()).map(|(name, value): &(Spanned<EnvName>, Spanned<Argument>)| {
            (name.as_str(), value.as_str())
        })
    }

    /// What the manifest asks for the whole tool; `never` where it says nothing.
    pub fn approval(&self) -> Approval {
        self.approval.as_ref().map_or(Approval::Never, |approval| approval.value)
    }

    /// The unstable places by function, as `oz0_listing::read_tool` takes them.
    pub fn unstable_pointers(&self) -> BTreeMap<String, Vec<Pointer>> {
        let pointers = |list: &List<UnstablePointer>| -> Vec<Pointer> {
            list.iter().map(|pointer| pointer.pointer().clone()).collect()
        };
        self.unstable
            .iter()
            .map(|(function, list)| (function.as_str().to_owned(), pointers(list)))
            .collect()
    }
}

record! {
    /// A server that is started as a process, in the plugin's folder, and speaks on its stdin and stdout.
    pub struct Mcp {
        /// The program and its arguments.
        [required] command = "command": NonEmpty<Argument>,
        /// Variables of its environment, beside the ones that every server gets.
        [many] env = "env": Map<EnvName, Argument>,
    }
}

impl Mcp {
    /// The program and its arguments as texts.
    pub fn argv(&self) -> Vec<&str> {
        self.command.iter().map(|argument| argument.as_str()).collect()
    }
}

choice! {
    /// Which calls of a tool a person is asked about.
    pub enum Approval: "a tool's approval" {
        /// None.
        Never = "never",
        /// Every call that may write.
        Writes = "writes",
        /// Every call.
        Always = "always",
    }
}

record! {
    /// What is said of one function beyond what its server lists. Merged member by member, and never hashed.
    pub struct Override {
        /// MCP's hints, each in place of the one that the server lists.
        [optional] annotations = "annotations": Annotations,
        /// The JSON Schema of its structured results.
        [optional] output_schema = "outputSchema": JsonObject<String, Value>,
        /// A JSON pointer into the arguments: the text there gets the AI label.
        [optional] ai_label = "ai_label": JsonPointer,
    }
}

record! {
    /// MCP's hints about a function.
    pub struct Annotations {
        /// The title that people read.
        [optional] title = "title": super::Prose,
        /// Whether it changes nothing.
        [optional] read_only = "readOnlyHint": bool,
        /// Whether it may delete or overwrite.
        [optional] destructive = "destructiveHint": bool,
        /// Whether calling it again with the same arguments changes nothing more.
        [optional] idempotent = "idempotentHint": bool,
        /// Whether it reaches the world outside.
        [optional] open_world = "openWorldHint": bool,
    }
}

record! {
    /// What a tool's data is.
    pub struct Labels {
        /// How private its data is, such as `confidential`.
        [optional] source = "source": Label,
        /// Whether what it returns is input from outside.
        [optional] untrusted = "untrusted": bool,
    }
}
