//! The API as OpenAPI 3.1: the document at `/openapi.json`, and the page of it for people.
//!
//! Both are written from the routes themselves (`api/described.rs`), so that neither can name what is not there or forget
//! what is. The document is the same at every edge of one version: it says what can be asked, and nothing of who runs it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use oz0_api::{Code, Problem};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

use crate::api::{self, settle};

/// The version of OpenAPI that the document is written in.
const VERSION: &str = "3.1.1";

const ABOUT: &str = "\
What an edge answers: over TCP, with TLS where `oz0 edge` is on more than loopback, and over the Unix socket in the data folder. \
Nodes, the command line and the console ask nothing else.

A request carries `Authorization: Bearer TOKEN`. A token is of one kind, and no kind does another's work. Over the Unix \
socket, which nobody but the edge's own user opens, what reads and calls needs none.

Every answer outside 2xx is a `Problem`: programs branch on its `code`. A request refuses members and parameters that it does \
not know; an answer may get new members in a later version, and who reads it skips them.

The head of a request has at most 64 fields and 64 KiB. Its `Host` must be a loopback name or one that the edge was told of, \
and its `Origin`, where it has one, the edge's own. A body that is told as JSON is read as JSON alone, within its limit, and \
is never decompressed.";

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&build()).expect("JSON values are written as JSON");
    text.push('\n');
    text
});

/// The document, as indented JSON.
pub fn document() -> &'static str {
    &DOCUMENT
}

fn build() -> Value {
    let mut schemas = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.transforms.push(Box::new(RecursiveTransform(settle)));
        })
        .into_generator();
    schemas.subschema_for::<Problem>();
    let mut paths = Map::new();
    let mut tags = Vec::new();
    for group in api::groups() {
        tags.push(json!({ "name": group.name, "description": group.about }));
        for route in group.routes {
            let operation = route.operation(group.name, &mut schemas);
            let path = paths.entry(route.path).or_insert_with(|| json!({}));
            path[route.method.as_str().to_ascii_lowercase()] = operation;
        }
    }
    let scheme = |about: &str| json!({ "type": "http", "scheme": "bearer", "description": about });
    json!({
        "openapi": VERSION,
        "info": {
            "title": "oz0 edge",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {
                "admin": scheme("A person who reads, approves, installs and hands out tokens"),
                "viewer": scheme("A person who reads"),
                "node": scheme("A node: it polls, reports and fetches bundles"),
                "client": scheme("An MCP client: it calls through a node's gateway, and reads nothing here"),
                "join": scheme("Somebody who sets up a node: works once, within an hour"),
            },
        },
    })
}

/// The page for people, in Markdown.
pub fn page() -> String {
    let document = build();
    let mut page = String::from(
        "# The edge's API\n\n\
         <!-- Written by `cargo xtask generate` from the routes themselves. -->\n\n",
    );
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let _ = writeln!(
        page,
        "{}\n\nAn edge describes it at `/openapi.json` in OpenAPI {VERSION}, without a token; the same document is \
         [`openapi.json`](openapi.json) beside this page.\n",
        text(&document["info"]["description"])
    );
    page += "## Tokens\n\n| kind | who has it |\n|---|---|\n";
    for (name, scheme) in members(&document["components"]["securitySchemes"]) {
        let _ = writeln!(page, "| {name} | {} |", text(&scheme["description"]));
    }
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = writeln!(page, "\n## {}\n\n{}\n", text(&tag["name"]), text(&tag["description"]));
        page += "| request | what it does | token | body |\n|---|---|---|---|\n";
        for (path, methods) in members(&document["paths"]) {
            for (method, operation) in members(methods) {
                if operation["tags"][0] == tag["name"] {
                    let _ = writeln!(
                        page,
                        "| `{} {path}` | {} | {} | {} |",
                        method.to_ascii_uppercase(),
                        text(&operation["summary"]),
                        tokens(operation),
                        body(operation)
                    );
                }
            }
        }
    }
    page += "\n## Problems\n\n| code | status | when |\n|---|---|---|\n";
    for code in Code::ALL {
        let when = document["components"]["schemas"]["Code"]["oneOf"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|schema| schema["const"] == code.as_str())
            .map(|schema| text(&schema["description"]))
            .unwrap_or_default();
        let _ = writeln!(page, "| `{}` | {} | {when} |", code.as_str(), code.status());
    }
    page
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn tokens(operation: &Value) -> String {
    let kinds: BTreeSet<&str> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|scheme| members(scheme).map(|(name, _)| name.as_str()))
        .collect();
    if kinds.is_empty() {
        return "none".to_owned();
    }
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let socket = operation["x-oz0-socket-without-token"].as_bool().unwrap_or_default();
    format!("{}{}", kinds.join(", "), if socket { "; none over the socket" } else { "" })
}

fn body(operation: &Value) -> String {
    let Some((media, content)) = members(&operation["requestBody"]["content"]).next() else {
        return String::new();
    };
    let name = content["schema"]["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let limit = operation["requestBody"]["description"].as_str().unwrap_or_default();
    let limit = limit.trim_end_matches('.').replace("At most", "at most");
    match name {
        Some(name) => format!("`{name}`, {limit}"),
        None if content["schema"]["type"] == "null" => "`null`".to_owned(),
        None => format!("`{media}`, {limit}"),
    }
}
