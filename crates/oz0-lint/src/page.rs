//! A rule's page: Markdown with fixed headings, whose examples are tests.
//!
//! A page has a title and four sections, *What it finds*, *Why*, *Fix* and *Examples*. Below *Examples* each heading begins
//! a case, and the fences below it are its files: the first says what the case is (`yaml bad`, `yaml good`, `yaml second`
//! for "good first, bad second"), and `verified` where it is linted at that level; `fixed` is the manifest after its safe
//! fix. `file=PATH` is another file, `json listing` the functions of the measured listing, `json snapshot=TOOL` those of a
//! remote tool's snapshot. What a case must find stands as a comment on the line that earns it: `# OZ-S005`, or `// OZ-S012`
//! in JavaScript, with `: words of the message` behind it where they matter. A file that has no comments says it in its
//! fence: `finds=LINE`; `finds=PATH` is for a finding about a folder or another file.

/// The headings of a page, in their order.
pub const SECTIONS: [&str; 4] = ["What it finds", "Why", "Fix", "Examples"];

/// A rule's page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The title behind the code: `Egress names a wildcard`.
    pub title: String,
    /// The sections, by their headings, each with its text.
    pub sections: Vec<(String, String)>,
    /// The cases.
    pub examples: Vec<Example>,
}

/// A case of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The heading above it.
    pub heading: String,
    /// What it shows.
    pub mark: Mark,
    /// Whether it is linted at the verified level.
    pub verified: bool,
    /// Its files as they stand on the page, in their order.
    pub files: Vec<File>,
    /// Its manifest after the safe fix, where it has one.
    pub fixed: Option<String>,
}

/// A file of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// What it is.
    pub kind: FileKind,
    /// Its text.
    pub text: String,
    /// What is found beside what its comments say.
    pub finds: Vec<Place>,
}

/// Where a case finds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this line of the file, from 1.
    Line(usize),
    /// At this path.
    Path(String),
}

/// What a file of a case is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// The manifest, or the part of it that matters.
    Manifest,
    /// A file with this path.
    Path(String),
    /// The functions of the measured listing; measured from other files than the plugin's when it is `stale`.
    Listing {
        /// Whether it is stale.
        stale: bool,
    },
    /// The functions of this tool's snapshot.
    Snapshot(String),
}

/// What a case shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Something that the rule finds.
    Bad,
    /// Something that it does not.
    Good,
    /// Something fine, and behind it something that it finds.
    Second,
}

/// A finding that a comment expects on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// The line, from 1.
    pub line: usize,
    /// The rule's code.
    pub code: String,
    /// What its message says, among other things.
    pub says: String,
}

impl Expected {
    /// The findings that the comments of a text expect, line by line.
    pub fn of(text: &str) -> Vec<Self> {
        let mut expected = Vec::new();
        for (index, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices("OZ-") {
                let begins = line[..at].ends_with("# ") || line[..at].ends_with("// ");
                let comment = &line[at + "OZ-".len()..];
                let next = ["# OZ-", "// OZ-"].iter().filter_map(|mark| comment.find(mark)).min();
                let comment = &comment[..next.unwrap_or(comment.len())];
                if !begins || comment[4.min(comment.len())..].starts_with(" allow") {
                    continue;
                }
                let (code, says) = comment.split_once(':').unwrap_or((comment, ""));
                expected.push(Self {
                    line: index + 1,
                    code: format!("OZ-{}", code.trim()),
                    says: says.trim().to_owned(),
                });
            }
        }
        expected
    }
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in a line. The pages of this crate are held to their form by a test.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let title = lines
            .next()
            .and_then(|line| line.strip_prefix("# "))
            .and_then(|line| line.split_once(": "))
            .ok_or("the first line is `# CODE: Title`")?;
        let mut page = Self { title: title.1.to_owned(), sections: vec![], examples: vec![] };
        let mut heading = String::new();
        let mut case: Option<Example> = None;
        let mut fence: Option<(String, String)> = None;
        for line in lines {
            if let Some((info, text)) = &mut fence {
                if line == "```" {
                    page.take_fence(info, text, &heading, &mut case)?;
                    fence = None;
                } else {
                    text.push_str(line);
                    text.push('\n');
                }
            } else if let Some(info) = line.strip_prefix("```") {
                fence = Some((info.to_owned(), String::new()));
            } else if let Some(name) = line.strip_prefix("## ") {
                page.examples.extend(case.take());
                page.sections.push((name.to_owned(), String::new()));
                continue;
            } else if let Some(name) = line.strip_prefix("### ") {
                page.examples.extend(case.take());
                name.clone_into(&mut heading);
            }
            if let Some((_, section)) = page.sections.last_mut() {
                section.push_str(line);
                section.push('\n');
            }
        }
        if fence.is_some() {
            return Err("a fence is left open".to_owned());
        }
        page.examples.extend(case);
        Ok(page)
    }

    fn take_fence(
        &mut self,
        info: &str,
        text: &str,
        heading: &str,
        case: &mut Option<Example>,
    ) -> Result<(), String> {
        if self.sections.last().is_none_or(|(name, _)| name != "Examples") {
            return Ok(());
        }
        let words: Vec<&str> = info.split_whitespace().skip(1).collect();
        let has = |word: &str| words.contains(&word);
        if has("fixed") {
            let case = case.as_mut().ok_or("`fixed` follows the case that it mends")?;
            case.fixed = Some(text.to_owned());
            return Ok(());
        }
        let marks = [("bad", Mark::Bad), ("good", Mark::Good), ("second", Mark::Second)];
        if let Some((_, mark)) = marks.into_iter().find(|(word, _)| has(word)) {
            self.examples.extend(case.take());
            *case = Some(Example {
                heading: heading.to_owned(),
                mark,
                verified: has("verified"),
                files: Vec::new(),
                fixed: None,
            });
        }
        let value =
            |key: &str| words.iter().find_map(|word| word.strip_prefix(key)).map(str::to_owned);
        let kind = if has("listing") {
            FileKind::Listing { stale: has("stale") }
        } else if let Some(path) = value("file=") {
            FileKind::Path(path)
        } else if let Some(tool) = value("snapshot=") {
            FileKind::Snapshot(tool)
        } else {
            FileKind::Manifest
        };
        let case = case.as_mut().ok_or_else(|| format!("a fence belongs to no case: {info}"))?;
        let finds = words
            .iter()
            .filter_map(|word| word.strip_prefix("finds="))
            .map(|place| place.parse().map_or_else(|_| Place::Path(place.to_owned()), Place::Line));
        case.files.push(File { kind, text: text.to_owned(), finds: finds.collect() });
        Ok(())
    }
}

/// A page as people read it: above each example stands what it shows and which file it is, the fences say their language and
/// no longer what they are to the tests, and what is fixed has no comments about findings any more.
pub fn published(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    // What the text before the next line is inside of: a fence, and whether it shows what a fix makes.
    let mut fence: Option<bool> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), fence) {
            (Some(info), None) => {
                let label = label(info);
                if let Some(label) = &label {
                    out.push_str(label);
                    out.push_str("\n\n");
                }
                fence = Some(info.split_whitespace().any(|word| word == "fixed"));
                out.push_str("```");
                out.push_str(info.split_whitespace().next().unwrap_or_default());
            }
            (Some(_), Some(_)) => {
                fence = None;
                out.push_str(line);
            }
            (None, Some(true)) => match without_finding(line) {
                Some(line) => out.push_str(line),
                None => continue,
            },
            (None, _) => out.push_str(line),
        }
        out.push('\n');
        if line == "## Examples" {
            out.push_str("\nA comment that begins with the code stands on the line of a finding, with words of its message.\n");
        }
    }
    out
}

/// What stands above a fence: what the example shows, and which file it is. `None` above one that is no example.
fn label(info: &str) -> Option<String> {
    let words: Vec<&str> = info.split_whitespace().skip(1).collect();
    let has = |word: &str| words.contains(&word);
    let mark = [
        ("bad", "**Bad**"),
        ("good", "**Good**"),
        ("second", "**Good first, then bad**"),
        ("fixed", "**Fixed** by `oz0 plugin lint --fix`"),
    ];
    let mark = mark.into_iter().find_map(|(word, shown)| has(word).then_some(shown));
    let name = words.iter().find_map(|word| {
        Some(match word.split_once('=') {
            Some(("file", path)) => format!("`{path}`"),
            Some(("snapshot", tool)) => format!("the functions of `snapshots/{tool}.json`"),
            _ if *word == "listing" => {
                let stale = if has("stale") { ", measured from other files" } else { "" };
                format!("the functions of `tools.listing.json`{stale}")
            }
            _ => return None,
        })
    });
    let level = if has("verified") { " at the verified level" } else { "" };
    let mut label = match (mark, name) {
        (Some(mark), Some(name)) => format!("{mark}{level}, {name}"),
        (Some(mark), None) => format!("{mark}{level}"),
        (None, Some(name)) => format!("With {name}"),
        (None, None) => return None,
    };
    let finds = words.iter().filter_map(|word| word.strip_prefix("finds="));
    let finds: Vec<String> = finds
        .map(|place| match place.parse::<usize>() {
            Ok(line) => format!("in line {line}"),
            Err(_) => format!("at `{place}`"),
        })
        .collect();
    if !finds.is_empty() {
        label.push_str(", found ");
        label.push_str(&finds.join(" and "));
    }
    label.push(':');
    Some(label)
}

/// A line without the comment that says what is found in it; `None` where nothing is left.
fn without_finding(line: &str) -> Option<&str> {
    let is_finding = |at: &usize| !Expected::of(&line[*at..]).is_empty();
    let begins = line.match_indices("# OZ-").chain(line.match_indices("// OZ-"));
    match begins.map(|(at, _)| at).filter(is_finding).min() {
        Some(at) => Some(line[..at].trim_end()).filter(|left| !left.is_empty()),
        None => Some(line),
    }
}
