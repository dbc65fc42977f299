//! Which of two schemas accepts more.
//!
//! [`Accepts::all_of`] shows that everything one schema accepts is accepted by another, keyword by
//! keyword. It is sound and not complete: what it cannot show it denies, so that a change is called
//! *changed* rather than *widened*. Annotations accept and refuse nothing, and are not looked at.

use std::collections::BTreeSet;
use std::fmt;

use crate::Pointer;
use crate::json::{Json, Object};
use crate::schema::is_annotation;

/// How what a schema accepts has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It accepts all it did, and more.
    Widened,
    /// It accepts less than it did, and nothing new.
    Narrowed,
    /// It accepts other values, or which it accepts could not be compared.
    Changed,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Changed => "changed",
        })
    }
}

/// None if both accept the same.
pub(super) fn extent(keeps_all: bool, adds_nothing: bool) -> Option<Extent> {
    match (keeps_all, adds_nothing) {
        (true, true) => None,
        (true, false) => Some(Extent::Widened),
        (false, true) => Some(Extent::Narrowed),
        (false, false) => Some(Extent::Changed),
    }
}

/// How many subschemas are looked at in one comparison of two listings before the answer is "cannot
/// tell": servers choose how large and how entangled their schemas are.
pub(super) const STEPS: usize = 200_000;
const DEPTH: usize = 64;
/// What following one reference of many costs, in steps.
const REFERENCE: usize = 64;

/// Compares subschemas of two documents.
pub(super) struct Accepts<'a, 's> {
    narrow: &'a Json,
    wide: &'a Json,
    steps: &'s mut usize,
    /// Pairs that are being compared further out, each with the depth in the value that they
    /// describe. A recursive schema comes back to a pair: deeper in the value it holds there if it
    /// holds everywhere else; at the same depth it says nothing.
    open: Vec<(*const Json, *const Json, usize)>,
    depth: usize,
}

impl<'a, 's> Accepts<'a, 's> {
    /// For subschemas of the documents `narrow` and `wide`, in which their references are looked
    /// up.
    pub(super) fn new(narrow: &'a Json, wide: &'a Json, steps: &'s mut usize) -> Self {
        Self { narrow, wide, steps, open: Vec::new(), depth: 0 }
    }

    /// Whether `b` accepts all that `a` accepts.
    pub(super) fn all_of(&mut self, a: &'a Json, b: &'a Json) -> bool {
        let pair = (std::ptr::from_ref(a), std::ptr::from_ref(b));
        if let Some(depth) = self.opened(pair) {
            return depth < self.depth;
        }
        if *self.steps == 0 || self.open.len() >= DEPTH {
            return false;
        }
        *self.steps -= 1;
        self.open.push((pair.0, pair.1, self.depth));
        let holds = match b {
            Json::Bool(true) => true,
            Json::Object(constraints) => constraints
                .iter()
                .filter(|(keyword, _)| !is_annotation(keyword) && !holds_definitions(keyword))
                .all(|(keyword, value)| self.implied(a, keyword, value, constraints)),
            _ => a == b,
        };
        self.open.pop();
        holds
    }

    /// As [`Self::all_of`], for what a member or an item must be.
    fn inner(&mut self, a: &'a Json, b: &'a Json) -> bool {
        self.depth += 1;
        let holds = self.all_of(a, b);
        self.depth -= 1;
        holds
    }

    /// The innermost depth at which a pair is being compared.
    fn opened(&self, pair: (*const Json, *const Json)) -> Option<usize> {
        self.open.iter().rev().find(|open| (open.0, open.1) == pair).map(|open| open.2)
    }

    /// Whether every value that `a` accepts satisfies one keyword of `b`.
    fn implied(&mut self, a: &'a Json, keyword: &str, value: &'a Json, b: &'a Object) -> bool {
        static ANYTHING: Json = Json::Bool(true);
        if *a == Json::Bool(false) {
            return true;
        }
        let through_b = match (keyword, value) {
            ("$ref", Json::String(target)) => {
                resolve(self.wide, target).is_some_and(|target| self.all_of(a, target))
            }
            ("allOf", Json::Array(all)) => all.iter().all(|b| self.all_of(a, b)),
            ("anyOf", Json::Array(any)) => any.iter().any(|b| self.all_of(a, b)),
            _ => false,
        };
        if through_b {
            return true;
        }
        let Some(a) = a.as_object() else {
            // `true` satisfies what refuses nothing.
            return match (keyword, value) {
                ("properties", Json::Object(named)) => {
                    named.iter().all(|(_, b)| self.inner(&ANYTHING, b))
                }
                ("additionalProperties" | "items", b) => self.inner(&ANYTHING, b),
                _ => false,
            };
        };
        if self.implied_directly(a, keyword, value, b) {
            return true;
        }
        if *self.steps == 0 || self.open.len() >= DEPTH {
            return false;
        }
        *self.steps -= 1;
        let through_any = match a.get("anyOf") {
            Some(Json::Array(any)) if !any.is_empty() => {
                any.iter().all(|a| self.nested_implied(a, keyword, value, b))
            }
            _ => false,
        };
        through_any
            || match a.get("allOf") {
                Some(Json::Array(all)) => {
                    all.iter().any(|a| self.nested_implied(a, keyword, value, b))
                }
                _ => false,
            }
            || match a.get("$ref") {
                Some(Json::String(target)) => resolve(self.narrow, target)
                    .is_some_and(|a| self.nested_implied(a, keyword, value, b)),
                _ => false,
            }
    }

    fn nested_implied(
        &mut self,
        a: &'a Json,
        keyword: &str,
        value: &'a Json,
        b: &'a Object,
    ) -> bool {
        // Marks the depth; a reference that leads back to itself accepts whatever, and is denied.
        let pair = (std::ptr::from_ref(a), std::ptr::from_ref(value));
        if self.opened(pair).is_some() {
            return false;
        }
        self.open.push((pair.0, pair.1, self.depth));
        let holds = self.implied(a, keyword, value, b);
        self.open.pop();
        holds
    }

    fn implied_directly(
        &mut self,
        a: &'a Object,
        keyword: &str,
        value: &'a Json,
        b: &'a Object,
    ) -> bool {
        static ANYTHING: Json = Json::Bool(true);
        if let Some(concerned) = concerns(keyword)
            && let Some(types) = types_of(a)
            && !types.iter().any(|of| covers(concerned, of) || covers(of, concerned))
        {
            return true;
        }
        let number = |of: &str| a.get(of).and_then(Json::as_f64);
        match keyword {
            "type" => match (types_of(a), type_names(value)) {
                (Some(a), Some(b)) => a.iter().all(|a| b.iter().any(|b| covers(b, a))),
                _ => false,
            },
            "enum" => match (values_of(a), value) {
                (Some(a), Json::Array(b)) => a.iter().all(|a| b.contains(a)),
                _ => false,
            },
            "const" => values_of(a).is_some_and(|a| a.iter().all(|a| a == value)),
            "minItems" | "minLength" | "minProperties" | "exclusiveMinimum" => {
                number(keyword) >= value.as_f64() && number(keyword).is_some()
            }
            "minimum" => value.as_f64().is_some_and(|least| {
                number("minimum").or_else(|| number("exclusiveMinimum")).is_some_and(|a| a >= least)
            }),
            "maxItems" | "maxLength" | "maxProperties" | "exclusiveMaximum" => {
                value.as_f64().is_some_and(|most| number(keyword).is_some_and(|a| a <= most))
            }
            "maximum" => value.as_f64().is_some_and(|most| {
                number("maximum").or_else(|| number("exclusiveMaximum")).is_some_and(|a| a <= most)
            }),
            "required" => match (a.get("required"), value) {
                (Some(Json::Array(a)), Json::Array(b)) => b.iter().all(|b| a.contains(b)),
                _ => false,
            },
            "properties" => match value {
                Json::Object(named) => named.iter().all(|(name, b)| {
                    let own = property(a, name);
                    match own.or_else(|| beyond(a)) {
                        Some(a) => self.inner(a, b),
                        None => self.inner(&ANYTHING, b),
                    }
                }),
                _ => false,
            },
            "additionalProperties" => {
                if a.get("patternProperties") != b.get("patternProperties") {
                    return false;
                }
                let others = a.get("properties").and_then(Json::as_object);
                others
                    .into_iter()
                    .flat_map(Object::iter)
                    .all(|(name, a)| property(b, name).is_some() || self.inner(a, value))
                    && self.inner(a.get("additionalProperties").unwrap_or(&ANYTHING), value)
            }
            "items" => {
                a.get("prefixItems") == b.get("prefixItems")
                    && value.as_array().is_none()
                    && self.inner(a.get("items").unwrap_or(&ANYTHING), value)
            }
            _ => a.get(keyword) == Some(value) && self.same_references(keyword, value),
        }
    }

    /// Whether what a keyword refers to, however far, is the same in both documents.
    fn same_references(&mut self, keyword: &str, value: &'a Json) -> bool {
        let mut found = Vec::new();
        if is_reference(keyword) {
            found.extend(value.as_str());
        }
        references(value, &mut found);
        let mut seen = BTreeSet::new();
        while let Some(target) = found.pop() {
            if seen.insert(target) {
                let Some(left) = self.steps.checked_sub(REFERENCE) else {
                    return false;
                };
                *self.steps = left;
                match (resolve(self.narrow, target), resolve(self.wide, target)) {
                    (Some(a), Some(b)) if a == b => references(a, &mut found),
                    // Another document, which is not listed: the same text is all there is.
                    (None, None) if !target.starts_with('#') => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

fn holds_definitions(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions")
}

fn property<'a>(schema: &'a Object, name: &str) -> Option<&'a Json> {
    schema.get("properties")?.get(name)
}

/// The schema of members that are not named, where patterns do not make that another question.
fn beyond(schema: &Object) -> Option<&Json> {
    match schema.get("patternProperties") {
        None => schema.get("additionalProperties"),
        Some(_) => None,
    }
}

/// The kind of value that a keyword constrains; others satisfy it whatever it says.
fn concerns(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "contentEncoding" | "contentMediaType" | "maxLength" | "minLength" | "pattern" => "string",
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => "number",
        "contains" | "items" | "maxContains" | "maxItems" | "minContains" | "minItems"
        | "prefixItems" | "uniqueItems" => "array",
        "additionalProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "properties"
        | "propertyNames"
        | "required" => "object",
        _ => return None,
    })
}

/// Whether every value of one type is of another.
fn covers(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide == "number" && narrow == "integer"
}

fn types_of(schema: &Object) -> Option<Vec<&str>> {
    match schema.get("type") {
        Some(types) => type_names(types),
        None => Some(values_of(schema)?.iter().map(type_of).collect()),
    }
}

fn type_names(types: &Json) -> Option<Vec<&str>> {
    match types {
        Json::String(name) => Some(vec![name]),
        Json::Array(names) => names.iter().map(Json::as_str).collect(),
        _ => None,
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.fract() == 0.0 => "integer",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The values of an `enum` or a `const`.
fn values_of(schema: &Object) -> Option<&[Json]> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(std::slice::from_ref(value)),
        (None, Some(Json::Array(values))) => Some(values),
        _ => None,
    }
}

/// A reference within the document; others lead to nothing that is listed.
pub(super) fn resolve<'a>(root: &'a Json, target: &str) -> Option<&'a Json> {
    let pointer: Pointer = target.strip_prefix('#')?.parse().ok()?;
    root.at(&pointer)
}

fn is_reference(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef" | "$recursiveRef")
}

fn references<'a>(value: &'a Json, found: &mut Vec<&'a str>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        Json::Object(members) => members.iter().for_each(|(name, value)| match value {
            Json::String(target) if is_reference(name) => found.push(target),
            value => references(value, found),
        }),
        _ => {}
    }
}
