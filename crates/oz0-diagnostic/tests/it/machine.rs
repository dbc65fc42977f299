//! The reporters for machines.

use oz0_diagnostic::{Check, Diagnostic, Edit, Fix, Level, Safety, SourceFile, Span, report};

static WILDCARD: Check = Check { code: "OZ-S005", name: "wildcard-egress", level: Level::Warning };

fn finding() -> Diagnostic {
    let manifest =
        SourceFile::new("oz0-plugin.yaml", "\u{feff}name: x\r\negress: ['日本', \"*\"]\r\n");
    let readme = SourceFile::new("docs/README.md", "# x\n");
    let star = manifest.text().find('"').unwrap();
    Diagnostic::new(&WILDCARD, Span::new(&manifest, star..star + 3), "a plugin may reach `*`\u{1b}")
        .help("name the hosts")
        .related(Span::new(&readme, 2..3), "the README names none")
        .url("https://example.org/OZ-S005")
}

#[test]
fn a_problem_object_has_every_member() {
    insta::assert_json_snapshot!(report::problem_json(&finding()));
    let file = SourceFile::new("a", "");
    let mut bare = Diagnostic::new(&WILDCARD, Span::start_of(&file), "m").level(Level::Error);
    bare.strict = true;
    insta::assert_json_snapshot!(report::problem_json(&bare));
}

#[test]
fn only_a_safe_fix_makes_a_problem_fixable() {
    let fixable = |safety| {
        let finding = finding();
        let edit = Edit {
            file: finding.span.file().clone(),
            range: finding.span.range(),
            replacement: "x".to_owned(),
        };
        let fix = Fix { title: "name a host".to_owned(), safety, edits: vec![edit] };
        report::problem_json(&finding.fix(fix))["fixable"].clone()
    };
    assert_eq!(fixable(Safety::Safe), true);
    assert_eq!(fixable(Safety::Unsafe), false);
    assert_eq!(report::problem_json(&finding())["fixable"], false);
}

#[test]
fn a_concise_line_holds_no_hidden_character() {
    let path = SourceFile::new("a\u{202e}\n.yaml", "x");
    let hostile =
        Diagnostic::new(&WILDCARD, Span::start_of(&path), "\u{1b}[2J\nfake.yaml:1:1: note");
    insta::assert_snapshot!(report::concise(&[finding(), hostile]));
    assert_eq!(report::concise(&[]), "");
}

#[test]
fn levels_are_ordered_by_weight() {
    assert!(Level::Error > Level::Warning && Level::Warning > Level::Note);
    assert_eq!(serde_json::to_value(Level::Warning).unwrap(), "warning");
}
