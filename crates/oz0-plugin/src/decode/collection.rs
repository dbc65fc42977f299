//! Values with their places, and the two collections of a manifest: lists and maps in file order.

use std::collections::HashSet;
use std::ops::Deref;

use oz0_diagnostic::Span;
use oz0_yaml::{Node, Value};
use serde_json::json;

use super::text::Text;
use super::{Context, Decode, Definitions, brief};

/// A value and where the author wrote it.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place, quotes included where it has them.
    pub span: Span,
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A list of the manifest, in file order; empty when its key is left out. Reads as a slice of its items.
#[derive(Debug, Clone)]
pub struct List<T> {
    items: Vec<Spanned<T>>,
    span: Option<Span>,
}

impl<T> List<T> {
    /// Where the list stands; `None` when its key is left out.
    pub fn span(&self) -> Option<&Span> {
        self.span.as_ref()
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), span: None }
    }
}

impl<T> Deref for List<T> {
    type Target = [Spanned<T>];

    fn deref(&self) -> &[Spanned<T>] {
        &self.items
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a Spanned<T>;
    type IntoIter = std::slice::Iter<'a, Spanned<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

fn decode_items<T: Decode>(node: &Node, cx: &mut Context<'_>) -> Option<Vec<Spanned<T>>> {
    let Value::Sequence(nodes) = &node.value else {
        cx.mistyped(node, "a list");
        return None;
    };
    let mut items = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let anchor = match &node.value {
            Value::Mapping(entries) => {
                entries.first().map_or(node.range.clone(), |entry| entry.key.range.clone())
            }
            _ => node.range.clone(),
        };
        let value = cx.within(format!("[{index}]"), anchor, |cx| T::decode(node, cx));
        items.push(value.map(|value| Spanned { value, span: cx.span(node.range.clone()) }));
    }
    items.into_iter().collect()
}

impl<T: Decode> Decode for List<T> {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let items = decode_items(node, cx)?;
        Some(Self { items, span: Some(cx.span(node.range.clone())) })
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        json!({"type": "array", "items": T::schema(definitions)})
    }
}

/// A list with at least one item.
#[derive(Debug, Clone)]
pub struct NonEmpty<T>(Vec<Spanned<T>>);

impl<T> Deref for NonEmpty<T> {
    type Target = [Spanned<T>];

    fn deref(&self) -> &[Spanned<T>] {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a NonEmpty<T> {
    type Item = &'a Spanned<T>;
    type IntoIter = std::slice::Iter<'a, Spanned<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Decode> Decode for NonEmpty<T> {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let items = decode_items(node, cx)?;
        if items.is_empty() {
            let message = format!("{} needs at least one item", cx.subject());
            let span = cx.span(node.range.clone());
            cx.misshape(oz0_diagnostic::Diagnostic::new(&crate::check::OZ_L001, span, message));
            return None;
        }
        Some(Self(items))
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        json!({"type": "array", "minItems": 1, "items": T::schema(definitions)})
    }
}

/// A mapping of the manifest from names of the author's choice, in file order; empty when its key is left out.
#[derive(Debug, Clone)]
pub struct Map<K, V> {
    entries: Vec<(Spanned<K>, Spanned<V>)>,
    span: Option<Span>,
}

impl<K, V> Map<K, V> {
    /// The entries in file order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Spanned<K>, Spanned<V>)> {
        self.entries.iter()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The keys in file order.
    pub fn keys(&self) -> impl Iterator<Item = &Spanned<K>> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values in file order.
    pub fn values(&self) -> impl Iterator<Item = &Spanned<V>> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// Where the mapping stands; `None` when its key is left out.
    pub fn span(&self) -> Option<&Span> {
        self.span.as_ref()
    }
}

impl<K: AsRef<str>, V> Map<K, V> {
    /// The value under a name.
    pub fn get(&self, name: impl AsRef<str>) -> Option<&Spanned<V>> {
        let name = name.as_ref();
        self.entries.iter().find(|(key, _)| key.value.as_ref() == name).map(|(_, value)| value)
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), span: None }
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = &'a (Spanned<K>, Spanned<V>);
    type IntoIter = std::slice::Iter<'a, (Spanned<K>, Spanned<V>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Text, V: Decode> Decode for Map<K, V> {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let Value::Mapping(nodes) = &node.value else {
            cx.mistyped(node, "a mapping");
            return None;
        };
        let mut entries = Vec::with_capacity(nodes.len());
        let mut seen = HashSet::new();
        for entry in nodes {
            let name = entry.key.as_str().map_or_else(|| "?".to_owned(), brief);
            let (key, value) = cx.within(name, entry.key.range.clone(), |cx| {
                (K::decode(&entry.key, cx), V::decode(&entry.value, cx))
            });
            // The YAML reader reports a repeated key; the first one stands.
            if entry.key.as_str().is_some_and(|name| !seen.insert(name)) {
                continue;
            }
            entries.push(key.zip(value).map(|(key, value)| {
                (
                    Spanned { value: key, span: cx.span(entry.key.range.clone()) },
                    Spanned { value, span: cx.span(entry.value.range.clone()) },
                )
            }));
        }
        let entries = entries.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Self { entries, span: Some(cx.span(node.range.clone())) })
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        json!({
            "type": "object",
            "propertyNames": K::schema(definitions),
            "additionalProperties": V::schema(definitions),
        })
    }
}
