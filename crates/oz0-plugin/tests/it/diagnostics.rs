//! What is said of a manifest that is wrong: every problem, each at its place, with what to do.

use std::fmt::Write as _;

use oz0_diagnostic::report::{Color, concise, pretty};
use oz0_plugin::manifest::decode;
use serde_json::json;

use super::{LEAST, tree};

/// The pretty report on a manifest.
fn report(manifest: &str) -> String {
    pretty(&decode("oz0-plugin.yaml", manifest.as_bytes()).diagnostics, Color::Never)
}

/// The report on the least manifest and something more.
fn report_with(more: &str) -> String {
    report(&format!("{LEAST}{more}"))
}

#[test]
fn the_least_manifest_is_right() {
    assert_eq!(report(LEAST), "");
}

#[test]
fn eleven_mistakes_are_eleven_diagnostics() {
    let manifest = "\
name: GitHub
version: 1.4
kind: connector
descripton: Read and write issues.
license: Apache-2.0
egress: https://api.github.com
tools:
  oz:
    mcp: {command: [python3, server.py]}
  github:
    mcp: {command: python3 server.py}
    conection: github
    approval: sometimes
  tracker:
    url: https://{host}/mcp
    args: [--fast]
policy:
  - {match: githb.create, action: ask}
";
    let decoded = decode("oz0-plugin.yaml", manifest.as_bytes());
    assert!(decoded.manifest.is_none());
    insta::assert_snapshot!(pretty(&decoded.diagnostics, Color::Never));
    assert_eq!(decoded.diagnostics.len(), 11, "{}", concise(&decoded.diagnostics));
}

/// One line for each key of the full manifest in each kind of wrong.
#[test]
fn each_key_misspelt_mistyped_and_missing() {
    let full = tree::full();
    let mut report = String::new();
    for pointer in tree::pointers(&full) {
        let section = tree::section(&full, &pointer);
        let value = section.pointer(&pointer).unwrap();
        let wrong = if value.is_object() || value.is_array() { json!(7) } else { json!([7]) };
        let mut changes = vec![("mistyped", Some(tree::replace(&section, &pointer, wrong)))];
        changes.push((
            "misspelt",
            tree::rename(&section, &pointer, |key| {
                let (at, _) = key.char_indices().nth(key.chars().count() / 2).unwrap();
                format!("{}x{}", &key[..at], &key[at..])
            }),
        ));
        let mut removed = section.clone();
        tree::remove(&mut removed, &pointer);
        changes.push(("missing", Some(removed)));
        writeln!(report, "{pointer}").unwrap();
        for (change, manifest) in changes {
            let Some(manifest) = manifest else { continue };
            let text = serde_json::to_string_pretty(&manifest).unwrap();
            let decoded = decode("oz0-plugin.yaml", text.as_bytes());
            let before = decode("oz0-plugin.yaml", section.to_string().as_bytes());
            let known: Vec<&str> =
                before.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            for diagnostic in &decoded.diagnostics {
                // A section alone misses what it names in others; that is not what is tried here.
                if known.contains(&diagnostic.message.as_str()) {
                    continue;
                }
                let span = diagnostic.span.start();
                let help = diagnostic.help.as_deref().unwrap_or("-");
                writeln!(
                    report,
                    "  {change}: {span} {} {} ({help})",
                    diagnostic.check.code, diagnostic.message
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn names_that_refer_to_nothing() {
    insta::assert_snapshot!(report_with(
        "\
tools:
  github:
    mcp: {command: [python3, server.py]}
    connection: githb
  tracker:
    url: https://{hots}/{path}/mcp
    connection: github
  bare:
    url: https://{host}/mcp
connections:
  github:
    params: {host: {default: api.github.com}}
    scopes: {repo: [gihub.create_issue]}
agents:
  triage:
    instructions: prompts/triage.md
    tools: [githu.list, jira/oz0_jira.find, jria/oz0_jira.search, oz.ask_user, shared.look]
    harness: coder
flows:
  nightly:
    trigger: {event: issue.opened}
    steps:
      - {agent: triag}
      - {call: github.list, with: {a: [$steps.0, $steps.1], b: $steps.x}}
      - {agent: jira/helper}
hooks:
  - {on: before_call, call: oz0_jira.search}
  - {on: before_call, call: jira/oz0_jira.search}
event_sources: {issues: {connection: githubs, webhook: issues}}
channels: {mail: {send: github.send}}
policy:
  - {match: jira.*, action: ask}
uses:
  jira: {tools: [oz0_jira.search, shared.look]}
  other: {tools: [shared.*]}
"
    ));
}

#[test]
fn malformed_names_and_values() {
    insta::assert_snapshot!(report(
        "\
name: -team
version: v1.2
description: ' '
license: 'MIT, or so'
egress: [https://api.github.com/v3, 'api.github.com:443', api_github, a..b]
tools:
  9lives:
    mcp: {command: []}
  a:
    package: mcp-server-git==1.0
  b:
    package: pypi:mcp-server-git@1.0
  c:
    url: http://mcp.example.com/
    headers: {'X Client': oz0, X-Other: ' x'}
  d:
    url: https://user@mcp.example.com/
  e:
    mcp: {command: [a], env: {'A-B': x, C: 8080, D: yes, E: true}}
    requires_approval: ['merge pull request']
    overrides: {create: {ai_label: fields}}
    unstable:
      now: [/inputSchema/properties/default, /description, /inputSchema/properties/at/enum]
agents:
  x: {instructions: ../x.md}
  y: {instructions: /etc/passwd}
  z: {instructions: ./prompts/z.md, model: {use: default, primary: openai/gpt-5.5}}
flows:
  f: {trigger: {schedule: '0 25 * * *'}, steps: [{call: a.b}]}
uses:
  github: {version: '>=1.1 <2'}
  jira: {version: newest}
"
    ));
}

#[test]
fn the_platforms_own_id_is_reserved() {
    insta::assert_snapshot!(report_with(
        "tools: {oz: {mcp: {command: [a]}}, OZ: {mcp: {command: [a]}}}\nharnesses: {oz: {command: [a]}}\n"
    ));
}

#[test]
fn where_a_servers_place_is_not_one_of_three() {
    insta::assert_snapshot!(report_with(
        "\
tools:
  none:
    approval: always
  two:
    mcp: {command: [a]}
    url: https://mcp.example.com/
  args:
    mcp: {command: [a]}
    args: [b]
  headers:
    package: pypi:a==1
    headers: {A: b}
"
    ));
}

#[test]
fn yaml_problems_have_their_places_and_hide_no_others() {
    insta::assert_snapshot!(report(
        "name: team\nname: other\nversion: 1.0.0\ndescription: d\nlicense: MIT\ntols: {}\ntools:\n\tteam: {}\n"
    ));
}

#[test]
fn what_was_not_read_is_not_missing() {
    let decoded = decode("oz0-plugin.yaml", b"name: team\ntools: [\n");
    assert!(!decoded.diagnostics.is_empty());
    let text = concise(&decoded.diagnostics);
    assert!(!text.contains("lacks"), "{text}");
}

#[test]
fn files_that_are_no_manifest() {
    let mut said = String::new();
    for bytes in
        [&b""[..], b"# nothing\n", b"- a\n", b"text", b"name: \xff\n", b"\xff\xfen\0", b"null"]
    {
        writeln!(said, "{}", concise(&decode("oz0-plugin.yaml", bytes).diagnostics).trim_end())
            .unwrap();
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_long_key_does_not_become_a_long_message_again_and_again() {
    let key = "k".repeat(1000);
    let manifest = format!("{LEAST}{key}: {{}}\ntools: {{{key}: {{a: 1, b: 2, c: 3}}}}\n");
    let decoded = decode("oz0-plugin.yaml", manifest.as_bytes());
    assert!(decoded.diagnostics.len() >= 5);
    for diagnostic in &decoded.diagnostics {
        assert!(diagnostic.message.len() < 300, "{}", diagnostic.message.len());
    }
}

#[test]
fn a_mistake_inside_a_part_does_not_make_its_name_dangle() {
    let manifest = format!(
        "{LEAST}tools: {{t: {{mcp: {{command: [a]}}, connection: c}}}}\nconnections: {{c: {{prefx: A}}}}\n"
    );
    let decoded = decode("oz0-plugin.yaml", manifest.as_bytes());
    assert_eq!(decoded.diagnostics.len(), 1, "{}", concise(&decoded.diagnostics));
}

#[test]
fn bom_and_crlf_are_no_problem() {
    let manifest = format!("\u{FEFF}{LEAST}").replace('\n', "\r\n");
    let decoded = decode("oz0-plugin.yaml", manifest.as_bytes());
    assert!(decoded.manifest.is_some(), "{}", concise(&decoded.diagnostics));
}

#[test]
fn a_megabyte_of_mistakes_is_told_in_a_thousand_and_a_count() {
    let mut manifest = LEAST.to_owned();
    manifest.push_str("agents:\n  a:\n    tools:\n");
    for index in 0..20_000 {
        writeln!(manifest, "      - t{index}.f").unwrap();
    }
    manifest.push_str("uses:\n");
    for index in 0..20_000 {
        writeln!(manifest, "  u{index}: {{tools: [s{index}.f]}}").unwrap();
    }
    let start = std::time::Instant::now();
    let decoded = decode("oz0-plugin.yaml", manifest.as_bytes());
    let elapsed = start.elapsed();
    assert_eq!(decoded.diagnostics.len(), 1001);
    assert_eq!(decoded.diagnostics[1000].message, "19000 more problems are not shown");
    assert!(elapsed.as_secs() < 30, "{elapsed:?}");
}
