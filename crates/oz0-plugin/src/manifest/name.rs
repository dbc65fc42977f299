//! The names that a manifest gives and uses.

use oz0_diagnostic::Check;
use oz0_listing::{IdError, ToolId};
use oz0_yaml::Node;

use crate::check::{OZ_L001, OZ_L002};
use crate::decode::Context;
use crate::decode::reference::Target;
use crate::decode::text::{Text, pattern, text};

/// The form of the IDs of tools and harnesses, and of every other part's name.
macro_rules! id {
    () => {
        r"[A-Za-z][A-Za-z0-9_-]{0,62}"
    };
}
pub(crate) use id;

/// The form of a plugin's name.
macro_rules! plugin {
    () => {
        r"[a-z][a-z0-9-]{0,62}"
    };
}
pub(crate) use plugin;

/// The form of a function's name, as MCP has it.
macro_rules! function {
    () => {
        r"[A-Za-z0-9_.-]{1,128}"
    };
}
pub(crate) use function;

text! {
    /// A plugin's name.
    pub struct PluginName: "a plugin's name", &OZ_L002, concat!("^", plugin!(), "$"),
    "it begins with a lower-case letter, and has lower-case letters, digits and `-`, at most 63";
}

text! {
    /// The name of a part of the plugin: a connection, an agent, a flow, a skill.
    pub struct PartName: "a part's name", &OZ_L002, concat!("^", id!(), "$"),
    "it begins with a letter, and has letters, digits, `_` and `-`, at most 63";
}

text! {
    /// A function's name as its server lists it.
    pub struct FunctionName: "a function's name", &OZ_L002, concat!("^", function!(), "$"),
    "it is the name as the server lists it: letters, digits, `_`, `-` and `.`, at most 128";
}

text! {
    /// The name of an environment variable.
    pub struct EnvName: "an environment variable's name", &OZ_L002, r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
    "it begins with a letter or `_`, and has letters, digits and `_`, at most 128";
}

text! {
    /// What the names of a connection's secrets begin with, without the `_` that follows.
    pub struct SecretPrefix: "a prefix of secrets' names", &OZ_L002, r"^[A-Za-z_][A-Za-z0-9_]{0,62}$",
    "it begins with a letter or `_`, and has letters, digits and `_`: `GITHUB` for `GITHUB_TOKEN`";
}

text! {
    /// The name of a connection's param, which URL templates write in braces.
    pub struct ParamName: "a param's name", &OZ_L002, r"^[A-Za-z][A-Za-z0-9_]{0,62}$",
    "it begins with a letter, and has letters, digits and `_`, at most 63";
}

text! {
    /// A word that classifies: a tag, a source of data, a need of a model.
    pub struct Label: "a label", &OZ_L002, r"^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$",
    "it begins with a letter or digit, and has letters, digits and `_.:/-`, at most 128";
}

text! {
    /// Text that people read: anything but blank.
    pub struct Prose: "a text", &OZ_L001, r"[^ \t\r\n]",
    "write a text that is not blank";
}

text! {
    /// One argument of a command, or the value of a variable: any text without NUL, which no process can be given.
    pub struct Argument: "an argument", &OZ_L001, r"^[^\x00]*$",
    "take the NUL character out";
}

text! {
    /// The name of an HTTP header (RFC 9110, 5.1).
    pub struct HeaderName: "a header's name", &OZ_L002, r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$",
    "it has letters, digits and the marks that RFC 9110 allows in a token";
}

text! {
    /// The value of an HTTP header: visible ASCII, with blanks only inside (RFC 9110, 5.5).
    pub struct HeaderValue: "a header's value", &OZ_L001, r"^[!-~]([\t -~]*[!-~])?$",
    "it has visible ASCII characters, with blanks only between them";
}

text! {
    /// The name of one of the plugin's connections.
    pub struct ConnectionName: "a connection's name", &OZ_L002, concat!("^", id!(), "$"),
    "it begins with a letter, and has letters, digits, `_` and `-`, at most 63";

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(Target::Connection(self.0.clone()), cx.span(node.range.clone()));
    }
}

text! {
    /// The ID of one of the plugin's harnesses.
    pub struct HarnessName: "a harness's ID", &OZ_L002, concat!("^", id!(), "$"),
    "it begins with a letter, and has letters, digits, `_` and `-`, at most 63";

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(Target::Harness(self.0.clone()), cx.span(node.range.clone()));
    }
}

/// The ID of a tool or a harness, where the manifest gives it.
impl Text for ToolId {
    const WHAT: &'static str = "an ID";
    const RULE: &'static str =
        "it begins with a letter, and has letters, digits, `_` and `-`, at most 63";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^", id!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        Self::try_from(text).map_err(|error| match error {
            IdError::Reserved => "is the platform's own".to_owned(),
            IdError::Malformed { .. } => "is not an ID".to_owned(),
        })
    }

    fn reserved(text: &str) -> bool {
        text == "oz"
    }
}
