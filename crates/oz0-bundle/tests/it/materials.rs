//! The bill of materials: valid, complete, and the same for the same locks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use oz0_bundle::sbom;
use oz0_plugin::Plugin;
use serde_json::Value;

use super::support::{folder, put};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/it/cyclonedx/{name}.SNAPSHOT.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Holds a bill against the official schema, and against what that schema does not say.
fn check(text: &str) -> Value {
    let bom: Value = serde_json::from_str(text).unwrap();
    let at = |name: &str| format!("http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json");
    let registry = jsonschema::Registry::new()
        .add(at("spdx"), schema("spdx"))
        .unwrap()
        .add(at("jsf-0.82"), schema("jsf-0.82"))
        .unwrap()
        .prepare()
        .unwrap();
    let validator =
        jsonschema::draft7::options().with_registry(&registry).build(&schema("bom-1.6")).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&bom)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");

    assert_eq!(bom["specVersion"], "1.6");
    let mut references = BTreeSet::new();
    let root = &bom["metadata"]["component"];
    for component in bom["components"].as_array().unwrap().iter().chain([root]) {
        let reference = component["bom-ref"].as_str().unwrap();
        assert!(references.insert(reference), "{reference} stands twice");
        if component != root {
            assert_eq!(component["purl"], component["bom-ref"]);
        }
    }
    let mut described = BTreeSet::new();
    for dependency in bom["dependencies"].as_array().unwrap() {
        assert!(described.insert(dependency["ref"].as_str().unwrap()));
        for needed in dependency["dependsOn"].as_array().into_iter().flatten() {
            assert!(references.contains(needed.as_str().unwrap()), "{needed}");
        }
    }
    assert_eq!(described, references);
    bom
}

fn bill(folder: &Path) -> String {
    let plugin = Plugin::load(folder).unwrap();
    sbom(&plugin, plugin.manifest().unwrap()).unwrap().unwrap()
}

#[test]
fn every_examples_bill_is_valid() {
    let mut seen = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.join("oz0-plugin.yaml").exists() {
            let bom = check(&bill(&path));
            assert_eq!(bom["compositions"][0]["aggregate"], "complete", "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 5);
}

#[test]
fn a_tools_lock_of_npm_is_listed_with_its_graph() {
    let bom = check(&bill(&examples().join("everything")));
    let tool = "pkg:npm/%40modelcontextprotocol/server-everything@2026.8.31";
    let of = |reference: &str| {
        let dependencies = bom["dependencies"].as_array().unwrap();
        dependencies.iter().find(|one| one["ref"] == reference).unwrap()["dependsOn"].clone()
    };
    assert_eq!(of("pkg:generic/everything@1.0.0"), serde_json::json!([tool]));
    assert!(
        of(tool).as_array().unwrap().iter().any(|one| {
            one.as_str().unwrap().starts_with("pkg:npm/%40modelcontextprotocol/sdk@")
        })
    );
    let lock = fs::read_to_string(examples().join("everything/locks/everything.lock")).unwrap();
    let lock: Value = serde_json::from_str(&lock).unwrap();
    let locked = lock["packages"].as_object().unwrap().len() - 1;
    let names: BTreeSet<String> = lock["packages"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(place, _)| !place.is_empty())
        .map(|(place, entry)| {
            format!("{}@{}", place.rsplit("node_modules/").next().unwrap(), entry["version"])
        })
        .collect();
    assert!(names.len() <= locked);
    assert_eq!(bom["components"].as_array().unwrap().len(), names.len());
    let sdk =
        bom["components"].as_array().unwrap().iter().find(|one| one["name"] == "sdk").unwrap();
    assert_eq!(sdk["group"], "@modelcontextprotocol");
    assert_eq!(sdk["licenses"][0]["expression"], "MIT");
    assert_eq!(sdk["hashes"][0]["alg"], "SHA-512");
}

#[test]
fn a_small_bill_in_full() {
    let hash = "0a".repeat(32);
    let requirements =
        format!("Web_Kit==2.0+l --hash=sha256:{hash}\nbase==1 --hash=sha256:{hash}\n");
    let folder = folder(&[("requirements.txt", requirements.as_bytes())]);
    let text = bill(folder.path());
    check(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn a_package_without_a_lock_makes_the_bill_incomplete() {
    let folder = folder(&[]);
    put(
        folder.path(),
        "oz0-plugin.yaml",
        b"name: notes\nversion: 1.2.0\ndescription: Keeps notes.\nlicense: 0BSD\ntools:\n  git: {package: \"pypi:mcp-server-git==2026.1.14\"}\n",
    );
    let bom = check(&bill(folder.path()));
    assert_eq!(bom["compositions"][0]["aggregate"], "incomplete");
    assert_eq!(bom["components"][0]["purl"], "pkg:pypi/mcp-server-git@2026.1.14");
}

#[test]
fn a_lock_that_does_not_decode_is_a_finding_in_its_place() {
    let folder = folder(&[("requirements.txt", b"ok==1 --hash=sha256:00\n")]);
    let plugin = Plugin::load(folder.path()).unwrap();
    let findings = sbom(&plugin, plugin.manifest().unwrap()).unwrap().unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].check.code, "OZ-L001");
    assert_eq!(
        (findings[0].span.file().path(), findings[0].span.start().line),
        ("requirements.txt", 1)
    );
}
