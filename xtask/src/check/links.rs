//! Relative links of the Markdown files lead to a file, and their anchors to a heading of it.
//!
//! Absolute URLs are not asked: a check must not depend on somebody's server. Code is skipped, inline and fenced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

/// Every dead link, as `path:line: what`.
pub(crate) fn problems(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("reading {}", file.display()))?;
        pages.insert(file.clone(), Page::read(&text));
    }
    let mut problems = Vec::new();
    for (file, page) in &pages {
        for (line, target) in &page.links {
            if let Some(what) = dead(root, file, target, &pages) {
                problems.push(format!("{}:{line}: {target}: {what}", file.display()));
            }
        }
    }
    Ok(problems)
}

fn dead(
    root: &Path,
    file: &Path,
    target: &str,
    pages: &BTreeMap<PathBuf, Page>,
) -> Option<&'static str> {
    if target.starts_with("//") || has_scheme(target) {
        return None;
    }
    let (path, anchor) =
        target.split_once('#').map_or((target, None), |(path, at)| (path, Some(at)));
    let to = if path.is_empty() {
        file.to_owned()
    } else {
        let Some(to) = join(file, path) else { return Some("leads out of the repository") };
        if !root.join(&to).exists() {
            return Some("no such file");
        }
        to
    };
    let anchor = anchor?;
    match pages.get(&to) {
        Some(page) if !page.anchors.contains(anchor) => Some("no such heading"),
        _ => None,
    }
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// A link's path from the file it stands in, without `.` and `..`; none when it leads above the root.
fn join(file: &Path, path: &str) -> Option<PathBuf> {
    let mut to = match path.strip_prefix('/') {
        Some(_) => PathBuf::new(),
        None => file.parent()?.to_owned(),
    };
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::ParentDir if !to.pop() => return None,
            Component::Normal(name) => to.push(name),
            _ => {}
        }
    }
    Some(to)
}

#[derive(Default)]
struct Page {
    /// Line and target of each.
    links: Vec<(usize, String)>,
    anchors: BTreeSet<String>,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            let bare = line.trim_start();
            if let Some(open) = fence {
                if bare.starts_with(open) {
                    fence = None;
                }
                continue;
            }
            fence = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
            if fence.is_some() {
                continue;
            }
            if bare.starts_with('#') {
                page.add_heading(bare.trim_start_matches('#').trim());
            }
            let prose = without_code(line);
            page.links.extend(targets(&prose).map(|target| (index + 1, target.to_owned())));
        }
        page
    }

    fn add_heading(&mut self, heading: &str) {
        // `## Title {#id}` names its anchor itself.
        if let Some((_, id)) = heading.rsplit_once("{#") {
            self.anchors.insert(id.trim_end_matches('}').to_owned());
            return;
        }
        let slug = slug(heading);
        let mut anchor = slug.clone();
        let mut copy = 0;
        while !self.anchors.insert(anchor) {
            copy += 1;
            anchor = format!("{slug}-{copy}");
        }
    }
}

/// A heading's anchor as both GitHub and `MkDocs` make it for headings of letters, digits and simple punctuation.
fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The line with inline code blanked.
fn without_code(line: &str) -> String {
    line.split('`')
        .enumerate()
        .map(|(index, piece)| if index % 2 == 0 { piece } else { " " })
        .collect()
}

/// Targets of inline links and images, and of reference definitions.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let definition = line
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .filter(|(name, _)| !name.contains(']'))
        .and_then(|(_, target)| target.split_whitespace().next());
    let inline = line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?.split_whitespace().next()?;
        Some(target.trim_start_matches('<').trim_end_matches('>'))
    });
    inline.chain(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_files_and_dead_anchors_are_found_and_code_is_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("docs")).unwrap();
        let readme = "# A title, with `code`\n## Twice\n## Twice\n\
            [ok](docs/page.md) [ok](#a-title-with-code) [ok](#twice-1) [web](https://example.com/x)\n\
            [bad](docs/none.md) [bad](#twice-2)\n`[code](none.md)`\n```\n[fenced](none.md)\n```\n[ref]: none.md\n";
        fs::write(root.join("README.md"), readme).unwrap();
        fs::write(
            root.join("docs/page.md"),
            "[up](../README.md#twice) [bad](../README.md#thrice) [out](../../x) [img](../README.md)\n",
        )
        .unwrap();
        let found = problems(root, &["README.md".into(), "docs/page.md".into()]).unwrap();
        assert_eq!(
            found,
            [
                "README.md:5: docs/none.md: no such file",
                "README.md:5: #twice-2: no such heading",
                "README.md:10: none.md: no such file",
                "docs/page.md:1: ../README.md#thrice: no such heading",
                "docs/page.md:1: ../../x: leads out of the repository",
            ]
        );
    }
}
