//! The edge against its own description, by other people's programs: a validator of OpenAPI 3.1, and Schemathesis, which makes
//! requests out of a description (well formed, and bent in every place that it names) and holds the answers against it.

use std::fs;
use std::process::Command;

use super::House;
use super::wire::Request;
use crate::running::peers;
use crate::support::{checkout, run};

#[test]
fn the_description_is_openapi_and_is_the_one_that_is_published() {
    let house = House::new();
    let served = Request::get("/openapi.json").send(&house.address());
    assert!(served.head.contains("content-type: application/json"), "{}", served.head);
    let published = fs::read_to_string(checkout().join("docs/reference/openapi.json")).expect("it");
    assert_eq!(served.body, published, "hint: cargo xtask generate");
    let file = house.machines.path("openapi.json");
    fs::write(&file, &served.body).expect("it is written");
    let said = run(Command::new(peers().python_program("openapi-spec-validator")).arg(&file));
    assert_eq!(said.code, Some(0), "{}", said.all());
}

/// Holds the edge against its description, as somebody with this token: with so many requests of each operation that are made
/// up, beside those that bend one place of it each. The seed is always the same, and so are the requests.
fn conforms(house: &House, kind: Option<&str>, examples: &str, phases: &str) {
    let folder = house.machines.path(kind.unwrap_or("nobody"));
    fs::create_dir_all(&folder).expect("a folder");
    let here = checkout().join("crates/oz0/tests/it/api");
    let mut command = Command::new(peers().python_program("schemathesis"));
    command
        .current_dir(&folder)
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", &here)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONHASHSEED", "0")
        .env("NO_COLOR", "1")
        .arg("--config-file")
        .arg(here.join("schemathesis.toml"))
        .args(["run", &format!("{}/openapi.json", house.url), "--seed=6", "--no-shrink"])
        .args([
            "--max-examples",
            examples,
            "--phases",
            phases,
            "--generation-database=none",
            "--workers=1",
        ]);
    if let Some(kind) = kind {
        command.arg("--header").arg(format!("Authorization:Bearer {}", house.tokens[kind]));
    }
    let said = run(&mut command);
    assert_eq!(said.code, Some(0), "as {kind:?}: {}", said.all());
}

#[test]
fn an_admin_is_answered_as_described() {
    conforms(&House::new(), Some("admin"), "4", "coverage,fuzzing");
}

#[test]
fn a_node_is_answered_as_described() {
    conforms(&House::new(), Some("node"), "4", "coverage,fuzzing");
}

/// Whoever may do little or nothing is told so as described, too.
#[test]
fn a_client_and_nobody_are_answered_as_described() {
    let house = House::new();
    conforms(&house, Some("client"), "2", "fuzzing");
    conforms(&house, None, "2", "fuzzing");
}
