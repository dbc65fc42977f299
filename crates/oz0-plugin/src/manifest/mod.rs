//! The manifest, `oz0-plugin.yaml`: every key typed, and each value with its place.
//!
//! One declaration of a record or a text makes its type, its decoder and its part of [`schema`]. What the schema cannot
//! say, that a name refers to something, is resolved after decoding.

mod address;
mod agent;
mod compile;
mod connection;
mod flow;
mod host;
mod name;
mod package;
mod path;
mod pointer;
mod policy;
mod tool;
mod url;
mod version;

use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_listing::ToolId;
use oz0_yaml::{Comment, Limits, Node};
use serde_json::json;

pub use address::{AgentAddress, FunctionAddress, FunctionGrant, FunctionTarget, OwnFunction};
pub use agent::{Agent, Harness, Model, ModelChoice, Skill, ToolLoading};
pub use compile::COMPILED_MANIFEST;
pub(crate) use compile::compile;
pub use connection::{Connection, Models, Param, Requires, Uses};
pub use flow::{
    CallPattern, Channel, EventAddress, EventSource, Flow, Hook, HookPoint, Step, StepCall, Trigger,
};
pub use host::HostPattern;
pub(crate) use name::id;
pub use name::{
    Argument, ConnectionName, EnvName, FunctionName, HarnessName, HeaderName, HeaderValue, Label,
    ParamName, PartName, PluginName, Prose, SecretPrefix,
};
pub use package::{PackageRef, Pin};
pub use path::{FilePath, SkillPath};
pub use pointer::{JsonPointer, UnstablePointer};
pub use policy::{Action, PolicyMatch, Rule};
pub use tool::{Annotations, Approval, Backend, Labels, Mcp, Override, Tool};
pub use url::UrlTemplate;
pub use version::{PluginVersion, Schedule, VersionRange};

use crate::check::OZ_L001;
use crate::decode::declare::record;
use crate::decode::reference::{Names, Target};
use crate::decode::schema::Definitions;
use crate::decode::text::text;
use crate::decode::{Context, Decode};
use crate::{List, Map};

/// The manifest's file name, at the plugin's root.
pub const MANIFEST: &str = "oz0-plugin.yaml";

record! {
    /// What a plugin is, what it runs, and what it may reach.
    pub struct Manifest {
        /// The plugin's name: lower-case letters, digits and `-`.
        [required] name = "name": PluginName,
        /// The plugin's version, as Semantic Versioning 2.0.0 writes it.
        [required] version = "version": PluginVersion,
        /// What the plugin is: a `connector` brings one outside system's tools, a `capability` does a job with other
        /// plugins' tools, a `policy` watches calls. A word that is none of these is lint's to judge.
        [optional] kind = "kind": Kind,
        /// The name that people read.
        [optional] title = "title": Prose,
        /// What the plugin does, in a sentence.
        [required] description = "description": Prose,
        /// The licence, as an SPDX expression.
        [required] license = "license": License,
        /// The hosts that the plugin's processes reach, exactly.
        [many] egress = "egress": List<HostPattern>,
        /// The plugin's tools: each is a server, under the ID that its functions' IDs begin with.
        [many] tools = "tools": Map<ToolId, Tool>,
        /// Accounts at outside systems, whose tokens the platform adds to each call.
        [many] connections = "connections": Map<PartName, Connection>,
        /// What the plugin's own processes are given.
        [optional] requires = "requires": Requires,
        /// Agents that the plugin brings.
        [many] agents = "agents": Map<PartName, Agent>,
        /// Programs that run an agent's session.
        [many] harnesses = "harnesses": Map<ToolId, Harness>,
        /// Fixed sequences of calls and agents.
        [many] flows = "flows": Map<PartName, Flow>,
        /// Functions that the platform calls around other calls.
        [many] hooks = "hooks": List<Hook>,
        /// Where events come from.
        [many] event_sources = "event_sources": Map<PartName, EventSource>,
        /// Where messages to people go.
        [many] channels = "channels": Map<PartName, Channel>,
        /// Written instructions that agents read when they need them.
        [many] skills = "skills": Map<PartName, Skill>,
        /// Suggested rules for the plugin's own functions; whoever installs it may switch each. The first match wins.
        [many] policy = "policy": List<Rule>,
        /// The parts of other plugins that this one uses, by the plugin's name.
        [many] uses = "uses": Map<PluginName, Uses>,
    }
}

text! {
    /// What the plugin is: `connector`, `capability` or `policy`. Any other word decodes too, for lint to report.
    pub struct Kind: "a plugin's kind", &OZ_L001, r"[^ \t\r\n]",
    "it is `connector`, `capability` or `policy`";
}

text! {
    /// An SPDX licence expression, as it is written.
    pub struct License: "a licence expression", &OZ_L001, r"^[A-Za-z0-9(][A-Za-z0-9.+:() -]*$",
    "write an SPDX expression, such as `Apache-2.0` or `MIT OR Apache-2.0`";
}

/// What became of a manifest's bytes.
#[derive(Debug)]
pub struct Decoded {
    /// The file as its author sees it. Bytes that are not UTF-8 stand in it as U+FFFD.
    pub source: Arc<SourceFile>,
    /// The manifest, when nothing is wrong with it.
    pub manifest: Option<Manifest>,
    /// The tree, when all of the file is in it: what it defines, other files may name.
    pub(crate) root: Option<Node>,
    /// Everything that is wrong with it, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it has the shape that [`schema`] describes. What is then still wrong, no schema can see.
    pub well_formed: bool,
    /// The file's comments, some of which exempt from a rule.
    pub comments: Vec<Comment>,
    pub(crate) paths: Vec<FileUse>,
}

impl Decoded {
    /// The plugin's name, also where the rest of the manifest is wrong.
    pub(crate) fn name(&self) -> Option<&str> {
        self.root.as_ref()?.get("name")?.value.as_str()
    }
}

/// A file or folder of the plugin that the manifest names.
#[derive(Debug)]
pub(crate) struct FileUse {
    pub(crate) path: String,
    pub(crate) span: Span,
    pub(crate) place: String,
}

/// Where the manifest's keys are described.
const GUIDE: &str = "`oz0 plugin schema` describes what goes there";

/// Decodes a manifest's bytes, with every problem in one run. Never panics, whatever the bytes.
///
/// `path` is the file's path as diagnostics show it.
pub fn decode(path: &str, bytes: &[u8]) -> Decoded {
    let file = read_file::<Manifest>(path, bytes, GUIDE, &|root| Some(Names::of(root)));
    let paths = file
        .references
        .into_iter()
        .filter_map(|reference| match reference.target {
            Target::File(path) => {
                Some(FileUse { path, span: reference.span, place: reference.place })
            }
            _ => None,
        })
        .collect();
    Decoded {
        manifest: file.value.filter(|_| file.diagnostics.is_empty()),
        source: file.source,
        root: file.root,
        diagnostics: file.diagnostics,
        well_formed: file.well_formed,
        comments: file.comments,
        paths,
    }
}

/// A YAML file of the plugin, read as one record.
pub(crate) struct ReadFile<T> {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) value: Option<T>,
    pub(crate) root: Option<Node>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) well_formed: bool,
    pub(crate) comments: Vec<Comment>,
    pub(crate) references: Vec<crate::decode::reference::Reference>,
}

/// Reads a YAML file as a `T`, and resolves its references against the names that `names` finds. `guide` is a clause that
/// says what its keys are.
pub(crate) fn read_file<T: Decode>(
    path: &str,
    bytes: &[u8],
    guide: &'static str,
    names: &dyn Fn(Option<&Node>) -> Option<Names>,
) -> ReadFile<T> {
    let text = match oz0_yaml::decode(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => return not_utf8(path, bytes, error),
    };
    let parsed = oz0_yaml::parse(&text, &Limits::MANIFEST);
    let source = SourceFile::new(path, text);
    let mut cx = Context::new(&source, guide);
    cx.partial = parsed.problems.iter().any(|problem| problem.kind.hides_text());
    for problem in parsed.problems {
        let span = Span::new(&source, problem.range);
        let mut diagnostic = Diagnostic::new(&OZ_L001, span, problem.message);
        if let Some(help) = problem.help {
            diagnostic = diagnostic.help(help);
        }
        if let Some((range, message)) = problem.related {
            diagnostic = diagnostic.related(Span::new(&source, range), message);
        }
        cx.misshape(diagnostic);
    }
    let value = match &parsed.root {
        Some(root) => T::decode(root, &mut cx),
        None => {
            if cx.is_clean() {
                let diagnostic =
                    Diagnostic::new(&OZ_L001, Span::start_of(&source), "the file is empty");
                cx.misshape(diagnostic);
            }
            None
        }
    };
    let references = std::mem::take(&mut cx.references);
    if let (false, Some(names)) = (cx.partial, names(parsed.root.as_ref())) {
        names.resolve(&references, &mut cx);
    }
    let (well_formed, partial) = (!cx.misshapen, cx.partial);
    let diagnostics = cx.into_diagnostics();
    ReadFile {
        value,
        root: parsed.root.filter(|_| !partial),
        diagnostics,
        well_formed,
        comments: parsed.comments,
        references,
        source,
    }
}

fn not_utf8<T>(path: &str, bytes: &[u8], error: oz0_yaml::NotUtf8) -> ReadFile<T> {
    let source = SourceFile::new(path, String::from_utf8_lossy(bytes));
    let at = error.offset();
    // What is not UTF-8 stands in the text as U+FFFD, and all before it as it was.
    let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
    let diagnostic = Diagnostic::new(&OZ_L001, span, format!("the file is {error}"));
    ReadFile {
        value: None,
        root: None,
        diagnostics: vec![diagnostic.help("save the file as UTF-8")],
        well_formed: false,
        comments: Vec::new(),
        references: Vec::new(),
        source,
    }
}

/// The manifest's JSON Schema (2020-12), for editors: it accepts exactly the manifests whose shape the decoder accepts.
pub fn schema() -> serde_json::Value {
    let mut definitions = Definitions::default();
    let root = Manifest::schema(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "oz0 plugin manifest",
        "description": "oz0-plugin.yaml, at the root of a plugin's folder",
        "$ref": root["$ref"],
        "$defs": definitions.into_value(),
    })
}
