//! Arguments and results against the pinned schemas.
//!
//! A schema is compiled once for each accepted listing, when the function is first called. Nothing is fetched for it,
//! and patterns run in linear time: both schema and value are somebody else's. What is checked is the listing that
//! was approved, never what the server says now.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use crate::options::Arguments;

/// How much of a validator's text is shown, in characters.
const SHOWN: usize = 400;
/// How large a compiled pattern may be, in bytes.
const PATTERN: usize = 1 << 20;
/// How deep arguments may nest.
const DEPTH: usize = 128;

/// The compiled schemas of one accepted listing.
pub(crate) struct Schemas {
    input: Compiled,
    output: Option<Compiled>,
}

enum Compiled {
    Ready(Box<Validator>),
    /// It cannot be checked.
    Not(String),
}

/// What is wrong with arguments.
pub(crate) enum Misfit {
    /// They are not what the schema allows.
    Value(String),
    /// The schema cannot be checked, and the operator wants it checked.
    Schema(String),
}

impl Schemas {
    /// Compiles the schemas of a listing, as it is served.
    pub(crate) fn of(served: &str, arguments: Arguments) -> Self {
        let mut listing: Value = serde_json::from_str(served).unwrap_or_default();
        let mut take = |name: &str| listing.get_mut(name).map(Value::take);
        let input = take("inputSchema").unwrap_or(Value::Bool(true));
        let input = match arguments {
            Arguments::AsListed => input,
            Arguments::Strict => closed(input),
        };
        Self { input: compile(&input), output: take("outputSchema").map(|schema| compile(&schema)) }
    }

    /// Whether results are checked at all.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Checks a call's arguments, JSON text of an object, and gives them back as they read.
    pub(crate) fn check_arguments(
        &self,
        text: &str,
        arguments: Arguments,
    ) -> Result<Value, Misfit> {
        // Whatever the schema says: two readers must not read two things.
        let value = read(text).map_err(Misfit::Value)?;
        match &self.input {
            Compiled::Ready(validator) => {
                validator.validate(&value).map_err(|error| Misfit::Value(shown(&error)))?;
            }
            Compiled::Not(why) if arguments == Arguments::Strict => {
                return Err(Misfit::Schema(why.clone()));
            }
            // Its server checks them too, and what is pinned is what it lists, not how well.
            Compiled::Not(_) => {}
        }
        Ok(value)
    }

    /// Checks structured content; none where the result has none.
    pub(crate) fn check_result(&self, content: Option<&str>) -> Result<(), String> {
        match &self.output {
            None => Ok(()),
            Some(Compiled::Not(why)) => Err(format!("the output schema cannot be checked: {why}")),
            Some(Compiled::Ready(validator)) => {
                let content = content.ok_or("it has no `structuredContent`")?;
                let value = read(content)?;
                validator.validate(&value).map_err(|error| shown(&error))
            }
        }
    }
}

fn shown(error: &jsonschema::ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    let text = if path.is_empty() { error.to_string() } else { format!("{path}: {error}") };
    oz0_listing::escape::line_within(&text, SHOWN).into_owned()
}

fn compile(schema: &Value) -> Compiled {
    let built = jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN))
        .build(schema);
    match built {
        Ok(validator) => Compiled::Ready(Box::new(validator)),
        Err(error) => Compiled::Not(shown(&error)),
    }
}

/// The schema, with what it does not name refused. In the drafts that have `unevaluatedProperties` that sees through
/// `allOf` and `$ref`.
fn closed(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        let draft = members.get("$schema").and_then(Value::as_str).unwrap_or("2020-12");
        let name = if draft.contains("2020-12") || draft.contains("2019-09") {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        members.insert(name.to_owned(), Value::Bool(false));
    }
    schema
}

/// Reads JSON in which no object has a name twice.
fn read(text: &str) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Unambiguous { depth: 0 }
        .deserialize(&mut deserializer)
        .map_err(|error| oz0_listing::escape::line_within(&error.to_string(), SHOWN).into_owned())
}

#[derive(Clone, Copy)]
struct Unambiguous {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Unambiguous {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(Name(name)) = members.next_key()? {
            let value = members.next_value_seed(inner)?;
            if let Some(name) = object.contains_key(&name).then(|| name.clone()) {
                return Err(A::Error::custom(format!("the member `{name}` stands twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

impl Unambiguous {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH {
            return Err(E::custom(format!("it nests deeper than {DEPTH}")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}
