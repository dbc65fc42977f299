//! The JSON Schema side of the declarations.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Constraint;

/// The records described so far, by the name of their type: the schema's `$defs`.
#[derive(Default)]
pub(crate) struct Definitions(BTreeMap<&'static str, Value>);

impl Definitions {
    /// A reference to a record's schema, which is described the first time.
    pub(crate) fn record(
        &mut self,
        name: &'static str,
        describe: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        if !self.0.contains_key(name) {
            // A record that holds itself must find its name taken.
            self.0.insert(name, Value::Null);
            let schema = describe(self);
            self.0.insert(name, schema);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    pub(crate) fn into_value(self) -> Value {
        self.0
            .into_iter()
            .map(|(name, schema)| (name.to_owned(), schema))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// A record's schema in the making.
pub(crate) struct Object {
    description: String,
    properties: Map<String, Value>,
    required: Vec<Value>,
    constraints: Map<String, Value>,
}

impl Object {
    pub(crate) fn new(doc: &[&str]) -> Self {
        Self {
            description: prose(doc),
            properties: Map::new(),
            required: Vec::new(),
            constraints: Map::new(),
        }
    }

    pub(crate) fn property(&mut self, key: &str, required: bool, doc: &[&str], schema: Value) {
        let mut schema = match schema {
            Value::Object(members) => members,
            Value::Bool(_) => Map::new(),
            other => unreachable!("a schema is an object or a boolean, not {other}"),
        };
        schema.insert("description".to_owned(), prose(doc).into());
        self.properties.insert(key.to_owned(), schema.into());
        if required {
            self.required.push(key.into());
        }
    }

    pub(crate) fn constrain(&mut self, constraints: &[Constraint]) {
        for constraint in constraints {
            match constraint {
                Constraint::ExactlyOne(keys) => {
                    let branches: Vec<Value> =
                        keys.iter().map(|key| json!({"required": [key]})).collect();
                    self.constraints.insert("oneOf".to_owned(), branches.into());
                }
                Constraint::OnlyWith(key, needed) => {
                    self.constraints.entry("dependentRequired").or_insert_with(|| json!({}))
                        [*key] = json!([needed]);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("description".to_owned(), self.description.into());
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        schema.extend(self.constraints);
        schema.into()
    }
}

/// A doc comment as one paragraph without Rust's link brackets.
fn prose(doc: &[&str]) -> String {
    let lines: Vec<&str> =
        doc.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    lines.join(" ").replace("[`", "`").replace("`]", "`")
}
