//! Names that a place of the manifest may refer to: what the manifest defines, and the functions that its tools list.

use std::collections::BTreeMap;
use std::path::Path;

use oz0_lint::Plugin;
use oz0_listing::Function;
use oz0_listing::file::{ListingFile, SnapshotFile};
use oz0_listing::json::Json;
use oz0_plugin::LISTING;
use oz0_yaml::{Node, Value};

use crate::schema::Step;

/// The longest file of functions that is read to complete a word, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Function,
    Tool,
    Part,
    File,
}

/// A name that may stand at a place.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) of: Of,
    /// What its server says of it, as it says it.
    pub(crate) description: Option<String>,
}

/// What is known of a plugin beside the text of its manifest.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The functions of each tool, by the names that its server lists, with what it says of them.
    functions: BTreeMap<String, Vec<(String, Option<String>)>>,
    files: Vec<String>,
}

impl Known {
    /// Reads the measured listing and the snapshots. What cannot be read is not known.
    pub(crate) fn of(plugin: &Plugin) -> Self {
        let mut known = Self::default();
        for file in plugin.packed() {
            known.files.push(file.path.clone());
            let is_snapshot = has_ending(&file.path, "json") && file.path.starts_with("snapshots/");
            if file.path != LISTING && !is_snapshot || file.len > LIMIT {
                continue;
            }
            let text = plugin.read_file(file, LIMIT).ok().map(String::from_utf8);
            let Some(Ok(text)) = text else { continue };
            let functions = if is_snapshot {
                SnapshotFile::read(&text).map(|file| file.functions)
            } else {
                ListingFile::read(&text).map(|file| file.functions)
            };
            functions.unwrap_or_default().iter().for_each(|function| known.add(function));
        }
        known
    }

    fn add(&mut self, function: &Function) {
        let description = function.listing.value().get("description").and_then(Json::as_str);
        let known = (function.id.function().to_owned(), description.map(str::to_owned));
        self.functions.entry(function.id.tool().to_string()).or_default().push(known);
    }

    fn of_tool(&self, tool: &str) -> impl Iterator<Item = Candidate> {
        let functions = self.functions.get(tool).into_iter().flatten();
        functions.map(|(name, description)| Candidate {
            name: name.clone(),
            of: Of::Function,
            description: description.clone(),
        })
    }
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == ending)
}

/// The names that may stand in this slot of a record, at this path of the manifest.
pub(crate) fn names(
    slot: (&str, &str),
    path: &[Step],
    manifest: &Node,
    known: &Known,
) -> Vec<Candidate> {
    let of_manifest = Names { manifest, known };
    match slot {
        ("Manifest", "kind") => words(oz0_lint::KINDS),
        ("Agent", "tools") => {
            let mut names = of_manifest.own_functions();
            names.extend(of_manifest.whole_tools());
            names.extend(of_manifest.used("tools"));
            names
        }
        ("Step", "call") => {
            let mut names = of_manifest.own_functions();
            names.extend(of_manifest.used("tools").filter(|it| !it.name.ends_with(".*")));
            names
        }
        ("Channel", "send") | ("Hook", "call") | ("Connection", "scopes") => {
            of_manifest.own_functions()
        }
        ("Rule" | "Hook", "match") => {
            let mut names = of_manifest.own_functions();
            names.extend(of_manifest.whole_tools());
            names
        }
        ("Tool", "requires_approval") => of_tool(path, known),
        ("Step", "agent") => {
            let mut names = of_manifest.parts("agents");
            names.extend(of_manifest.used("agents"));
            names
        }
        ("Agent", "harness") => of_manifest.parts("harnesses"),
        ("Channel" | "EventSource" | "Tool", "connection") => of_manifest.parts("connections"),
        ("Agent", "instructions") => of_manifest.files(),
        ("Trigger", "event") => {
            let sources = of_manifest.parts("event_sources").into_iter();
            sources.map(|it| Candidate { name: format!("{}.", it.name), ..it }).collect()
        }
        _ => Vec::new(),
    }
}

/// The names that the keys of this slot's mapping may be.
pub(crate) fn key_names(slot: (&str, &str), path: &[Step], known: &Known) -> Vec<Candidate> {
    match slot {
        ("Tool", "overrides" | "unstable") => of_tool(path, known),
        _ => Vec::new(),
    }
}

/// The functions of the tool that a path leads through.
fn of_tool(path: &[Step], known: &Known) -> Vec<Candidate> {
    match path {
        [Step::Key(tools), Step::Key(tool), ..] if tools == "tools" => {
            known.of_tool(tool).collect()
        }
        _ => Vec::new(),
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<Candidate> {
    words.map(|word| part(word.to_owned())).to_vec()
}

fn part(name: String) -> Candidate {
    Candidate { name, of: Of::Part, description: None }
}

struct Names<'a> {
    manifest: &'a Node,
    known: &'a Known,
}

impl<'a> Names<'a> {
    /// The names under a key of the manifest.
    fn keys(&self, key: &str) -> impl Iterator<Item = &'a str> {
        let entries = match self.manifest.get(key).map(|entry| &entry.value.value) {
            Some(Value::Mapping(entries)) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().filter_map(|entry| entry.key.as_str())
    }

    fn parts(&self, key: &str) -> Vec<Candidate> {
        self.keys(key).map(|name| part(name.to_owned())).collect()
    }

    fn own_functions(&self) -> Vec<Candidate> {
        let of_tool = |tool: &'a str| {
            let functions = self.known.of_tool(tool);
            functions.map(move |it| Candidate { name: format!("{tool}.{}", it.name), ..it })
        };
        self.keys("tools").flat_map(of_tool).collect()
    }

    fn whole_tools(&self) -> impl Iterator<Item = Candidate> {
        let whole = |tool| Candidate { name: format!("{tool}.*"), of: Of::Tool, description: None };
        self.keys("tools").map(whole)
    }

    /// What the manifest takes from other plugins, under its full address.
    fn used(&self, key: &'a str) -> impl Iterator<Item = Candidate> {
        let entries = match self.manifest.get("uses").map(|entry| &entry.value.value) {
            Some(Value::Mapping(entries)) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().flat_map(move |entry| {
            let plugin = entry.key.as_str().unwrap_or_default();
            let listed = match entry.value.get(key).map(|entry| &entry.value.value) {
                Some(Value::Sequence(items)) => items.as_slice(),
                _ => &[],
            };
            listed.iter().filter_map(Node::as_str).map(move |name| Candidate {
                name: format!("{plugin}/{name}"),
                of: if key == "tools" { Of::Function } else { Of::Part },
                description: None,
            })
        })
    }

    /// Files that hold prose.
    fn files(&self) -> Vec<Candidate> {
        let is_prose = |path: &&String| has_ending(path, "md") || has_ending(path, "txt");
        let files = self.known.files.iter().filter(is_prose);
        files.map(|path| Candidate { of: Of::File, ..part(path.clone()) }).collect()
    }
}
