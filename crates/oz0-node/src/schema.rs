//! Arguments and results against the pinned schemas.
//!
//! A schema is compiled once for each accepted listing, when the function is first called. Nothing is fetched for it,
//! and patterns run in linear time: both schema and value are somebody else's. What is checked is the listing that
//! was approved, never what the server says now.
//!
//! Nor does one take everybody's time: a schema that unfolds to too many steps is not checked, and what could take many, or
//! refers to itself, is checked on a thread of its own, that is waited for once, for [`WITHIN`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use oz0_policy::Work;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use crate::options::Arguments;

/// How much of a validator's text is shown, in characters.
const SHOWN: usize = 400;
/// How large a compiled pattern may be, in bytes.
const PATTERN: usize = 1 << 20;
/// How many steps a schema may take at one place of a value: more is no schema that anybody wrote.
const STEPS: u64 = 1_000_000;
/// How many steps of schema and value together are taken where the call is.
const HERE: u64 = 10_000_000;
/// How long a schema is waited for that could take longer.
const WITHIN: Duration = Duration::from_secs(1);
const LATE: &str = "it takes too long";
/// How deep arguments may nest.
const DEPTH: usize = 128;

/// The compiled schemas of one accepted listing.
pub(crate) struct Schemas {
    input: Compiled,
    output: Option<Compiled>,
}

enum Compiled {
    Ready(Ready),
    /// It cannot be checked.
    Not(String),
}

struct Ready {
    validator: Arc<Validator>,
    /// Its steps at one place of a value; none where the value decides.
    steps: Option<u64>,
    /// Whether it took too long once: then it is not asked again.
    late: AtomicBool,
}

/// What a check says.
enum Checked {
    Fits,
    Misfit(String),
    /// It takes too long to say.
    Late,
}

impl Ready {
    /// Holds a value, of a text of so many bytes, against the schema.
    fn check(&self, value: Value, bytes: usize) -> (Checked, Value) {
        let say = |validator: &Validator, value: &Value| match validator.validate(value) {
            Ok(()) => Checked::Fits,
            Err(error) => Checked::Misfit(shown(&error)),
        };
        // A place in a value is two bytes of its text at least.
        let places = u64::try_from(bytes / 2 + 1).unwrap_or(u64::MAX);
        if self.steps.is_some_and(|steps| steps.saturating_mul(places) <= HERE) {
            let checked = say(&self.validator, &value);
            return (checked, value);
        }
        if self.late.load(Ordering::Relaxed) {
            return (Checked::Late, value);
        }
        let (sender, answer) = mpsc::sync_channel(1);
        let value = Arc::new(value);
        let (theirs, validator) = (Arc::clone(&value), Arc::clone(&self.validator));
        let started = thread::Builder::new().name("oz0-schema".to_owned()).spawn(move || {
            let checked = say(&validator, &theirs);
            drop(theirs);
            let _ = sender.send(checked);
        });
        let checked = started.ok().and_then(|_| answer.recv_timeout(WITHIN).ok());
        let checked = checked.unwrap_or_else(|| {
            self.late.store(true, Ordering::Relaxed);
            Checked::Late
        });
        (checked, Arc::try_unwrap(value).unwrap_or_else(|shared| Value::clone(&shared)))
    }
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
        let (value, why) = match &self.input {
            Compiled::Ready(ready) => match ready.check(value, text.len()) {
                (Checked::Fits, value) => return Ok(value),
                (Checked::Misfit(why), _) => return Err(Misfit::Value(why)),
                (Checked::Late, value) => (value, LATE),
            },
            Compiled::Not(why) => (value, why.as_str()),
        };
        // Its server checks them too, and what is pinned is what it lists, not how well.
        if arguments == Arguments::Strict {
            return Err(Misfit::Schema(why.to_owned()));
        }
        Ok(value)
    }

    /// Checks structured content; none where the result has none.
    pub(crate) fn check_result(&self, content: Option<&str>) -> Result<(), String> {
        match &self.output {
            None => Ok(()),
            Some(Compiled::Not(why)) => Err(format!("the output schema cannot be checked: {why}")),
            Some(Compiled::Ready(ready)) => {
                let content = content.ok_or("it has no `structuredContent`")?;
                match ready.check(read(content)?, content.len()).0 {
                    Checked::Fits => Ok(()),
                    Checked::Misfit(why) => Err(why),
                    Checked::Late => Err(format!("the output schema cannot be checked: {LATE}")),
                }
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
    let steps = match Work::of(schema) {
        Work::Steps(steps) if steps > STEPS => {
            return Compiled::Not("it unfolds to more than a million steps".to_owned());
        }
        Work::Steps(steps) => Some(steps),
        Work::Recursive => None,
    };
    let built = jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN))
        .build(schema);
    match built {
        Ok(validator) => Compiled::Ready(Ready {
            validator: Arc::new(validator),
            steps,
            late: AtomicBool::new(false),
        }),
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn schemas(input: &Value, arguments: Arguments) -> Schemas {
        let served = json!({"name": "f", "inputSchema": input, "outputSchema": input});
        Schemas::of(&served.to_string(), arguments)
    }

    fn unchecked(input: &Value, text: &str) {
        let listed = schemas(input, Arguments::AsListed);
        assert!(listed.check_arguments(text, Arguments::AsListed).is_ok());
        let strict = schemas(input, Arguments::Strict).check_arguments(text, Arguments::Strict);
        assert!(matches!(strict, Err(Misfit::Schema(_))));
        assert!(listed.check_result(Some(text)).unwrap_err().contains("cannot be checked"));
    }

    #[test]
    fn a_schema_that_doubles_at_each_step_takes_nobodys_time() {
        let mut definitions = Map::new();
        for level in 0..34 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("d34".to_owned(), json!({"type": "object"}));
        let bomb =
            json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": definitions});
        let began = Instant::now();
        unchecked(&bomb, "{}");
        assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());
    }

    #[test]
    fn one_that_refers_to_itself_is_checked_as_long_as_it_does_not_take_for_ever() {
        let next = json!({"properties": {"c": {"$ref": "#/$defs/node"}}});
        let list = json!({"type": "object", "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "properties": {"c": {"$ref": "#/$defs/node"}}}}});
        let nested = format!("{}1{}", "{\"c\":".repeat(40), "}".repeat(40));
        let well = format!("{}{{}}{}", "{\"c\":".repeat(40), "}".repeat(40));
        let listed = schemas(&list, Arguments::AsListed);
        assert!(listed.check_arguments(&well, Arguments::AsListed).is_ok());
        let misfit = listed.check_arguments(&nested, Arguments::AsListed);
        assert!(matches!(misfit, Err(Misfit::Value(_))));

        let bomb = json!({"type": "object", "$ref": "#/$defs/node",
            "$defs": {"node": {"allOf": [next, next]}}});
        unchecked(&bomb, &well);
        // Waited for once: each listing of the schema above was.
        let late = schemas(&bomb, Arguments::AsListed);
        let _ = late.check_arguments(&well, Arguments::AsListed);
        let began = Instant::now();
        let _ = late.check_arguments(&well, Arguments::AsListed);
        assert!(began.elapsed() < WITHIN / 2, "{:?}", began.elapsed());
    }
}
