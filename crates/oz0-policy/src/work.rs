//! How much work a JSON Schema can make of a value, before it is asked to.
//!
//! A schema is somebody else's, and evaluation has no bound of its own: 34 definitions, each an `allOf` of twice the next one, are
//! 2³⁴ steps over an empty object, on the thread that everybody's calls share. So a schema is measured as it stands: every subschema
//! counts, and one that is referred to counts each time. One that refers to itself has no such measure.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// What one pattern counts for: it is compiled, whether or not it is ever matched.
const PATTERN: u64 = 1_000;

/// How deep subschemas and references may lead into each other.
const DEPTH: usize = 256;

/// How much work a schema makes of one place in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// So many steps at most.
    Steps(u64),
    /// It refers to itself, or by names that are not followed here: the value decides.
    Recursive,
}

impl Work {
    /// Measures a schema.
    pub fn of(schema: &Value) -> Self {
        let mut measure = Measure { root: schema, known: HashMap::new(), recursive: false };
        let steps = measure.value(schema, 0);
        if measure.recursive { Self::Recursive } else { Self::Steps(steps) }
    }
}

struct Measure<'s> {
    root: &'s Value,
    /// The steps of each object, by where it lies in memory; none while it is being measured.
    known: HashMap<*const Map<String, Value>, Option<u64>>,
    recursive: bool,
}

impl<'s> Measure<'s> {
    fn value(&mut self, value: &'s Value, depth: usize) -> u64 {
        match value {
            Value::Object(members) => self.object(members, depth),
            Value::Array(items) => {
                items.iter().fold(0, |sum, item| self.value(item, depth + 1).saturating_add(sum))
            }
            _ => 0,
        }
    }

    fn object(&mut self, members: &'s Map<String, Value>, depth: usize) -> u64 {
        if depth > DEPTH {
            return u64::MAX;
        }
        let at: *const _ = members;
        match self.known.get(&at) {
            Some(Some(steps)) => return *steps,
            Some(None) => {
                self.recursive = true;
                return 1;
            }
            None => {}
        }
        self.known.insert(at, None);
        let mut steps: u64 = 1;
        for (name, value) in members {
            let more = match (name.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    self.reference(to, depth)
                }
                ("pattern", Value::String(_)) => PATTERN,
                ("patternProperties", Value::Object(patterns)) => {
                    let patterns = u64::try_from(patterns.len()).unwrap_or(u64::MAX);
                    patterns.saturating_mul(PATTERN).saturating_add(self.value(value, depth + 1))
                }
                // What is only compared with is walked by no one.
                ("const" | "enum" | "default" | "examples", _) => 1,
                _ => self.value(value, depth + 1),
            };
            steps = steps.saturating_add(more);
        }
        self.known.insert(at, Some(steps));
        steps
    }

    fn reference(&mut self, to: &str, depth: usize) -> u64 {
        let target = to.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        match target {
            Some(target) => self.value(target, depth + 1),
            // An anchor, an ID, or a pointer that is spelled otherwise.
            None => {
                self.recursive = true;
                1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_referred_to_counts_each_time() {
        let mut definitions = Map::new();
        for level in 0..34 {
            let next = format!("#/$defs/d{}", level + 1);
            let twice = json!({"allOf": [{"$ref": next}, {"$ref": next}]});
            definitions.insert(format!("d{level}"), twice);
        }
        definitions.insert("d34".to_owned(), json!({"type": "object"}));
        let bomb = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        let Work::Steps(steps) = Work::of(&bomb) else { panic!("it ends") };
        assert!(steps > 1 << 34, "{steps}");
    }

    #[test]
    fn an_ordinary_schema_is_little_and_one_that_refers_to_itself_has_no_measure() {
        let address = json!({"type": "object", "properties": {
            "street": {"type": "string", "enum": ["a", {"b": {"c": 1}}]}, "zip": {"pattern": "^[0-9]+$"}}});
        let plain = json!({"type": "object", "properties": {"home": {"$ref": "#/$defs/address"},
            "work": {"$ref": "#/$defs/address"}}, "$defs": {"address": address}});
        let Work::Steps(steps) = Work::of(&plain) else { panic!("it ends") };
        assert!((3_000..3_100).contains(&steps), "{steps}");
        for recursive in [
            json!({"properties": {"next": {"$ref": "#"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
            json!({"items": {"$ref": "#node"}}),
            json!({"items": {"$dynamicRef": "#node"}}),
        ] {
            assert_eq!(Work::of(&recursive), Work::Recursive, "{recursive}");
        }
        let mut chain = Map::new();
        for level in 0..2_000 {
            chain.insert(format!("d{level}"), json!({"$ref": format!("#/$defs/d{}", level + 1)}));
        }
        let chain = json!({"$ref": "#/$defs/d0", "$defs": chain});
        assert_ne!(Work::of(&chain), Work::Steps(1), "a long chain is no stack that overflows");
    }
}
