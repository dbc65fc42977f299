//! The manifest's JSON Schema, asked by the path of a place: what stands there, and what is said of it.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// A step from a mapping or a sequence to what lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// What the schema says of a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'s> {
    /// The record that the place is in, as `$defs` calls it, and the key of it that led here.
    pub(crate) slot: (&'s str, &'s str),
    schema: &'s Value,
}

/// A key that a mapping may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'s> {
    pub(crate) name: &'s str,
    pub(crate) required: bool,
    pub(crate) description: &'s str,
    /// Whether its value is written on the lines below it.
    pub(crate) nests: bool,
}

fn manifest() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(oz0_plugin::schema);
    &SCHEMA
}

/// What may stand at a path of a manifest: one spot for each of several shapes, none where nothing may.
pub(crate) fn at(path: &[Step]) -> Vec<Spot<'static>> {
    let mut spots = vec![Spot { slot: ("", ""), schema: manifest() }];
    for step in path {
        spots = spots.into_iter().flat_map(|spot| spot.step(step)).collect();
    }
    spots
}

impl<'s> Spot<'s> {
    /// The shapes that it may have, each without a reference, and the record that each is.
    fn shapes(self) -> Vec<(Option<&'s str>, &'s Map<String, Value>)> {
        let Some(schema) = self.schema.as_object() else { return Vec::new() };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let name = name.trim_start_matches("#/$defs/");
            let record = manifest()["$defs"].get(name).and_then(Value::as_object);
            // Every reference of the schema names a record, and a record is an object.
            return record.map(|record| (Some(name), record)).into_iter().collect();
        }
        match schema.get("anyOf").and_then(Value::as_array) {
            Some(shapes) => {
                let shape = |schema| Spot { slot: self.slot, schema }.shapes();
                shapes.iter().flat_map(shape).collect()
            }
            None => vec![(None, schema)],
        }
    }

    fn step(self, step: &Step) -> Vec<Self> {
        let shapes = self.shapes().into_iter();
        let inner = shapes.filter_map(|(record, shape)| match step {
            Step::Index(_) => Some(Self { slot: self.slot, schema: shape.get("items")? }),
            Step::Key(key) => {
                let own = shape.get("properties").and_then(Value::as_object);
                match own.and_then(|own| own.get_key_value(key)) {
                    Some((key, schema)) => {
                        Some(Self { slot: (record.unwrap_or_default(), key), schema })
                    }
                    None => {
                        let schema = shape.get("additionalProperties")?;
                        schema.is_object().then_some(Self { slot: self.slot, schema })
                    }
                }
            }
        });
        inner.collect()
    }

    /// What is said of it: of the place, else of the record that stands there.
    pub(crate) fn description(self) -> Option<&'s str> {
        let own = self.schema.get("description").and_then(Value::as_str);
        own.or_else(|| {
            let mut shapes = self.shapes().into_iter();
            shapes.find_map(|(_, shape)| shape.get("description")?.as_str())
        })
    }

    /// Whether a mapping may stand here.
    pub(crate) fn is_mapping(self) -> bool {
        self.shapes().iter().any(|(_, shape)| is(shape, "object"))
    }

    /// Whether a single word may stand here, and not only a mapping or a sequence.
    pub(crate) fn is_single(self) -> bool {
        self.shapes().iter().any(|(_, shape)| !is(shape, "object") && !is(shape, "array"))
    }

    /// The keys of the record that may stand here.
    pub(crate) fn keys(self) -> Vec<Key<'s>> {
        let mut keys = Vec::new();
        for (_, shape) in self.shapes() {
            let required = shape.get("required").and_then(Value::as_array);
            for (name, schema) in
                shape.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                let spot = Self { slot: self.slot, schema };
                let is_required = |required: &Vec<Value>| required.iter().any(|it| it == name);
                keys.push(Key {
                    name,
                    required: required.is_some_and(is_required),
                    description: spot.description().unwrap_or_default(),
                    nests: spot
                        .shapes()
                        .iter()
                        .all(|(_, shape)| is(shape, "object") || is(shape, "array")),
                });
            }
        }
        keys
    }

    /// The words that may stand here, where only some may.
    pub(crate) fn words(self) -> Vec<&'s str> {
        let words = self.shapes().into_iter().flat_map(|(_, shape)| {
            let words = shape.get("enum").and_then(Value::as_array).into_iter().flatten();
            let words = words.filter_map(Value::as_str);
            let truth: &[&str] = if is(shape, "boolean") { &["true", "false"] } else { &[] };
            words.chain(truth.iter().copied())
        });
        words.collect()
    }
}

fn is(shape: &Map<String, Value>, kind: &str) -> bool {
    shape.get("type").is_some_and(|found| found == kind)
}
