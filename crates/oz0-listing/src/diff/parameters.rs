//! The labels of a function's schemas.

use std::collections::BTreeSet;

use super::accept::{Accepts, extent, resolve};
use super::{Label, ParameterChange, SchemaChange, notation};
use crate::json::{Json, Object};
use crate::schema::is_annotation;

pub(super) fn label_input(
    old: Option<&Json>,
    new: Option<&Json>,
    steps: &mut usize,
    labels: &mut Vec<Label>,
) {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (notation::normal(old), notation::normal(new)),
        (None, None) => return,
        (None, Some(_)) => return labels.push(Label::Parameters(SchemaChange::Added)),
        (Some(_), None) => return labels.push(Label::Parameters(SchemaChange::Removed)),
    };
    if old == new {
        return;
    }
    let labelled = labels.len();
    let names: BTreeSet<_> = [&old, &new]
        .into_iter()
        .filter_map(|schema| schema.get("properties")?.as_object())
        .flat_map(Object::names)
        .collect();
    for name in names {
        for change in parameter(&old, &new, name, steps) {
            labels.push(Label::Parameter { name: name.to_owned(), change });
        }
    }
    let (old_frame, new_frame) = (frame(&old), frame(&new));
    if old_frame != new_frame {
        labels.extend(schema_change(&old_frame, &new_frame, steps).map(Label::Parameters));
    }
    if labels.len() == labelled {
        // Something that no parameter leads to, such as a definition that nothing refers to.
        labels.push(Label::Parameters(SchemaChange::Accepts(super::Extent::Changed)));
    }
}

pub(super) fn label_output(
    old: Option<&Json>,
    new: Option<&Json>,
    steps: &mut usize,
    labels: &mut Vec<Label>,
) {
    let change = match (old, new) {
        (Some(old), Some(new)) => {
            let (old, new) = (notation::normal(old), notation::normal(new));
            if old == new {
                return;
            }
            schema_change(&old, &new, steps)
        }
        (None, None) => return,
        (None, Some(_)) => Some(SchemaChange::Added),
        (Some(_), None) => Some(SchemaChange::Removed),
    };
    let changed = SchemaChange::Accepts(super::Extent::Changed);
    labels.push(Label::Output(change.unwrap_or(changed)));
}

fn parameter(old: &Json, new: &Json, name: &str, steps: &mut usize) -> Vec<ParameterChange> {
    let property =
        |schema: &'_ Json| schema.get("properties").and_then(|all| all.get(name).cloned());
    let (was_required, is_required) = (is_required(old, name), is_required(new, name));
    let (before, after) = match (property(old), property(new)) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => return vec![ParameterChange::Added { required: is_required }],
        (_, None) => return vec![ParameterChange::Removed],
    };
    let keeps_all =
        Accepts::new(old, new, steps).all_of(&before, &after) && (was_required || !is_required);
    let adds_nothing =
        Accepts::new(new, old, steps).all_of(&after, &before) && (is_required || !was_required);
    let mut changes = Vec::new();
    changes.extend(extent(keeps_all, adds_nothing).map(ParameterChange::Accepts));
    let (before, after) = (annotations(&before, old, steps), annotations(&after, new, steps));
    if before.defaults != after.defaults {
        changes.push(ParameterChange::Default);
    }
    if before.texts != after.texts {
        changes.push(ParameterChange::Description);
    }
    changes
}

fn is_required(schema: &Json, name: &str) -> bool {
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    required.iter().any(|required| required.as_str() == Some(name))
}

/// The schema without what the single parameters say.
fn frame(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => {
            let mut members = members.clone();
            for keyword in ["properties", "required", "$defs", "definitions"] {
                members.remove(keyword);
            }
            Json::Object(members)
        }
        other => other.clone(),
    }
}

fn schema_change(old: &Json, new: &Json, steps: &mut usize) -> Option<SchemaChange> {
    let keeps_all = Accepts::new(old, new, steps).all_of(old, new);
    let adds_nothing = Accepts::new(new, old, steps).all_of(new, old);
    extent(keeps_all, adds_nothing).map(SchemaChange::Accepts).or_else(|| {
        let (old, new) = (annotations(old, old, steps), annotations(new, new, steps));
        (old != new).then_some(SchemaChange::Description)
    })
}

/// What a schema and those below it say beside what they accept, in order.
#[derive(Debug, PartialEq, Default)]
struct Annotations {
    defaults: Vec<Json>,
    texts: Vec<(String, Json)>,
}

fn annotations(schema: &Json, root: &Json, steps: &mut usize) -> Annotations {
    let mut found = Annotations::default();
    collect(schema, root, &mut Vec::new(), steps, &mut found);
    found
}

/// `entered` are the references that led here, so that a recursive schema ends.
fn collect<'a>(
    schema: &'a Json,
    root: &'a Json,
    entered: &mut Vec<&'a str>,
    steps: &mut usize,
    found: &mut Annotations,
) {
    if *steps == 0 {
        return;
    }
    *steps -= 1;
    match schema {
        Json::Array(items) => {
            for item in items {
                collect(item, root, entered, steps, found);
            }
        }
        Json::Object(members) => {
            for (keyword, value) in members.iter() {
                match (keyword, value) {
                    ("$ref", Json::String(target)) => {
                        if entered.len() < 32
                            && !entered.contains(&target.as_str())
                            && let Some(target_schema) = resolve(root, target)
                        {
                            entered.push(target);
                            collect(target_schema, root, entered, steps, found);
                            entered.pop();
                        }
                    }
                    ("$defs" | "definitions", _) => {}
                    ("default", value) => found.defaults.push(value.clone()),
                    (keyword, Json::Object(_) | Json::Array(_)) if !is_annotation(keyword) => {
                        collect(value, root, entered, steps, found);
                    }
                    (keyword, value) if is_annotation(keyword) => {
                        found.texts.push((keyword.to_owned(), value.clone()));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
