//! Every rule's page: its form, and its examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use oz0_lint::{Example, Expected, FileKind, Mark, Page, Rule, SECTIONS, fixes, rules};
use tempfile::TempDir;

use crate::plugins::{folder, lint_folder, whole, write, write_listing, write_snapshot};

fn page(rule: &Rule) -> Page {
    Page::read(rule.metadata.page).unwrap_or_else(|error| panic!("{}: {error}", rule.metadata.code))
}

/// Writes a case's files: the measured listing last, since it is measured from the others.
fn build(example: &Example) -> TempDir {
    let folder = folder(&[]);
    let root = folder.path();
    for file in &example.files {
        match &file.kind {
            FileKind::Manifest => write(root, "oz0-plugin.yaml", &whole(&file.text)),
            FileKind::Path(path) => write(root, path, &file.text),
            FileKind::Snapshot(tool) => write_snapshot(root, tool, &file.text, None),
            FileKind::Listing { .. } => {}
        }
    }
    for file in &example.files {
        if let FileKind::Listing { stale } = &file.kind {
            write_listing(root, &file.text, *stale);
        }
    }
    folder
}

/// What a case's comments expect of a rule: file, line, words.
fn expected(example: &Example, code: &str) -> Vec<(String, usize, String)> {
    let mut wanted = Vec::new();
    for file in &example.files {
        let path = match &file.kind {
            FileKind::Manifest => "oz0-plugin.yaml",
            FileKind::Path(path) => path,
            // JSON has no comments: what is wrong with a listing is the case's one finding.
            FileKind::Listing { stale: true } if code == "OZ-S014" => {
                wanted.push(("tools.listing.json".to_owned(), 0, "other files".to_owned()));
                continue;
            }
            FileKind::Listing { .. } | FileKind::Snapshot(_) => continue,
        };
        for finding in Expected::of(&file.text) {
            assert_eq!(finding.code, code, "a page expects its own rule's findings");
            wanted.push((path.to_owned(), finding.line, finding.says));
        }
    }
    wanted
}

fn check(rule: &Rule, example: &Example) {
    let code = rule.metadata.code;
    let at = format!("{code}, {:?}", example.heading);
    let folder = build(example);
    let report = lint_folder(folder.path(), example.verified);
    let mut wanted = expected(example, code);
    match example.mark {
        Mark::Good => assert_eq!(wanted, [], "{at}: a good case expects nothing"),
        Mark::Bad | Mark::Second => {
            assert!(!wanted.is_empty(), "{at}: a bad case expects something");
        }
    }
    for problem in &report.problems {
        assert!(
            problem.check.code.starts_with("OZ-S"),
            "{at}: the loader says {:?}: {}",
            problem.span,
            problem.message
        );
        if problem.check.code != code {
            continue;
        }
        let (file, line) = (problem.span.file().path(), problem.span.start().line);
        let found = wanted.iter().position(|(path, wanted_line, says)| {
            path == file
                && (*wanted_line == line || *wanted_line == 0)
                && problem.message.contains(says)
        });
        match found {
            Some(index) => drop(wanted.remove(index)),
            None => panic!("{at}: nothing expects {:?}: {}", problem.span, problem.message),
        }
    }
    assert_eq!(wanted, [], "{at}: not found");
    check_fix(&at, code, example, folder.path());
}

/// The fix gives what the page shows, lints clean, and changes nothing the second time.
fn check_fix(at: &str, code: &str, example: &Example, root: &Path) {
    let Some(fixed) = &example.fixed else { return };
    let report = lint_folder(root, example.verified);
    let own: Vec<_> =
        report.problems.into_iter().filter(|problem| problem.check.code == code).collect();
    for problem in &own {
        assert!(problem.fix.is_some(), "{at}: no fix of: {}", problem.message);
    }
    for file in fixes(&own) {
        write(root, file.source.path(), &file.text);
    }
    let manifest = fs::read_to_string(root.join("oz0-plugin.yaml")).unwrap();
    assert_eq!(manifest, whole(fixed), "{at}");
    let again = lint_folder(root, example.verified);
    let left: Vec<_> = again.problems.iter().filter(|problem| problem.check.code == code).collect();
    assert!(left.is_empty(), "{at}: after its fix: {left:?}");
    assert!(fixes(&again.problems).iter().all(|file| file.text == *file.source.text()), "{at}");
}

/// One test a rule, so a run says which rule's page does not hold.
macro_rules! pages {
    ($($test:ident: $code:literal,)+) => {
        $(
            #[test]
            fn $test() {
                let rule = oz0_lint::find($code).unwrap();
                for example in &page(rule).examples {
                    check(rule, example);
                }
            }
        )+

        #[test]
        fn every_rules_page_has_its_test() {
            let tested = [$($code),+];
            let codes: Vec<&str> = rules().iter().map(|rule| rule.metadata.code).collect();
            assert_eq!(codes, tested);
        }
    };
}

pages! {
    the_page_of_s001_holds: "OZ-S001",
    the_page_of_s002_holds: "OZ-S002",
    the_page_of_s003_holds: "OZ-S003",
    the_page_of_s004_holds: "OZ-S004",
    the_page_of_s005_holds: "OZ-S005",
    the_page_of_s006_holds: "OZ-S006",
    the_page_of_s007_holds: "OZ-S007",
    the_page_of_s008_holds: "OZ-S008",
    the_page_of_s009_holds: "OZ-S009",
    the_page_of_s010_holds: "OZ-S010",
    the_page_of_s011_holds: "OZ-S011",
    the_page_of_s013_holds: "OZ-S013",
    the_page_of_s014_holds: "OZ-S014",
    the_page_of_s015_holds: "OZ-S015",
    the_page_of_s016_holds: "OZ-S016",
    the_page_of_s017_holds: "OZ-S017",
    the_page_of_s018_holds: "OZ-S018",
    the_page_of_s019_holds: "OZ-S019",
    the_page_of_s020_holds: "OZ-S020",
    the_page_of_s021_holds: "OZ-S021",
    the_page_of_s022_holds: "OZ-S022",
}

fn rules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules")
}

#[test]
fn each_file_of_the_folder_is_a_rule_of_the_registry_with_its_page() {
    let name = |code: &str, name: &str| {
        format!("{}_{}", code.trim_start_matches("OZ-").to_lowercase(), name.replace('-', "_"))
    };
    let registered: BTreeSet<String> =
        rules().iter().map(|rule| name(rule.metadata.code, rule.metadata.name)).collect();
    for extension in ["rs", "md"] {
        let found: BTreeSet<String> = fs::read_dir(rules_folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .filter(|stem| stem != "mod")
            .collect();
        assert_eq!(found, registered, "*.{extension}");
    }
}

#[test]
fn codes_are_in_order_without_gaps_but_for_the_one_that_is_kept() {
    let codes: Vec<&str> = rules().iter().map(|rule| rule.metadata.code).collect();
    let wanted: Vec<String> =
        (1..=22).filter(|number| *number != 12).map(|number| format!("OZ-S{number:03}")).collect();
    assert_eq!(codes, wanted);
    let names: BTreeSet<&str> = rules().iter().map(|rule| rule.metadata.name).collect();
    assert_eq!(names.len(), codes.len(), "names are unique");
}

#[test]
fn each_page_has_its_headings_and_a_bad_a_good_and_a_second_is_bad_case() {
    for rule in rules() {
        let code = rule.metadata.code;
        let first = rule.metadata.page.lines().next().unwrap();
        assert!(first.starts_with(&format!("# {code}: ")), "{first}");
        let page = page(rule);
        let headings: Vec<&str> = page.sections.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(headings, SECTIONS, "{code}");
        assert!(page.sections.iter().all(|(_, text)| !text.trim().is_empty()), "{code}");
        for mark in [Mark::Bad, Mark::Good, Mark::Second] {
            assert!(
                page.examples.iter().any(|case| case.mark == mark),
                "{code} has no {mark:?} case"
            );
        }
        let fixed = page.examples.iter().any(|case| case.fixed.is_some());
        assert_eq!(fixed, rule.metadata.fixable, "{code} shows its fix");
    }
}
