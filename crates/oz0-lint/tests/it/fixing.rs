//! Safe fixes: clean afterwards, the same the second time, and nothing else touched.

use oz0_lint::{Fixed, Request, diff, fixes, mend};
use proptest::prelude::*;

use crate::plugins::{folder, lint_folder, whole};

/// What both fixes are about, with comments, quotes and an order that is the author's.
const MANIFEST: &str = "\
# The manifest of a capability.
kind: capability   # it is one
agents:
  # Sorts
  triage:
    tools:   # bare names
      - oz0_github.comment   # writes
      - \"oz0_github.read\"
      - 'oz0_github.close'
  big: {tools: [t.a1, t.a2, t.a3, t.a4, t.a5, t.a6, t.a7, t.a8, t.a9, t.b1, t.b2, t.b3, t.b4, t.b5, t.b6, t.b7,
    t.b8, t.b9, t.c1, t.c2, t.c3, t.c4, t.c5, t.c6, t.c7, t.c8, t.c9, t.d1, t.d2, t.d3, oz.ask_user]}   # many
tools:
  t: {mcp: {command: [x]}}
uses:
  github:
    version: '>=1.1, <2'
    tools: [oz0_github.comment, oz0_github.read, oz0_github.close]
";

fn fix(text: &str) -> (String, usize) {
    let folder = folder(&[("oz0-plugin.yaml", text)]);
    let report = lint_folder(folder.path(), false);
    let fixed: Vec<Fixed> = fixes(&report.problems);
    match fixed.as_slice() {
        [] => (text.to_owned(), 0),
        [file] => (file.text.clone(), file.fixes),
        more => panic!("{} files", more.len()),
    }
}

#[test]
fn a_fix_keeps_the_files_mode_and_what_somebody_else_wrote_meanwhile() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("oz0-plugin.yaml");
    std::fs::write(&file, "name: a\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    oz0_plugin::replace_atomically(&file, b"name: a\n", b"name: b\n").unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "name: b\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    for before in ["name: a\n", "name: b", "name: b\n\n"] {
        let kept = oz0_plugin::replace_atomically(&file, before.as_bytes(), b"name: c\n");
        assert!(matches!(kept, Err(oz0_plugin::LoadError::Changed { .. })), "{kept:?}");
    }
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(oz0_plugin::replace_atomically(&link, b"name: b\n", b"name: c\n").is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "name: b\n");
}

#[test]
fn a_fix_lints_clean_and_changes_nothing_the_second_time() {
    let (once, count) = fix(&whole(MANIFEST));
    assert_eq!(count, 4);
    let folder = folder(&[("oz0-plugin.yaml", &once)]);
    let report = lint_folder(folder.path(), false);
    assert_eq!(report.summary.fixable, 0);
    let codes: Vec<&str> = report.problems.iter().map(|problem| problem.check.code).collect();
    assert!(!codes.contains(&"OZ-S009") && !codes.contains(&"OZ-S019"), "{codes:?}");
    assert!(codes.iter().all(|code| !code.starts_with("OZ-L")), "{codes:?}");
    assert_eq!(fix(&once), (once.clone(), 0));
}

#[test]
fn a_fix_keeps_comments_order_quotes_and_line_ends() {
    let plain = fix(&whole(MANIFEST)).0;
    insta::assert_snapshot!(plain);
    for (text, back) in [
        (whole(MANIFEST).replace('\n', "\r\n"), "\r\n"),
        (format!("\u{feff}{}", whole(MANIFEST)), "\n"),
    ] {
        let fixed = fix(&text).0;
        assert_eq!(fixed.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        assert_eq!(fixed.trim_start_matches('\u{feff}').replace(back, "\n"), plain);
        assert!(
            back == "\n" || !fixed.replace("\r\n", "").contains('\n'),
            "every line end is as it was"
        );
    }
}

#[test]
fn a_diff_shows_what_a_fix_changes_and_nothing_else() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(MANIFEST))]);
    let report = lint_folder(folder.path(), false);
    insta::assert_snapshot!(diff(&fixes(&report.problems)));
}

#[test]
fn an_alias_is_told_and_left_to_its_author() {
    let text = whole(
        "kind: capability\nagents:\n  a: {tools: [&it oz0_github.comment]}\n  b: {tools: [*it]}\nuses:\n  github: {tools: [oz0_github.comment]}\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &text)]);
    let report = lint_folder(folder.path(), false);
    let fixable: Vec<bool> = report
        .problems
        .iter()
        .filter(|problem| problem.check.code == "OZ-S019")
        .map(|problem| problem.fix.is_some())
        .collect();
    assert_eq!(fixable, [true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever stands around them, the fixes give a manifest that means the same but for what they are about.
    #[test]
    fn a_fix_is_idempotent_and_keeps_every_comment(
        comments in proptest::collection::vec("[ -~]{0,20}", 1..6), crlf in any::<bool>(), quoted in any::<bool>(),
    ) {
        let quote = if quoted { "\"" } else { "" };
        let mut lines: Vec<String> = comments.iter().map(|comment| format!("# {comment}")).collect();
        lines.push("agents:\n  a:\n    tools:".to_owned());
        lines.push(format!("      - {quote}oz0_github.comment{quote}  # {}", comments[0]));
        lines.push("uses:\n  github: {tools: [oz0_github.comment]}\n".to_owned());
        let text = lines.join("\n");
        let mut text = whole(&text);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let (once, count) = fix(&text);
        prop_assert_eq!(count, 1);
        let wanted = text.replacen("oz0_github.comment", "github/oz0_github.comment", 1);
        prop_assert_eq!(&once, &wanted);
        prop_assert_eq!(fix(&once).1, 0);
    }
}

#[test]
fn fixes_are_made_round_by_round_until_none_is_left() {
    let functions: Vec<String> = (0..31).map(|number| format!("t.f{number}")).collect();
    let agents: String = (0..40)
        .flat_map(|agent| {
            [format!("  a{agent}:\n"), format!("    tools: [{}]\n", functions.join(", "))]
        })
        .collect();
    let text = format!("tools:\n  t: {{mcp: {{command: [x]}}}}\nagents:\n{agents}");
    let folder = folder(&[("oz0-plugin.yaml", &whole(&text))]);
    let (report, made) = mend(folder.path(), &Request::default()).unwrap();
    assert_eq!((made, report.summary.fixable), (40, 0));
    let mended = std::fs::read_to_string(folder.path().join("oz0-plugin.yaml")).unwrap();
    assert_eq!(mended.matches("    tool_loading: lazy\n").count(), 40);
    assert_eq!(mended.replace("    tool_loading: lazy\n", ""), whole(&text));
}

#[test]
fn an_evals_bare_name_is_mended_in_its_own_file_and_the_manifests_in_its() {
    let manifest = whole(
        "kind: capability\nagents:\n  a: {tools: [u.f]}\nuses:\n  o: {tools: [u.f], agents: [reviewer]}\n",
    );
    let eval = "# What it must do.\r\nagent: 'reviewer'   # of another plugin\r\ncases:\r\n  - {name: c, input: {}, expect: {}}\r\n";
    let folder = folder(&[("oz0-plugin.yaml", &manifest), ("evals/review.yaml", eval)]);
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    let shown = diff(&fixes(&lint_folder(folder.path(), false).problems));
    assert!(
        shown.contains("--- a/evals/review.yaml\n") && shown.contains("--- a/oz0-plugin.yaml\n")
    );
    let (report, made) = mend(folder.path(), &Request::default()).unwrap();
    assert_eq!((made, report.summary.fixable), (2, 0));
    assert_eq!(read("evals/review.yaml"), eval.replace("'reviewer'", "'o/reviewer'"));
    assert_eq!(read("oz0-plugin.yaml"), manifest.replacen("[u.f]", "[o/u.f]", 1));
    assert_eq!(mend(folder.path(), &Request::default()).unwrap().1, 0);
}

#[test]
fn what_fixes_change_does_not_reach_the_compiled_manifest() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(MANIFEST))]);
    let compiled = || oz0_lint::Plugin::load(folder.path()).unwrap().compiled_manifest().unwrap();
    let before = compiled();
    let request = Request { rules: ["OZ-S019".to_owned()].into(), ..Request::default() };
    assert_eq!(mend(folder.path(), &request).unwrap().1, 3);
    assert_eq!(compiled(), before, "older nodes read the bare names");
}

#[test]
fn an_alias_that_would_take_the_address_elsewhere_leaves_the_fix_to_the_author() {
    for text in [
        "kind: capability\nagents:\n  a: {tools: [&it u.f]}\nuses:\n  o: {tools: [*it]}\n",
        "kind: capability\nagents:\n  a: {tools: &all [u.f]}\nuses:\n  o: {tools: *all}\n",
        "kind: capability\nuses:\n  o: {tools: &all [u.f]}\nagents:\n  a: {tools: *all}\n",
    ] {
        let (fixed, made) = fix(&whole(text));
        assert_eq!((fixed, made), (whole(text), 0));
    }
    // In an eval a name may be anything else as well.
    let manifest = whole("uses:\n  o: {agents: [reviewer]}\n");
    let eval = "agent: &it reviewer\ncases: [{name: *it, input: {}, expect: {}}]\n";
    let folder = folder(&[("oz0-plugin.yaml", &manifest), ("evals/e.yaml", eval)]);
    let report = lint_folder(folder.path(), false);
    let found: Vec<_> =
        report.problems.iter().filter(|problem| problem.check.code == "OZ-S019").collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].fix.is_none());
}

#[test]
fn a_list_that_two_agents_share_by_an_alias_is_mended_once() {
    let text = whole(
        "kind: capability\nagents:\n  a: {tools: &all [u.f]}\n  b: {tools: *all}\nuses:\n  o: {tools: [u.f]}\n",
    );
    let (fixed, made) = fix(&text);
    assert_eq!((fixed, made), (text.replacen("&all [u.f]", "&all [o/u.f]", 1), 1));
}
