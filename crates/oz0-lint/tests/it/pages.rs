//! Every page, a rule's or that of a code of the loader's: its form, and its examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use oz0_lint::{
    Example, Expected, Explained, FileKind, Mark, Page, Place, SECTIONS, find, fixes,
    loader_checks, rules,
};

use crate::plugins::{build, lint_folder, whole, write};

/// The page of a code, as it is written.
fn source(code: &str) -> &'static str {
    match Explained::find(code).unwrap() {
        Explained::Rule(rule) => rule.metadata.page,
        Explained::Loader(found) => found.page,
        _ => panic!("{code} has another kind of page"),
    }
}

fn page(code: &str) -> Page {
    Page::read(source(code)).unwrap_or_else(|error| panic!("{code}: {error}"))
}

/// What a case's comments expect of a rule: file, line, words.
fn expected(example: &Example, code: &str) -> Vec<(String, usize, String)> {
    let mut wanted = Vec::new();
    for file in &example.files {
        let path = match &file.kind {
            FileKind::Manifest => "oz0-plugin.yaml",
            FileKind::Path(path) => path,
            // JSON has no comments: what is wrong with a listing is the case's one finding.
            FileKind::Listing { stale: true }
                if code == "OZ-S014" && example.mark != Mark::Good =>
            {
                wanted.push(("tools.listing.json".to_owned(), 0, "other files".to_owned()));
                continue;
            }
            FileKind::Listing { .. } | FileKind::Snapshot(_) => continue,
        };
        for place in &file.finds {
            let (path, line) = match place {
                Place::Line(line) => (path, *line),
                Place::Path(path) => (path.as_str(), 0),
            };
            wanted.push((path.to_owned(), line, String::new()));
        }
        for finding in Expected::of(&file.text) {
            assert_eq!(finding.code, code, "a page expects its own rule's findings");
            wanted.push((path.to_owned(), finding.line, finding.says));
        }
    }
    wanted
}

fn check(code: &str, example: &Example) {
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
            problem.check.code.starts_with("OZ-S") || problem.check.code == code,
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
                for example in &page($code).examples {
                    check($code, example);
                }
            }
        )+

        #[test]
        fn every_page_has_its_test() {
            let tested = [$($code),+];
            let codes: Vec<&str> = Explained::all().map(Explained::code).collect();
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
    the_page_of_s012_holds: "OZ-S012",
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
    the_page_of_l001_holds: "OZ-L001",
    the_page_of_l002_holds: "OZ-L002",
    the_page_of_l003_holds: "OZ-L003",
    the_page_of_l010_holds: "OZ-L010",
    the_page_of_l011_holds: "OZ-L011",
    the_page_of_l020_holds: "OZ-L020",
    the_page_of_l021_holds: "OZ-L021",
}

/// The stems of the files in a folder of the sources, of one ending.
fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|stem| stem != "mod")
        .collect()
}

fn stem(code: &str, name: &str) -> String {
    format!("{}_{}", code.trim_start_matches("OZ-").to_lowercase(), name.replace('-', "_"))
}

#[test]
fn each_file_of_the_folder_is_a_rule_of_the_registry_with_its_page() {
    let registered: BTreeSet<String> =
        rules().iter().map(|rule| stem(rule.metadata.code, rule.metadata.name)).collect();
    for extension in ["rs", "md"] {
        assert_eq!(stems("rules", extension), registered, "*.{extension}");
    }
}

#[test]
fn each_code_of_the_loader_has_its_page() {
    let registered: BTreeSet<String> =
        loader_checks().iter().map(|found| stem(found.check.code, found.check.name)).collect();
    assert_eq!(stems("loader", "md"), registered);
    // The loader's checks stand in one file, and none of them is missing here.
    let checks = include_str!("../../../oz0-plugin/src/check.rs");
    let codes: Vec<&str> =
        checks.split("code: \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(codes, loader_checks().iter().map(|found| found.check.code).collect::<Vec<_>>());
}

#[test]
fn a_code_is_found_in_any_form_and_by_its_name_and_the_nearest_one_of_both_kinds() {
    for text in ["OZ-L011", "oz-l011", "l011", "not-the-licence"] {
        assert_eq!(Explained::find(text).map(Explained::code), Some("OZ-L011"), "{text}");
    }
    assert_eq!(Explained::find("s005").map(Explained::name), Some("wildcard-egress"));
    assert!(find("OZ-L011").is_none(), "it is no rule");
    for (asked, near) in [
        ("OZ-L0001", "OZ-L001"),
        ("oz-l0111", "OZ-L011"),
        ("not-the-license", "not-the-licence"),
        ("OZ-S0055", "OZ-S005"),
        ("wildcard-egres", "wildcard-egress"),
    ] {
        assert!(Explained::find(asked).is_none(), "{asked}");
        assert_eq!(Explained::nearest(asked), Some(near), "{asked}");
    }
    assert_eq!(Explained::nearest("something else"), None);
    let json = Explained::find("OZ-L001").unwrap().to_json();
    assert_eq!((&json["plain"], &json["fixable"]), (&"error".into(), &false.into()));
    assert_eq!(json["url"], "https://oz0.ai/docs/reference/rules/OZ-L001/");
    assert!(json["page"].as_str().unwrap().starts_with("# OZ-L001: "));
}

#[test]
fn codes_are_in_order_without_gaps() {
    let codes: Vec<&str> = rules().iter().map(|rule| rule.metadata.code).collect();
    let wanted: Vec<String> = (1..=22).map(|number| format!("OZ-S{number:03}")).collect();
    assert_eq!(codes, wanted);
    let names: BTreeSet<&str> = rules().iter().map(|rule| rule.metadata.name).collect();
    assert_eq!(names.len(), codes.len(), "names are unique");
}

#[test]
fn each_page_has_its_headings_and_a_bad_a_good_and_a_second_is_bad_case() {
    for explained in Explained::all() {
        let code = explained.code();
        let first = source(code).lines().next().unwrap();
        assert!(first.starts_with(&format!("# {code}: ")), "{first}");
        let page = page(code);
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
        let fixable = find(code).is_some_and(|rule| rule.metadata.fixable);
        assert_eq!(fixed, fixable, "{code} shows its fix");
    }
}

/// The lines of a page, each with whether it stands in a fence.
fn lines(page: &str) -> Vec<(bool, &str)> {
    let mut inside = false;
    let lines = page.lines().map(|line| {
        let is_fence = line.starts_with("```");
        inside ^= is_fence;
        (inside && !is_fence, line)
    });
    lines.collect()
}

#[test]
fn a_page_as_it_is_read_says_of_each_example_what_it_shows() {
    for explained in Explained::all() {
        let (code, written, read) = (explained.code(), source(explained.code()), explained.page());
        let marks = |word: &str| {
            let is = |line: &&str| {
                line.strip_prefix("```")
                    .is_some_and(|it| it.split(' ').skip(1).any(|it| it == word))
            };
            written.lines().filter(is).count()
        };
        let labels = |mark: &str| read.lines().filter(|line| line.starts_with(mark)).count();
        for (word, mark) in [
            ("bad", "**Bad**"),
            ("good", "**Good**"),
            ("second", "**Good first, then bad**"),
            ("fixed", "**Fixed** by `oz0 plugin lint --fix`:"),
        ] {
            assert_eq!(labels(mark), marks(word), "{code}: {mark}");
        }
        let (_, examples) = read.split_once("## Examples").unwrap();
        let all = lines(examples);
        for (at, (_, line)) in all.iter().enumerate() {
            let opens = line.starts_with("```") && all.get(at + 1).is_some_and(|next| next.0);
            if opens {
                assert!(!line.contains(' '), "{code}: a fence says its language alone: {line}");
                assert!(all[at - 2].1.ends_with(':'), "{code}: nothing stands above {line}");
                let label = all[at - 2].1;
                let end = all[at + 1..].iter().position(|(inside, _)| !inside).unwrap();
                let text: String =
                    all[at + 1..at + 1 + end].iter().flat_map(|(_, line)| [*line, "\n"]).collect();
                let found = Expected::of(&text);
                if label.starts_with("**Fixed**") || label.starts_with("**Good**") {
                    assert_eq!(found, [], "{code}: {label}");
                }
            }
        }
    }
}

#[test]
fn what_a_fix_makes_keeps_the_comments_that_are_about_something_else() {
    let read = Explained::find("OZ-S019").unwrap().page();
    assert!(read.contains("- github/oz0_github.get_pull_request   # the diff\n"), "{read}");
    assert!(read.contains("- \"github/oz0_github.comment\"\n"), "{read}");
    assert!(read.contains("- \"oz0_github.comment\" # OZ-S019: `oz0_github.comment`\n"), "{read}");
}
