//! Schemas that are written in another way and mean the same.

use std::fmt;

use crate::json::{Json, Object};
use crate::schema::{Under, under};

/// A way in which two schemas are written differently and mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notation {
    /// `$schema` at the root: which dialect it says it is.
    Dialect,
    /// `definitions` and `$defs`, with the references to them.
    Definitions,
    /// A keyword with the value that it has when absent: `additionalProperties: true` or `{}`,
    /// `required: []`, `properties: {}`, `minLength: 0`, …; and a list of one type for the type.
    Defaults,
    /// The order of `required`, `enum` and of a list of types, which are sets.
    Order,
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dialect => "$schema",
            Self::Definitions => "definitions/$defs",
            Self::Defaults => "defaults spelled out",
            Self::Order => "order",
        })
    }
}

const ALL: [Notation; 4] =
    [Notation::Dialect, Notation::Definitions, Notation::Defaults, Notation::Order];

/// The ways in which the two differ, if they differ in nothing else.
pub(super) fn between(old: &Json, new: &Json) -> Vec<Notation> {
    if old == new || normal(old) != normal(new) {
        return Vec::new();
    }
    ALL.into_iter()
        .filter(|&kind| {
            let others: Vec<_> = ALL.into_iter().filter(|&other| other != kind).collect();
            normal_by(old, &others) != normal_by(new, &others)
        })
        .collect()
}

/// The schema in the one notation that all these ways have in common.
pub(super) fn normal(schema: &Json) -> Json {
    normal_by(schema, &ALL)
}

fn normal_by(schema: &Json, kinds: &[Notation]) -> Json {
    let mut schema = schema.clone();
    if let Json::Object(members) = &mut schema {
        if kinds.contains(&Notation::Dialect) {
            members.remove("$schema");
        }
        let both = members.get("definitions").is_some() && members.get("$defs").is_some();
        if kinds.contains(&Notation::Definitions) && !both {
            if let Some(definitions) = members.remove("definitions") {
                members.insert("$defs", definitions);
            }
            return rewrite(schema, kinds, true);
        }
    }
    rewrite(schema, kinds, false)
}

fn rewrite(schema: Json, kinds: &[Notation], references: bool) -> Json {
    let Json::Object(members) = schema else {
        return schema;
    };
    let again = |schema| rewrite(schema, kinds, references);
    let members = members.into_members().into_iter().map(|(keyword, value)| {
        let value = match (under(&keyword), value) {
            (Under::Schema | Under::List, Json::Array(items)) => {
                Json::Array(items.into_iter().map(again).collect())
            }
            (Under::Schema, value) => again(value),
            (Under::Named, Json::Object(named)) => Json::Object(
                named
                    .into_members()
                    .into_iter()
                    .map(|(name, schema)| (name, again(schema)))
                    .collect(),
            ),
            (_, Json::String(target)) if references && keyword == "$ref" => {
                Json::String(match target.strip_prefix("#/definitions/") {
                    Some(rest) => format!("#/$defs/{rest}"),
                    None => target,
                })
            }
            (_, Json::Array(mut items))
                if kinds.contains(&Notation::Order)
                    && matches!(keyword.as_str(), "required" | "enum" | "type") =>
            {
                items.sort_by_cached_key(Json::canonical);
                Json::Array(items)
            }
            (_, value) => value,
        };
        (keyword, value)
    });
    let members: Object = if kinds.contains(&Notation::Defaults) {
        members
            .map(|(keyword, value)| match value {
                Json::Array(mut items) if keyword == "type" && items.len() == 1 => {
                    (keyword, items.remove(0))
                }
                value => (keyword, value),
            })
            .filter(|(keyword, value)| !is_default(keyword, value))
            .collect()
    } else {
        members.collect()
    };
    Json::Object(members)
}

fn is_default(keyword: &str, value: &Json) -> bool {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "items"
        | "unevaluatedItems"
        | "unevaluatedProperties" => match value {
            Json::Bool(open) => *open,
            Json::Object(members) => members.is_empty(),
            _ => false,
        },
        "$defs" | "definitions" | "dependentRequired" | "dependentSchemas"
        | "patternProperties" | "properties" => value.as_object().is_some_and(Object::is_empty),
        "required" => value.as_array().is_some_and(<[Json]>::is_empty),
        "minItems" | "minLength" | "minProperties" => value.as_f64() == Some(0.0),
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => value.as_bool() == Some(false),
        _ => false,
    }
}
