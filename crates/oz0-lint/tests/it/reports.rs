//! The forms of a report, and the list of rules.

use oz0_lint::{find, report_schema, rules, rules_json, rules_text};

use crate::plugins::{folder, lint_folder, whole};

fn is_valid(report: &serde_json::Value) -> Result<(), String> {
    let validator = jsonschema::options().build(&report_schema()).unwrap();
    validator.validate(report).map_err(|error| error.to_string())
}

#[test]
fn json_is_valid_against_its_schema_whatever_was_found() {
    for text in [
        whole("kind: capability\n"),
        whole("egress: ['*']\nagents: {a: {model: openai/x}}\n"),
        "name: [".to_owned(),
        String::new(),
    ] {
        let folder = folder(&[("oz0-plugin.yaml", &text)]);
        for verified in [false, true] {
            is_valid(&lint_folder(folder.path(), verified).to_json()).unwrap();
        }
    }
    assert!(is_valid(&serde_json::json!({"format": "oz0.lint.v1"})).is_err());
}

#[test]
fn json_has_what_the_format_says() {
    let folder =
        folder(&[("oz0-plugin.yaml", &whole("kind: connector\negress: ['*.example.com']\n"))]);
    insta::assert_json_snapshot!(lint_folder(folder.path(), true).to_json());
}

#[test]
fn the_rules_are_listed_each_with_its_title() {
    insta::assert_snapshot!(rules_text());
    let listed = rules_json();
    let listed = listed["rules"].as_array().unwrap();
    assert_eq!(listed.len(), rules().len());
    assert!(
        listed.iter().all(|rule| rule["title"].as_str().is_some_and(|title| !title.is_empty()))
    );
}

#[test]
fn a_rule_is_found_by_its_code_in_any_form_and_by_its_name() {
    for text in ["OZ-S005", "oz-s005", "s005", "wildcard-egress"] {
        assert_eq!(find(text).map(|rule| rule.metadata.code), Some("OZ-S005"), "{text}");
    }
    for text in ["OZ-S023", "OZ-S999", "", "S5"] {
        assert!(find(text).is_none(), "{text}");
    }
}
