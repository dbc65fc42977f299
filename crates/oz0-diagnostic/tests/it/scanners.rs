//! The reporters for GitHub Actions and for code scanners.

use std::sync::Arc;

use oz0_diagnostic::report::{DescribedRule, Program, github, sarif};
use oz0_diagnostic::{Check, Diagnostic, Edit, Fix, Level, Safety, SourceFile, Span};
use serde_json::{Value, json};

static WILDCARD: Check = Check { code: "OZ-S005", name: "wildcard-egress", level: Level::Warning };
static DECODES: Check = Check { code: "OZ-L001", name: "does-not-decode", level: Level::Error };

fn rules() -> Vec<DescribedRule> {
    vec![DescribedRule {
        code: "OZ-S005".to_owned(),
        name: "wildcard-egress".to_owned(),
        title: "Egress names a wildcard".to_owned(),
        page: "# OZ-S005\n\nA `*` in egress.\n".to_owned(),
        url: "https://example.com/OZ-S005".to_owned(),
        level: "warning",
    }]
}

fn log(diagnostics: &[Diagnostic], base: &str) -> Value {
    let rules = rules();
    let program =
        Program { name: "oz0", version: "1.2.3", url: "https://example.com", rules: &rules };
    sarif(diagnostics, base, program, &["OZ-S004: nothing is known of its functions".to_owned()])
}

/// Holds a log against the published schema.
fn check_valid(log: &Value) {
    let schema: Value =
        serde_json::from_str(include_str!("../data/sarif/sarif-schema-2.1.0.json")).unwrap();
    let validator = jsonschema::options().build(&schema).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

fn file(text: &str) -> Arc<SourceFile> {
    SourceFile::new("hub/my listing.yaml", text)
}

fn find(file: &Arc<SourceFile>, text: &str) -> Span {
    let at = file.text().find(text).unwrap();
    Span::new(file, at..at + text.len())
}

fn findings(text: &str) -> Vec<Diagnostic> {
    let file = file(text);
    let span = find(&file, "*.example.com");
    let fix = Fix {
        title: "name the host".to_owned(),
        safety: Safety::Safe,
        edits: vec![Edit {
            file: Arc::clone(&file),
            range: span.range(),
            replacement: "a".to_owned(),
        }],
    };
    vec![
        Diagnostic::new(&WILDCARD, span, "a wildcard, 100% of hosts\u{202e}")
            .help("name each host")
            .related(find(&file, "egress"), "the list")
            .fix(fix),
        Diagnostic::new(&DECODES, Span::start_of(&file), "it does not decode").level(Level::Error),
    ]
}

const TEXT: &str = "# \u{1f600}\negress: [*.example.com]\n";

#[test]
fn a_log_is_valid_against_the_published_schema_of_2_1_0() {
    check_valid(&log(&findings(TEXT), "plugins/x/"));
    check_valid(&log(&[], ""));
    assert!(std::panic::catch_unwind(|| check_valid(&json!({"version": "2.1.0"}))).is_err());
}

#[test]
fn a_log_has_the_place_the_rule_the_fix_and_what_was_not_looked_at() {
    let log = log(&findings(TEXT), "plugins/x/");
    insta::assert_json_snapshot!(log["runs"][0]);
}

#[test]
fn a_fingerprint_stays_when_lines_move_and_differs_between_two_findings() {
    let prints = |text: &str| -> Vec<String> {
        let log = log(&findings(text), "");
        let results = log["runs"][0]["results"].as_array().unwrap();
        let print =
            |result: &Value| result["partialFingerprints"]["oz0/v1"].as_str().unwrap().to_owned();
        results.iter().map(print).collect()
    };
    let before = prints(TEXT);
    assert_eq!(prints(&format!("# more\n\n{TEXT}"))[0], before[0]);
    assert_ne!(before[0], before[1]);
    let twice = [findings(TEXT).remove(0), findings(TEXT).remove(0)];
    let log = log(&twice, "");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_ne!(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
}

#[test]
fn a_workflow_command_keeps_to_one_line_and_to_its_own_marks() {
    insta::assert_snapshot!(github(&findings(TEXT), "plugins/x,y:z/"));
}

#[test]
fn a_command_about_several_lines_names_no_columns() {
    let file = file("a:\n  b: 1\n  c: 2\n");
    let span = Span::new(&file, 0..file.text().len());
    let command = github(&[Diagnostic::new(&WILDCARD, span, "all of it")], "");
    assert!(
        command.starts_with("::warning file=hub/my listing.yaml,line=1,endLine=4,title="),
        "{command}"
    );
}
