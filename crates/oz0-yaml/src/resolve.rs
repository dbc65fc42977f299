//! From the draft to nodes: tags, aliases, duplicate keys, and the limits.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::Tag;

use crate::Limits;
use crate::node::{Entry, Node, Style, Value};
use crate::problem::{Problem, ProblemKind};
use crate::read::{Content, Draft, Id, Raw};
use crate::scalar;

pub(crate) fn resolve(
    text: &str,
    draft: Draft,
    limits: &Limits,
    problems: &mut Vec<Problem>,
) -> Option<Node> {
    if let Some((first, second)) = draft.documents.filter(|(_, second)| !second.is_empty()) {
        problems.push(
            Problem::new(ProblemKind::Documents, second, "a second document begins here")
                .help("keep one document in a file")
                .related(first..first, "the first document begins here"),
        );
    }
    let root = draft.root?;
    let mut resolver = Resolver {
        text,
        nodes: &draft.nodes,
        limits,
        problems,
        active: Vec::new(),
        alias: None,
        added_nodes: 0,
        added_bytes: 0,
        exhausted: false,
        too_deep: None,
    };
    Some(resolver.node(root, 0))
}

struct Resolver<'a> {
    text: &'a str,
    nodes: &'a [Raw],
    limits: &'a Limits,
    problems: &'a mut Vec<Problem>,
    /// The collections around the node that is being made, through aliases too.
    active: Vec<Id>,
    /// The alias in the text that is being expanded, the outermost.
    alias: Option<Range<usize>>,
    added_nodes: usize,
    added_bytes: usize,
    exhausted: bool,
    /// The last place that was reported as too deep.
    too_deep: Option<Range<usize>>,
}

impl Resolver<'_> {
    fn node(&mut self, id: Id, depth: usize) -> Node {
        let nodes = self.nodes;
        let raw = &nodes[id];
        match &raw.content {
            Content::Alias(target) => return self.alias(raw, *target, depth),
            Content::UnknownAlias(name) => {
                if self.alias.is_none() {
                    let message = format!("there is no anchor `&{name}` before this alias");
                    self.problems.push(
                        Problem::new(ProblemKind::UnknownAnchor, raw.range.clone(), message)
                            .help("quote it, if the text begins with `*`"),
                    );
                }
                return absent(raw);
            }
            _ => {}
        }
        if self.alias.is_some() && !self.pay(&raw.content) {
            return absent(raw);
        }
        let value = match &raw.content {
            Content::Scalar(text) => self.scalar(raw, text),
            Content::Sequence(ids) | Content::Mapping(ids) => {
                if depth >= self.limits.levels() {
                    self.too_deep(raw);
                    return absent(raw);
                }
                self.collection_tag(raw);
                self.active.push(id);
                let value = match &raw.content {
                    Content::Mapping(_) => self.mapping(ids, depth),
                    _ => self.sequence(ids, depth),
                };
                self.active.pop();
                value
            }
            Content::Alias(_) | Content::UnknownAlias(_) => Value::Null,
        };
        Node {
            range: raw.range.clone(),
            value,
            style: raw.style,
            outer: raw.outer.clone(),
            anchored: None,
            anchor: raw.anchor,
        }
    }

    fn sequence(&mut self, ids: &[Id], depth: usize) -> Value {
        let mut items = Vec::new();
        for id in ids {
            if self.alias.is_some() && self.exhausted {
                break;
            }
            items.push(self.node(*id, depth + 1));
        }
        Value::Sequence(items)
    }

    fn mapping(&mut self, ids: &[Id], depth: usize) -> Value {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for pair in ids.chunks(2) {
            if self.alias.is_some() && self.exhausted {
                break;
            }
            let key = self.node(pair[0], depth + 1);
            let value = match pair.get(1) {
                Some(id) => self.node(*id, depth + 1),
                // The text broke off behind the key.
                None => {
                    let at = key.outer.end..key.outer.end;
                    Node {
                        range: at.clone(),
                        value: Value::Null,
                        style: Style::Absent,
                        outer: at,
                        anchored: None,
                        anchor: false,
                    }
                }
            };
            // Inside an alias it was reported where the anchor stands.
            if self.alias.is_none() {
                let mut print = String::new();
                key.data().fingerprint(&mut print);
                match seen.get(&print) {
                    Some(first) => {
                        let first = entries[*first].key.range.clone();
                        let written = self.text.get(key.range.clone()).unwrap_or_default();
                        let name = key.as_str().unwrap_or(written);
                        let message = match name.lines().next() {
                            Some(name) if name.len() <= 80 => {
                                format!("the key `{name}` stands twice in this mapping")
                            }
                            _ => "this key stands twice in its mapping".to_owned(),
                        };
                        self.problems.push(
                            Problem::new(ProblemKind::DuplicateKey, key.range.clone(), message)
                                .help("keep one of the two")
                                .related(first, "the first one is here"),
                        );
                    }
                    None => {
                        seen.insert(print, entries.len());
                    }
                }
            }
            entries.push(Entry { key, value });
        }
        Value::Mapping(entries)
    }

    fn alias(&mut self, raw: &Raw, target: Id, depth: usize) -> Node {
        if self.exhausted {
            return absent(raw);
        }
        if self.active.contains(&target) {
            if self.alias.is_none() {
                let anchored = &self.nodes[target];
                self.problems.push(
                    Problem::new(
                        ProblemKind::RecursiveAlias,
                        raw.range.clone(),
                        "this alias stands inside the value that it names",
                    )
                    .related(anchored.outer.start..anchored.range.start, "the anchor is here"),
                );
            }
            return absent(raw);
        }
        let outermost = self.alias.is_none();
        if outermost {
            self.alias = Some(raw.range.clone());
        }
        let node = self.node(target, depth);
        if outermost {
            self.alias = None;
        }
        let anchored = node.anchored.unwrap_or(node.range);
        Node {
            range: raw.range.clone(),
            outer: raw.outer.clone(),
            anchored: Some(anchored),
            anchor: false,
            ..Node { range: 0..0, anchored: None, ..node }
        }
    }

    /// Counts a node that an alias adds; whether the limits still allow it.
    fn pay(&mut self, content: &Content) -> bool {
        if self.exhausted {
            return false;
        }
        self.added_nodes += 1;
        if let Content::Scalar(text) = content {
            self.added_bytes += text.len();
        }
        if self.added_nodes <= self.limits.alias_nodes && self.added_bytes <= self.limits.bytes {
            return true;
        }
        self.exhausted = true;
        let range = self.alias.clone().unwrap_or_default();
        let message = if self.added_nodes > self.limits.alias_nodes {
            format!("aliases add more than {} values to this text", self.limits.alias_nodes)
        } else {
            format!("aliases add more than {} bytes to this text", self.limits.bytes)
        };
        self.problems.push(
            Problem::new(ProblemKind::AliasExpansion, range, message)
                .help("write the values out, or use fewer aliases of aliases"),
        );
        false
    }

    fn too_deep(&mut self, raw: &Raw) {
        let start = raw.range.start;
        let range = self.alias.clone().unwrap_or(start..raw.range.end.min(start + 1));
        // An alias is reported once, however much of it is too deep.
        if self.too_deep.as_ref() != Some(&range) {
            let levels = self.limits.levels();
            let message = format!("collections lie more than {levels} deep in each other");
            self.problems.push(Problem::new(ProblemKind::TooDeep, range.clone(), message));
            self.too_deep = Some(range);
        }
    }

    fn scalar(&mut self, raw: &Raw, text: &str) -> Value {
        let plain = matches!(raw.style, Style::Plain | Style::Absent);
        let untagged = || {
            if plain { scalar::resolve(text) } else { Value::String(text.to_owned()) }
        };
        let Some((tag, place)) = &raw.tag else { return untagged() };
        let Some(wanted) = core(tag) else {
            self.unknown_tag(tag, place.clone());
            return untagged();
        };
        let value = match (wanted, scalar::resolve(text)) {
            ("str" | NON_SPECIFIC, _) => Some(Value::String(text.to_owned())),
            ("null", value @ Value::Null)
            | ("bool", value @ Value::Bool(_))
            | ("int", value @ (Value::Int(_) | Value::BigInt(_)))
            | ("float", value @ Value::Float(_)) => Some(value),
            ("float", _) => scalar::float(text),
            _ => None,
        };
        value.unwrap_or_else(|| {
            self.mismatch(wanted, place.clone());
            untagged()
        })
    }

    fn collection_tag(&mut self, raw: &Raw) {
        let Some((tag, place)) = &raw.tag else { return };
        let kind = if matches!(raw.content, Content::Mapping(_)) { "map" } else { "seq" };
        match core(tag) {
            Some(name) if name == kind || name == NON_SPECIFIC => {}
            Some(name) => self.mismatch(name, place.clone()),
            None => self.unknown_tag(tag, place.clone()),
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, place: Range<usize>) {
        if self.alias.is_none() {
            let message = format!("the tag `{}` is not of YAML's core schema", tag.original());
            let help = "remove it, or quote the text if it begins with `!`";
            self.problems.push(Problem::new(ProblemKind::UnknownTag, place, message).help(help));
        }
    }

    fn mismatch(&mut self, name: &str, place: Range<usize>) {
        if self.alias.is_none() {
            let message = format!("the tag `!!{name}` stands on a value that is not one");
            self.problems.push(Problem::new(ProblemKind::TagMismatch, place, message));
        }
    }
}

/// The non-specific tag `!`, which makes a scalar a string and says nothing of a collection (YAML 1.2.2
/// section 6.9.1).
const NON_SPECIFIC: &str = "!";

/// The core schema's name of a tag, or [`NON_SPECIFIC`].
fn core(tag: &Tag) -> Option<&'static str> {
    if tag.original() == NON_SPECIFIC {
        return Some(NON_SPECIFIC);
    }
    ["str", "int", "float", "bool", "null", "seq", "map"]
        .into_iter()
        .find(|name| tag.is_yaml_core_schema_tag(name))
}

/// What stands in for a node that cannot be made.
fn absent(raw: &Raw) -> Node {
    Node {
        range: raw.range.clone(),
        value: Value::Null,
        style: raw.style,
        outer: raw.outer.clone(),
        anchored: None,
        anchor: raw.anchor,
    }
}
