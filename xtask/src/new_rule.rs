//! `cargo xtask new-rule S023 bad-thing`: the two files of a new rule, its line in the registry and its test.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// Where the rules are.
const RULES: &str = "crates/oz0-lint/src/rules";
/// The test that holds every page.
const PAGES: &str = "crates/oz0-lint/tests/it/pages.rs";

#[derive(Args)]
pub(crate) struct Options {
    /// The rule's code: S023
    code: String,
    /// The bad thing, in words joined by `-`: unsigned-webhook
    name: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let made = make(oz0_peers::workspace(), &options.code, &options.name)?;
    for path in made {
        println!("{path}");
    }
    println!("write the page first: its examples are the rule's tests");
    Ok(())
}

/// Makes the files and the lines; the paths of what was made or changed.
fn make(root: &Path, code: &str, name: &str) -> Result<Vec<String>> {
    let code = code.to_ascii_uppercase();
    let code = code.strip_prefix("OZ-").unwrap_or(&code);
    let digits = code.strip_prefix('S').unwrap_or_default();
    ensure!(
        digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()),
        "{code} is no rule's code\nhint: write S and three digits"
    );
    ensure!(
        !name.is_empty()
            && name.split('-').all(|word| {
                !word.is_empty()
                    && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            }),
        "{name} is no rule's name\nhint: write the bad thing in words joined by `-`"
    );
    let module = format!("{}_{}", code.to_lowercase(), name.replace('-', "_"));
    let registry = format!("{RULES}/mod.rs");
    let text =
        fs::read_to_string(root.join(&registry)).with_context(|| format!("reading {registry}"))?;
    if text.contains(&format!("mod {}_", code.to_lowercase())) {
        bail!("there is a rule OZ-{code} already");
    }
    let text = insert(&text, "mod s", &format!("mod {module};"))
        .and_then(|text| insert(&text, "    &s", &format!("    &{module}::RULE,")))
        .with_context(|| format!("{registry} has no list of rules"))?;
    let pages = fs::read_to_string(root.join(PAGES)).with_context(|| format!("reading {PAGES}"))?;
    let line = format!("    the_page_of_{}_holds: \"OZ-{code}\",", code.to_lowercase());
    let pages = insert(&pages, "    the_page_of_s", &line)
        .with_context(|| format!("{PAGES} has no list of rules"))?;
    let files = [
        (format!("{RULES}/{module}.rs"), source(&module, code, name)),
        (format!("{RULES}/{module}.md"), page(code)),
        (registry, text),
        (PAGES.to_owned(), pages),
    ];
    for (path, text) in &files {
        fs::write(root.join(path), text).with_context(|| format!("writing {path}"))?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Puts a line among those that begin with `start`, in their order.
fn insert(text: &str, start: &str, line: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let of_list = |at: &usize| {
        lines[*at]
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let listed: Vec<usize> = (0..lines.len()).filter(of_list).collect();
    let at = listed
        .iter()
        .find(|at| lines[**at] > line)
        .copied()
        .or_else(|| listed.last().map(|at| at + 1))?;
    let mut lines = lines;
    lines.insert(at, line);
    Some(lines.join("\n") + "\n")
}

fn source(module: &str, code: &str, name: &str) -> String {
    format!(
        r#"//! The page of this rule, `{module}.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;

use crate::metadata::{{Metadata, Plain, RunsOn}};
use crate::rules::Rule;
use crate::sink::{{Finding, Sink}};
use crate::view::View;

const METADATA: Metadata = Metadata {{
    code: "OZ-{code}",
    name: "{name}",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("{module}.md"),
}};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {{
    for tool in view.manifest().tools.keys() {{
        let message = format!("the tool `{{}}` is not looked at yet", tool.value);
        sink.push(Finding::at(&tool.span, message).help("write the rule"));
    }}
}}
"#
    )
}

fn page(code: &str) -> String {
    format!(
        "# OZ-{code}: The bad thing in a clause\n\n## What it finds\n\n## Why\n\n## Fix\n\n## Examples\n\n\
         ### The bad thing\n\n```yaml bad\nkind: connector\n```\n\n\
         ### Something fine, and then the bad thing\n\n```yaml second\nkind: connector\n```\n\n\
         ### What it must not find\n\n```yaml good\nkind: connector\n```\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in [format!("{RULES}/mod.rs"), PAGES.to_owned()] {
            let to = folder.path().join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(oz0_peers::workspace().join(&path), to).unwrap();
        }
        folder
    }

    #[test]
    fn a_new_rule_has_its_files_and_its_lines_in_order() {
        let folder = checkout();
        let made = make(folder.path(), "S023", "unsigned-webhook").unwrap();
        assert_eq!(made.len(), 4);
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        let registry = read(&format!("{RULES}/mod.rs"));
        assert!(
            registry.contains("mod s022_content_host;\nmod s023_unsigned_webhook;\n"),
            "{registry}"
        );
        assert!(
            registry
                .contains("    &s022_content_host::RULE,\n    &s023_unsigned_webhook::RULE,\n];"),
            "{registry}"
        );
        let pages = read(PAGES);
        let line =
            "    the_page_of_s022_holds: \"OZ-S022\",\n    the_page_of_s023_holds: \"OZ-S023\",\n";
        assert!(pages.contains(line), "{pages}");
        assert!(read(&format!("{RULES}/s023_unsigned_webhook.rs")).contains("code: \"OZ-S023\""));
        assert!(read(&format!("{RULES}/s023_unsigned_webhook.md")).starts_with("# OZ-S023: "));
    }

    #[test]
    fn a_code_between_two_others_stands_between_them() {
        let folder = checkout();
        for path in [format!("{RULES}/mod.rs"), PAGES.to_owned()] {
            let path = folder.path().join(path);
            let text = fs::read_to_string(&path).unwrap();
            let without = |line: &&str| !line.contains("s012");
            let lines: Vec<&str> = text.lines().filter(without).collect();
            fs::write(path, lines.join("\n") + "\n").unwrap();
        }
        make(folder.path(), "oz-s012", "litellm").unwrap();
        let registry = fs::read_to_string(folder.path().join(RULES).join("mod.rs")).unwrap();
        assert!(
            registry.contains("mod s011_untested_connector;\nmod s012_litellm;\nmod s013_"),
            "{registry}"
        );
    }

    #[test]
    fn a_code_that_is_there_and_a_malformed_one_are_refused() {
        let folder = checkout();
        for (code, name) in
            [("S001", "x"), ("S1", "x"), ("L010", "x"), ("S023", "Bad Thing"), ("S023", "")]
        {
            assert!(make(folder.path(), code, name).is_err(), "{code} {name}");
        }
    }
}
