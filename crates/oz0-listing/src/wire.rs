//! What identifiers look like on the wire, as JSON Schemas: what an API that takes and hands out them says of them.
//!
//! Each is a string whose pattern admits exactly what its type's parser admits, which tests hold against each other.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Digest, FunctionId, ListingHash, Pointer, ToolId};

macro_rules! described {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

described!(
    ToolId,
    "ToolId",
    json_schema!({
        "description": "A tool's ID within its plugin; `oz` is the platform's own.",
        "type": "string",
        "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,62}$",
        "not": { "const": "oz" },
    })
);

described!(
    FunctionId,
    "FunctionId",
    json_schema!({
        "description": "A function's ID within its plugin: `TOOL.FUNCTION`.",
        "type": "string",
        "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,62}\\.[A-Za-z0-9_.-]{1,128}$",
        "not": { "pattern": "^oz\\." },
    })
);

described!(
    Digest,
    "Digest",
    json_schema!({
        "description": "A SHA-256 digest.",
        "type": "string",
        "pattern": "^sha256:[0-9a-f]{64}$",
    })
);

described!(
    ListingHash,
    "ListingHash",
    json_schema!({
        "description": "The SHA-256 of a function's listing: of its canonical JSON, escaped.",
        "type": "string",
        "pattern": "^sha256:[0-9a-f]{64}$",
    })
);

described!(
    Pointer,
    "Pointer",
    json_schema!({
        "description": "A JSON pointer (RFC 6901).",
        "type": "string",
        "pattern": "^(/([^~/]|~[01])*)*$",
    })
);
