//! TOML, YAML and JSON as one kind of tree, whose strings know where they stand.
//!
//! A dependency file is a few lists in a known place, whatever it is written in, and a mention has to show the name and nothing
//! around it. So each decoder's own tree is turned into this one, which has what the readers of this area ask for and no more.
//! Aliases of YAML are resolved; what an alias stands for has the place where it is written out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast;
use toml::de::{DeTable, DeValue};

use crate::Limits;

/// A value and its place.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Of a string, what is between its quotes.
    pub(super) range: Range<usize>,
    pub(super) value: Value<'a>,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    String(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Table(Vec<Entry<'a>>),
    Bool(bool),
    Other,
}

/// A key and its value, in the order of the text.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    /// What is between the key's quotes.
    pub(super) range: Range<usize>,
    pub(super) value: Node<'a>,
}

/// Why a text is not of its format.
#[derive(Debug)]
pub(super) struct Undecoded {
    pub(super) range: Range<usize>,
    /// What follows the file's name: "is no TOML: …".
    pub(super) problem: String,
    pub(super) help: Option<String>,
}

impl Undecoded {
    fn new(range: Range<usize>, problem: String) -> Self {
        Self { range, problem, help: None }
    }
}

impl<'a> Node<'a> {
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> &[Node<'a>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn entries(&self) -> &[Entry<'a>] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self.value, Value::Bool(true))
    }

    /// The entry of this name.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub(super) fn at(&self, path: &[&str]) -> Option<&Node<'a>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The string of this name.
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// How many collections lie in each other.
    fn depth(&self) -> usize {
        match &self.value {
            Value::List(items) => 1 + items.iter().map(Node::depth).max().unwrap_or(0),
            Value::Table(entries) => {
                1 + entries.iter().map(|entry| entry.value.depth()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    fn within(self, format: &str, limits: &Limits) -> Result<Self, Undecoded> {
        if self.depth() <= limits.depth {
            return Ok(self);
        }
        let mut at = &self;
        for _ in 0..limits.depth {
            let deepest = match &at.value {
                Value::List(items) => items.iter().max_by_key(|item| item.depth()),
                Value::Table(entries) => {
                    entries.iter().map(|entry| &entry.value).max_by_key(|value| value.depth())
                }
                _ => None,
            };
            at = deepest.unwrap_or(at);
        }
        let problem = format!("is {format} with more than {} levels in each other", limits.depth);
        Err(Undecoded::new(at.range.clone(), problem))
    }
}

/// Where a part of a string stands: exactly, where the string is written as it reads, else all of it.
pub(super) fn part(
    text: &str,
    whole: &Range<usize>,
    reads: &str,
    sub: Range<usize>,
) -> Range<usize> {
    if text.get(whole.clone()) == Some(reads) {
        whole.start + sub.start..whole.start + sub.end
    } else {
        whole.clone()
    }
}

/// A range without the quotes that it begins and ends with.
fn unquoted(text: &str, range: Range<usize>) -> Range<usize> {
    let raw = text.get(range.clone()).unwrap_or("");
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let inner = raw.strip_prefix(quote).and_then(|raw| raw.strip_suffix(quote));
        if let Some(inner) = inner {
            // TOML leaves out a line break right behind the opening quotes of several lines.
            let broken = if quote.len() == 3 {
                inner.strip_prefix("\r\n").or_else(|| inner.strip_prefix('\n')).unwrap_or(inner)
            } else {
                inner
            };
            let start = range.start + quote.len() + (inner.len() - broken.len());
            return start..start + broken.len();
        }
    }
    range
}

/// TOML 1.1, which holds TOML 1.0, with or without a byte order mark.
pub(super) fn toml<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>, Undecoded> {
    let table = DeTable::parse(text).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        Undecoded::new(range, format!("is no TOML: {}", one_line(error.message())))
    })?;
    let range = table.span();
    let entries = toml_entries(text, table.into_inner());
    Node { range, value: Value::Table(entries) }.within("TOML", limits)
}

fn toml_entries<'a>(text: &str, table: DeTable<'a>) -> Vec<Entry<'a>> {
    let entry = |(key, value): (toml::Spanned<Cow<'a, str>>, toml::Spanned<DeValue<'a>>)| {
        let range = unquoted(text, key.span());
        Entry { key: key.into_inner(), range, value: toml_node(text, value) }
    };
    let mut entries: Vec<Entry<'a>> = table.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.range.start);
    entries
}

fn toml_node<'a>(text: &str, value: toml::Spanned<DeValue<'a>>) -> Node<'a> {
    let range = value.span();
    match value.into_inner() {
        DeValue::String(string) => {
            Node { range: unquoted(text, range), value: Value::String(string) }
        }
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| toml_node(text, item)).collect();
            Node { range, value: Value::List(items) }
        }
        DeValue::Table(table) => Node { range, value: Value::Table(toml_entries(text, table)) },
        DeValue::Boolean(value) => Node { range, value: Value::Bool(value) },
        _ => Node { range, value: Value::Other },
    }
}

/// One document of YAML 1.2 whose keys are each there once.
pub(super) fn yaml(text: &str, limits: &Limits) -> Result<Node<'static>, Undecoded> {
    let limits =
        oz0_yaml::Limits { bytes: text.len(), depth: limits.depth, alias_nodes: ALIAS_NODES };
    let parsed = oz0_yaml::parse(text, &limits);
    if let Some(problem) = parsed.problems.into_iter().next() {
        return Err(Undecoded {
            range: problem.range,
            problem: format!("is no YAML that is read here: {}", one_line(&problem.message)),
            help: problem.help,
        });
    }
    let empty = Node { range: 0..0, value: Value::Other };
    Ok(parsed.root.map_or(empty, |root| yaml_node(text, root, None)))
}

/// How many nodes the aliases of a text may add: enough for every environment that people write, too few for a bomb.
const ALIAS_NODES: usize = 100_000;

/// A node of YAML, or what the alias `of` stands for.
fn yaml_node(text: &str, node: oz0_yaml::Node, of: Option<&Range<usize>>) -> Node<'static> {
    let range = node.anchored().or_else(|| of.cloned()).unwrap_or(node.range);
    let value = match node.value {
        oz0_yaml::Value::String(string) => {
            return Node { range: unquoted(text, range), value: Value::String(string.into()) };
        }
        oz0_yaml::Value::Sequence(items) => {
            Value::List(items.into_iter().map(|item| yaml_node(text, item, None)).collect())
        }
        oz0_yaml::Value::Mapping(entries) => {
            Value::Table(entries.into_iter().map(|entry| yaml_entry(text, entry)).collect())
        }
        oz0_yaml::Value::Bool(value) => Value::Bool(value),
        _ => Value::Other,
    };
    Node { range, value }
}

fn yaml_entry(text: &str, entry: oz0_yaml::Entry) -> Entry<'static> {
    let key = yaml_node(text, entry.key, None);
    let word = match key.value {
        Value::String(word) => word,
        _ => Cow::Borrowed(""),
    };
    Entry { key: word, range: key.range, value: yaml_node(text, entry.value, None) }
}

/// JSON as RFC 8259 has it. Where a member is there several times, the last one counts.
pub(super) fn json<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>, Undecoded> {
    let options = jsonc_parser::ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let collect = jsonc_parser::CollectOptions::default();
    let parsed = jsonc_parser::parse_to_ast(text, &collect, &options).map_err(|error| {
        let range = error.range();
        let problem = format!("is no JSON: {}", one_line(&error.kind().to_string()));
        Undecoded::new(range.start..range.end, problem)
    })?;
    let Some(value) = parsed.value else {
        return Err(Undecoded::new(0..0, "is no JSON: it is empty".to_owned()));
    };
    json_node(text, value).within("JSON", limits)
}

fn json_node<'a>(text: &str, value: ast::Value<'a>) -> Node<'a> {
    match value {
        ast::Value::StringLit(string) => {
            let range = unquoted(text, string.range.start..string.range.end);
            Node { range, value: Value::String(string.value) }
        }
        ast::Value::Object(object) => {
            let range = object.range.start..object.range.end;
            let entry = |property: ast::ObjectProp<'a>| {
                let (key, range) = match property.name {
                    ast::ObjectPropName::String(name) => (name.value, name.range),
                    ast::ObjectPropName::Word(name) => (Cow::Borrowed(name.value), name.range),
                };
                let range = unquoted(text, range.start..range.end);
                Entry { key, range, value: json_node(text, property.value) }
            };
            let entries = object.properties.into_iter().map(entry).collect();
            Node { range, value: Value::Table(last_of_each(entries)) }
        }
        ast::Value::Array(array) => {
            let range = array.range.start..array.range.end;
            let items = array.elements.into_iter().map(|item| json_node(text, item)).collect();
            Node { range, value: Value::List(items) }
        }
        ast::Value::BooleanLit(boolean) => {
            let range = boolean.range.start..boolean.range.end;
            Node { range, value: Value::Bool(boolean.value) }
        }
        ast::Value::NumberLit(number) => {
            Node { range: number.range.start..number.range.end, value: Value::Other }
        }
        ast::Value::NullKeyword(null) => {
            Node { range: null.range.start..null.range.end, value: Value::Other }
        }
    }
}

/// Without the entries whose key comes again.
fn last_of_each(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut seen = HashSet::with_capacity(entries.len());
    let last: Vec<bool> = entries.iter().rev().map(|entry| seen.insert(&*entry.key)).collect();
    drop(seen);
    let mut last = last.into_iter().rev();
    entries.retain(|_| last.next().unwrap_or(true));
    entries
}

/// A decoder's message in one line.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
