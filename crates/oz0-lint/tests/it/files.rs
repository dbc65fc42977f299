//! Places stay right whatever the file looks like, and many mistakes are as many findings.

use oz0_lint::Report;

use crate::plugins::{folder, lint_folder, whole};

/// Ten mistakes, each found by another rule or in another place.
const TEN: &str = "\
name: oz0-tracker-mcp
kind: integration
egress: [api.example.com, '*.example.com', github.com]
connections:
  tracker: {prefix: TRACKER}
requires:
  secrets: [TRACKER_TOKEN]
agents:
  triage:
    description: Ranks job applicants.
    tools: [oz0_chat.post]
    egress: ['*']
uses:
  chat: {tools: [oz0_chat.post, oz0_wiki.*]}
";

/// Each finding: code, the text that it is about.
fn found(report: &Report) -> Vec<(&'static str, String)> {
    let pair =
        |problem: &oz0_diagnostic::Diagnostic| (problem.check.code, problem.span.text().to_owned());
    report.problems.iter().map(pair).collect()
}

fn lint_text(text: &str) -> Report {
    let folder = folder(&[("oz0-plugin.yaml", text)]);
    lint_folder(folder.path(), false)
}

#[test]
fn ten_mistakes_are_ten_findings_each_at_its_place() {
    let mut found = found(&lint_text(&whole(TEN)));
    // The agent's `*` reaches every content host as well, and an untagged agent stands beside a connection.
    found.retain(|(code, text)| !(*code == "OZ-S022" && text == "'*'") && *code != "OZ-S002");
    let wanted = [
        ("OZ-S006", "oz0-tracker-mcp"),
        ("OZ-S006", "oz0-tracker-mcp"),
        ("OZ-S001", "integration"),
        ("OZ-S005", "'*.example.com'"),
        ("OZ-S022", "github.com"),
        ("OZ-S007", "TRACKER_TOKEN"),
        ("OZ-S013", "Ranks job applicants"),
        ("OZ-S019", "oz0_chat.post"),
        ("OZ-S005", "'*'"),
        ("OZ-S010", "oz0_wiki.*"),
    ];
    assert_eq!(found, wanted.map(|(code, text)| (code, text.to_owned())));
}

#[test]
fn line_ends_a_mark_and_what_stands_before_move_no_finding() {
    let plain = lint_text(&whole(TEN));
    let places = |report: &Report| -> Vec<_> {
        let place = |problem: &oz0_diagnostic::Diagnostic| {
            (
                problem.check.code,
                problem.span.start(),
                problem.span.end(),
                problem.span.text().to_owned(),
            )
        };
        report.problems.iter().map(place).collect()
    };
    let wanted = places(&plain);
    assert_eq!(places(&lint_text(&whole(TEN).replace('\n', "\r\n"))), wanted);
    assert_eq!(places(&lint_text(&whole(TEN).replace('\n', "\r"))), wanted);
    assert_eq!(places(&lint_text(&format!("\u{feff}{}", whole(TEN)))), wanted);
    assert_eq!(
        places(&lint_text(&format!("\u{feff}{}", whole(TEN).replace('\n', "\r\n")))),
        wanted
    );
}

#[test]
fn tabs_and_wide_characters_before_a_finding_count_as_a_column_each() {
    let text =
        whole("agents: {\"a\": {description: \"\u{6f22}\u{5b57} \u{1f600}\", egress:\t['*']}}\n");
    let report = lint_text(&text);
    let problem = report.problems.iter().find(|problem| problem.check.code == "OZ-S005").unwrap();
    let line = text.lines().next().unwrap();
    let before = line.split("'*'").next().unwrap();
    assert_eq!(
        (problem.span.start().line, problem.span.start().column),
        (1, before.chars().count() + 1)
    );
    assert_eq!(problem.span.text(), "'*'");
}

#[test]
fn a_manifest_that_does_not_decode_has_its_errors_and_only_the_rule_about_files_runs() {
    let report = lint_text("name: Team\nversion: 1\nkind: [\n");
    assert!(report.failed());
    assert!(report.problems.iter().all(|problem| problem.check.code.starts_with("OZ-L")));
    assert_eq!(report.summary.rules, 1);
    // Seven run at the verified level alone.
    assert_eq!(report.summary.not_run.len(), oz0_lint::rules().len() - 7 - 1);
    assert!(
        report.summary_text().contains("not run: OZ-S001 to OZ-S022: the manifest has errors"),
        "{}",
        report.summary_text()
    );
}

/// One misspelt key hides what the rules would say, and not which plugin it is about.
#[test]
fn a_manifest_that_does_not_decode_is_called_by_its_name() {
    let report = lint_text("name: team\nversion: 1.0.0\ndescription: It.\nlicence: MIT\n");
    assert_eq!(report.plugin.as_deref(), Some("team"));
    assert_eq!(report.version, None);
    assert!(report.summary_text().starts_with("team: 1 error"), "{}", report.summary_text());
    for name in ["Team", "\"te\\e[2Jam\"", "[team]"] {
        let report = lint_text(&format!("name: {name}\nlicence: MIT\n"));
        assert!(report.summary_text().starts_with("the plugin: "), "{}", report.summary_text());
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_part_of_the_plugin_is_counted_in_the_summary() {
    let folder = folder(&[("oz0-plugin.yaml", &whole("kind: connector\n"))]);
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    let report = lint_folder(folder.path(), false);
    assert_eq!(report.summary.unpackable.len(), 1);
    assert!(report.summary_text().contains("not looked at: link"), "{}", report.summary_text());
}

#[test]
fn the_ten_mistakes_are_found_at_their_words_between_tabs_and_wide_characters() {
    let wanted = found(&lint_text(&whole(TEN)));
    let wide = TEN
        .replace(": ", ":\t ")
        .replace(", ", " ,\t")
        .replace('\n', " \t # \u{6f22}\u{5b57} \u{1f600} e\u{301}\n")
        .replace("secrets:", "? secrets\n  :");
    let wide = format!("# \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\n{wide}");
    for text in [
        whole(&wide),
        whole(&wide).replace('\n', "\r\n"),
        format!("\u{feff}{}", whole(&wide)),
        format!("\u{feff}{}", whole(&wide).replace('\n', "\r\n")),
    ] {
        let report = lint_text(&text);
        assert_eq!(found(&report), wanted);
        let bare = text.trim_start_matches('\u{feff}');
        for problem in &report.problems {
            // Line and column say where the words are, to whoever counts characters.
            let line = bare.lines().nth(problem.span.start().line - 1).unwrap();
            let rest: String = line.chars().skip(problem.span.start().column - 1).collect();
            assert!(rest.starts_with(problem.span.text()), "{problem:?}");
        }
    }
}
