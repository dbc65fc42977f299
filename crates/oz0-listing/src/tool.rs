//! What of a tool's functions is listed, and what is left out and why.
//!
//! A function whose name could pass for another's is left out and never called: a name outside
//! MCP's characters, a name its server lists twice, two functions that models would see under one
//! name. So is one whose JSON two readers could read differently. The others of its tool stay.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::id::is_function_name;
use crate::listing::Raw;
use crate::{FunctionId, Listing, ListingHash, ModelName, Pointer, ToolId, Unlistable, escape};

/// How many characters of a name that was left out are kept.
const NAME_SHOWN: usize = 128;

/// How many functions of one model name a reason names: a server can make as many as it likes.
const OTHERS_NAMED: usize = 3;

/// A function that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its ID within the plugin.
    pub id: FunctionId,
    /// The hash of its listing.
    pub hash: ListingHash,
    /// Its listing.
    pub listing: Listing,
    /// Why its calls are refused though it is listed, if they are ([`Listing::uncallable`]).
    pub uncallable: Option<String>,
    /// The pointers that its plugin declares unstable, sorted: cut from the listing, whether or
    /// not something stood there this time.
    pub unstable: Vec<Pointer>,
}

/// A function that is not listed and never called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its tool.
    pub tool: ToolId,
    /// The name that its server gives it, escaped for one line and bounded; empty if it gives none.
    pub name: String,
    /// Why, as a clause without a full stop.
    pub reason: String,
}

/// What one tool lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolListing {
    /// The tool.
    pub tool: ToolId,
    /// What is listed, in the order of the IDs.
    pub functions: Vec<Function>,
    /// What is left out, sorted.
    pub left_out: Vec<LeftOut>,
}

/// What one plugin lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginListing {
    /// What is listed, in the order of the IDs.
    pub functions: Vec<Function>,
    /// What is left out, sorted.
    pub left_out: Vec<LeftOut>,
}

/// Reads one tool's functions, each as the JSON that its server listed it with. `unstable` are the
/// pointers that the plugin declares unstable, by the server's name of the function.
pub fn read_tool(
    tool: &ToolId,
    raw: &[&str],
    unstable: &BTreeMap<String, Vec<Pointer>>,
) -> ToolListing {
    let read: Vec<_> = raw.iter().map(|raw| Read::of(raw)).collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for name in read.iter().flat_map(Read::names) {
        *times.entry(name).or_default() += 1;
    }
    let mut left_out: Vec<_> = times
        .iter()
        .filter(|&(name, _)| !is_function_name(name))
        .map(|(name, _)| left_out_of(tool, name, outside(name)))
        .chain(times.iter().filter(|&(name, times)| is_function_name(name) && *times > 1).map(
            |(name, times)| {
                left_out_of(tool, name, format!("its server lists this name {times} times"))
            },
        ))
        .collect();
    let times: BTreeMap<String, usize> =
        times.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
    let said = |name: &str| !is_function_name(name) || times.get(name).is_some_and(|n| *n > 1);

    let mut functions = Vec::new();
    for read in read {
        match read {
            Read::Parsed { name, .. } if said(&name) => {}
            Read::Parsed { name, raw } => {
                let mut pointers = unstable.get(&name).cloned().unwrap_or_default();
                pointers.sort();
                pointers.dedup();
                let listed = raw.list(&pointers).map_err(|error| error.to_string());
                let id = FunctionId::new(tool, &name).map_err(|error| error.to_string());
                match listed.and_then(|listing| Ok((id?, listing))) {
                    Ok((id, listing)) => functions.push(Function {
                        id,
                        hash: listing.hash(),
                        uncallable: listing.uncallable().map(str::to_owned),
                        listing,
                        unstable: pointers,
                    }),
                    Err(reason) => left_out.push(left_out_of(tool, &name, reason)),
                }
            }
            Read::Refused { names, .. } if names.iter().any(|name| said(name)) => {}
            Read::Refused { names, error } => {
                let name = names.first().map_or("", String::as_str);
                left_out.push(left_out_of(tool, name, error.to_string()));
            }
        }
    }
    functions.sort_by(|a, b| a.id.cmp(&b.id));
    left_out.sort();
    ToolListing { tool: tool.clone(), functions, left_out }
}

/// Puts a plugin's tools together, and leaves out every function whose model name another one has
/// as well.
pub fn merge(tools: Vec<ToolListing>) -> PluginListing {
    let mut by_model_name: BTreeMap<ModelName, Vec<Function>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for tool in tools {
        left_out.extend(tool.left_out);
        for function in tool.functions {
            by_model_name.entry(ModelName::of(&function.id)).or_default().push(function);
        }
    }
    let mut functions = Vec::new();
    for (model_name, mut same) in by_model_name {
        if same.len() == 1 {
            functions.append(&mut same);
            continue;
        }
        for (at, function) in same.iter().enumerate() {
            let others = same.iter().enumerate().filter(|&(other, _)| other != at);
            let mut named: Vec<_> =
                others.map(|(_, other)| format!("`{}`", other.id)).take(OTHERS_NAMED).collect();
            let unnamed = same.len() - 1 - named.len();
            if unnamed > 0 {
                named.push(format!("{unnamed} more"));
            }
            let reason = format!(
                "models would see it as `{model_name}`, as they would {}",
                named.join(", ")
            );
            left_out.push(left_out_of(&function.id.tool(), function.id.function(), reason));
        }
    }
    functions.sort_by(|a, b| a.id.cmp(&b.id));
    left_out.sort();
    PluginListing { functions, left_out }
}

fn left_out_of(tool: &ToolId, name: &str, reason: String) -> LeftOut {
    LeftOut { tool: tool.clone(), name: escape::line_within(name, NAME_SHOWN).into_owned(), reason }
}

fn outside(name: &str) -> String {
    let what = if name.is_empty() {
        "its name is empty"
    } else if name.len() > 128 && name.bytes().all(|byte| byte.is_ascii()) {
        "its name is longer than 128 characters"
    } else {
        "its name holds other characters"
    };
    format!("{what}; a function's name is 1 to 128 letters, digits, `_`, `-` and `.`")
}

enum Read<'a> {
    Parsed { name: String, raw: Raw<'a> },
    Refused { names: Vec<String>, error: Unlistable },
}

impl<'a> Read<'a> {
    fn of(raw: &'a str) -> Self {
        match Raw::parse(raw) {
            Ok(parsed) => {
                Self::Parsed { name: parsed.name().unwrap_or_default().to_owned(), raw: parsed }
            }
            Err(error) => Self::Refused { names: names_in(raw), error },
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::Parsed { name, .. } => std::slice::from_ref(name),
            Self::Refused { names, .. } => names,
        }
        .iter()
        .map(String::as_str)
    }
}

/// Every name that some reader could read in a function that is refused, so that a function cannot
/// take another's name by a copy that breaks the rules.
fn names_in(raw: &str) -> Vec<String> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a function")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut names = Vec::new();
            // What comes after something that nobody can read is not read.
            while let Ok(Some(key)) = map.next_key::<String>() {
                if key != "name" {
                    if map.next_value::<IgnoredAny>().is_err() {
                        break;
                    }
                    continue;
                }
                match map.next_value::<&RawValue>() {
                    Ok(value) => names.extend(serde_json::from_str::<String>(value.get())),
                    Err(_) => break,
                }
            }
            names.dedup();
            Ok(names)
        }
    }

    // An error after the visitor has ended (something behind the object) loses the names: such
    // text is no function to anybody.
    serde_json::Deserializer::from_str(raw).deserialize_map(Names).unwrap_or_default()
}
