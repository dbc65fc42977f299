//! A form out of an input schema, and a call's arguments out of what was filled in.
//!
//! Each parameter that a schema names gets a field that fits it; what no field fits is written as JSON. A field that is left
//! empty is left out of the arguments. Whoever wants to send something else writes all of it as JSON.

use oz0_api::{Code, Problem};
use oz0_listing::escape;
use oz0_listing::json::{Json, parse};

use crate::schema::{is_required, kind, resolved};
use crate::session::Sent;
use crate::text::{Piece, pieces};

/// Fields, at most; a function with more parameters is called with JSON.
const FIELDS: usize = 100;

/// The start of the names of fields that are parameters.
const PREFIX: &str = "arg:";

/// What is typed into a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Line,
    Text,
    Number,
    /// Yes, no, or left out.
    Truth,
    /// One of these, each with what is sent for it.
    Choice(Vec<(String, String)>),
    Json,
}

/// One field.
pub(crate) struct Field {
    /// As it is sent.
    pub(crate) name: String,
    pub(crate) label: Vec<Piece>,
    pub(crate) id: String,
    pub(crate) required: bool,
    pub(crate) input: Input,
    pub(crate) kind: Vec<Piece>,
    pub(crate) about: Vec<Piece>,
    pub(crate) value: String,
}

/// The fields of a schema; none where it has too many for a form.
pub(crate) fn fields(schema: &Json) -> Option<Vec<Field>> {
    let root = schema;
    let schema = resolved(root, schema);
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
        return Some(Vec::new());
    };
    if properties.len() > FIELDS {
        return None;
    }
    let field = |(at, (name, property)): (usize, (&str, &Json))| {
        let property = resolved(root, property);
        let input = input(property);
        let default = property.get("default");
        Field {
            name: format!("{PREFIX}{name}"),
            label: pieces(&escape::line_within(name, 200)),
            id: format!("arg-{at}"),
            required: is_required(schema, name),
            kind: pieces(&kind(root, property)),
            about: pieces(property.get("description").and_then(Json::as_str).unwrap_or_default()),
            value: match (&input, default) {
                (_, None) => String::new(),
                (Input::Line | Input::Text, Some(Json::String(text))) => text.clone(),
                (_, Some(value)) => value.canonical(),
            },
            input,
        }
    };
    Some(properties.iter().enumerate().map(field).collect())
}

fn input(property: &Json) -> Input {
    if let Some(values) = property.get("enum").and_then(Json::as_array) {
        let choice = |value: &Json| {
            let sent = value.canonical();
            let shown = value.as_str().map_or_else(|| sent.clone(), str::to_owned);
            (sent, escape::line_within(&shown, 200).into_owned())
        };
        return Input::Choice(values.iter().map(choice).collect());
    }
    match property.get("type").and_then(Json::as_str) {
        Some("string") => {
            let most = property.get("maxLength").and_then(Json::as_f64);
            if most.is_some_and(|most| most > 300.0) { Input::Text } else { Input::Line }
        }
        Some("integer" | "number") => Input::Number,
        Some("boolean") => Input::Truth,
        _ => Input::Json,
    }
}

/// The arguments that a form was filled in with, as JSON.
pub(crate) fn arguments(sent: &Sent, schema: &Json) -> Result<String, Problem> {
    if let Some(whole) = sent.get("json").map(str::trim).filter(|text| !text.is_empty()) {
        let json = read("the arguments", whole)?;
        return match json.as_object() {
            Some(_) => Ok(json.canonical()),
            None => Err(wrong("the arguments are a JSON object: {\"name\": value}".to_owned())),
        };
    }
    let fields = fields(schema).unwrap_or_default();
    let mut object = oz0_listing::json::Object::default();
    for (name, value) in sent.fields() {
        let Some(bare) = name.strip_prefix(PREFIX) else { continue };
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            return Err(wrong(format!(
                "the function has no parameter {}",
                escape::line_within(bare, 80)
            )));
        };
        let is_text = matches!(field.input, Input::Line | Input::Text);
        if value.is_empty() && !(is_text && field.required) {
            continue;
        }
        let value = if is_text { Json::String(value.to_owned()) } else { read(bare, value)? };
        object.insert(bare, value);
    }
    Ok(Json::Object(object).canonical())
}

fn read(what: &str, text: &str) -> Result<Json, Problem> {
    let what = escape::line_within(what, 80);
    parse(text)
        .map_err(|error| wrong(format!("{what}: this is no JSON that reads in one way: {error}")))
}

fn wrong(what: String) -> Problem {
    Problem::new(Code::Malformed, what)
        .hint("go back and mend it: what was filled in is still there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_gets_the_field_that_fits_it() {
        let schema = parse(
            r#"{"type":"object","required":["s"],"properties":{"b":{"type":"boolean"},"e":{"enum":["x",1]},
                "n":{"type":"integer","default":3},"o":{"type":"object"},"s":{"type":"string"},
                "t":{"type":"string","maxLength":5000}}}"#,
        )
        .unwrap();
        let fields = fields(&schema).unwrap();
        let inputs: Vec<_> = fields.iter().map(|field| field.input.clone()).collect();
        let choice = vec![("\"x\"".to_owned(), "x".to_owned()), ("1".to_owned(), "1".to_owned())];
        assert_eq!(
            inputs,
            [
                Input::Truth,
                Input::Choice(choice),
                Input::Number,
                Input::Json,
                Input::Line,
                Input::Text
            ]
        );
        assert_eq!(fields[2].value, "3");
        assert!(fields[4].required);
        assert_eq!(super::fields(&parse("true").unwrap()).unwrap().len(), 0);
    }
}
