//! Requirements files in which every line is fixed by a hash.
//!
//! What an installer is given is never the author's text: a reader that differs in one character (a lone CR that ends a
//! line, a path that passes for a name) would let options through that build or run code. The text is parsed strictly,
//! by PEP 508 and PEP 440 with pip's `--hash`, and what is installed is written anew from what was parsed.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use oz0_diagnostic::{SourceFile, Span};
use regex_lite::Regex;

use super::marker;
use super::problem::{DependencyProblem, shown};

/// The command that writes such a file.
const COMMAND: &str =
    "uv pip compile --universal --generate-hashes -o requirements.txt requirements.in";

/// Requirements that name one version each, with its hashes.
#[derive(Debug, Clone)]
pub struct Requirements {
    source: Arc<SourceFile>,
    list: Vec<Requirement>,
}

/// One requirement.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// Normalised (PEP 503).
    name: String,
    extras: Vec<String>,
    version: String,
    marker: Option<String>,
    /// As `ALGORITHM:DIGITS`.
    hashes: Vec<String>,
    span: Span,
}

impl Requirements {
    /// Reads a requirements file.
    ///
    /// # Errors
    ///
    /// The first line that is something else than one exact version of a registry's package with its hashes.
    pub fn read(source: &Arc<SourceFile>) -> Result<Self, DependencyProblem> {
        let lines = logical_lines(source)?;
        let list = lines
            .iter()
            .map(|line| read_line(source, line))
            .collect::<Result<_, DependencyProblem>>()?;
        Ok(Self { source: Arc::clone(source), list })
    }

    /// No requirements, of a file of this name.
    pub fn none(path: &str) -> Self {
        Self { source: SourceFile::new(path, ""), list: Vec::new() }
    }

    /// Whether there is nothing to install.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The requirements, in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.list.iter()
    }

    /// The file.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// Adds the requirements whose packages are not among these.
    pub fn add(&mut self, other: &Self) {
        let mine: Vec<String> = self.list.iter().map(|found| found.name.clone()).collect();
        let missing = other.list.iter().filter(|found| !mine.contains(&found.name));
        self.list.extend(missing.cloned());
    }

    /// The text for an installer: a line for each requirement, and nothing of the file that was not parsed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for found in &self.list {
            text.push_str(&found.name);
            if !found.extras.is_empty() {
                let _ = write!(text, "[{}]", found.extras.join(","));
            }
            let _ = write!(text, "=={}", found.version);
            if let Some(marker) = &found.marker {
                let _ = write!(text, " ; {marker}");
            }
            for hash in &found.hashes {
                let _ = write!(text, " --hash={hash}");
            }
            text.push('\n');
        }
        text
    }
}

impl Requirement {
    /// The package's name, normalised (PEP 503).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version, as it is written.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The hashes of its files, each as `ALGORITHM:DIGITS`.
    pub fn hashes(&self) -> &[String] {
        &self.hashes
    }

    /// Its first line.
    pub fn span(&self) -> &Span {
        &self.span
    }
}

/// A name of a Python package in the one way to write it (PEP 503).
pub fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '-' | '_' | '.') {
            if !normal.ends_with('-') {
                normal.push('-');
            }
        } else {
            normal.extend(character.to_lowercase());
        }
    }
    normal
}

/// Whether this is a name by PEP 508.
pub(super) fn is_name(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| is_name_byte(char::from(*byte)))
}

fn is_name_byte(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

/// Whether this is one version by PEP 440.
fn is_version(text: &str) -> bool {
    static VERSION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?i:v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*",
            r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?",
            r"(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?",
            r"(?:[-_.]?dev[-_.]?[0-9]*)?",
            r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)$",
        ))
        .expect("the pattern is a constant")
    });
    text.len() <= 200 && VERSION.is_match(text)
}

fn is_hash(hash: &str) -> bool {
    hash.split_once(':').is_some_and(|(algorithm, digits)| {
        matches!((algorithm, digits.len()), ("sha256", 64) | ("sha384", 96) | ("sha512", 128))
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Lines joined where they end in a backslash, without comments.
struct LogicalLine {
    /// Of its first line.
    span: Span,
    text: String,
}

fn logical_lines(source: &Arc<SourceFile>) -> Result<Vec<LogicalLine>, DependencyProblem> {
    let text = source.text();
    let mut lines = Vec::new();
    let mut open: Option<LogicalLine> = None;
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    for raw in text[at..].split('\n') {
        let start = at;
        at += raw.len() + 1;
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        let span = Span::new(source, start..start + raw.len());
        if let Some(control) = raw.chars().find(|c| c.is_control() && *c != '\t') {
            return Err(DependencyProblem::error(
                span,
                format!("a line has the control character U+{:04X}", u32::from(control)),
                format!("write the file with: {COMMAND}"),
            ));
        }
        let is_comment = raw.trim_start().starts_with('#');
        let comment = if is_comment { Some(0) } else { raw.find(" #").or(raw.find("\t#")) };
        let content = comment.map_or(raw, |at| &raw[..at]).trim();
        let (content, goes_on) = match content.strip_suffix('\\') {
            Some(content) => (content.trim_end(), true),
            None => (content, false),
        };
        if open.is_none() && content.is_empty() {
            continue;
        }
        let line = open.get_or_insert_with(|| LogicalLine { span, text: String::new() });
        line.text.push(' ');
        line.text.push_str(content);
        if !goes_on {
            lines.extend(open.take());
        }
    }
    lines.extend(open);
    Ok(lines)
}

fn read_line(
    source: &Arc<SourceFile>,
    line: &LogicalLine,
) -> Result<Requirement, DependencyProblem> {
    let problem = |message: String, help: String| {
        let range = line.span.range();
        let indent = line.span.text().len() - line.span.text().trim_start().len();
        let span = Span::new(source, range.start + indent..range.end);
        DependencyProblem::error(span, message, help)
    };
    let text = line.text.trim();
    let written = || format!("write the file with: {COMMAND}");
    if text.starts_with('-') {
        let option = shown(text.split([' ', '=', '\t']).next().unwrap_or_default());
        return Err(problem(
            format!("{option} has no place in a locked requirements file"),
            format!("keep to lines of NAME==VERSION --hash=…; {}", written()),
        ));
    }
    let specification = shown(text.split([';', ' ', '\t']).next().unwrap_or_default());
    let (name, rest) = split_at_end(text, is_name_byte);
    let rest = rest.trim_start();
    let is_address = rest.starts_with(['@', '/', ':', '\\']) || text.starts_with(['/', '.', '~']);
    if is_address || text.contains("://") {
        return Err(problem(
            format!("{specification} is taken from an address, which may need to be built"),
            "require a release of a registry by NAME==VERSION".to_owned(),
        ));
    }
    if !is_name(name) {
        return Err(problem(
            format!("{specification} does not begin with the name of a package"),
            "require a release of a registry by NAME==VERSION".to_owned(),
        ));
    }
    let (extras, rest) = match rest.strip_prefix('[') {
        None => (Vec::new(), rest),
        Some(rest) => {
            let (extras, rest) = rest.split_once(']').unwrap_or((rest, ""));
            let extras: Vec<String> = extras.split(',').map(|one| one.trim().to_owned()).collect();
            if let Some(wrong) = extras.iter().find(|extra| !is_name(extra)) {
                return Err(problem(format!("{} is no name of an extra", shown(wrong)), written()));
            }
            (extras, rest.trim_start())
        }
    };
    let exact = rest.strip_prefix("==").filter(|rest| !rest.starts_with('=')).map(str::trim_start);
    let found = exact.map(|rest| split_at_end(rest, |c| !c.is_whitespace() && c != ';'));
    let Some((version, rest)) = found.filter(|(version, _)| is_version(version)) else {
        return Err(problem(
            format!("{specification} is not locked to one version"),
            format!("write NAME==VERSION with its hashes; {}", written()),
        ));
    };
    let rest = rest.trim_start();
    let (marker, rest) = match rest.strip_prefix(';') {
        None => (None, rest),
        Some(rest) => {
            let (marker, rest) = marker::read(rest).map_err(|what| {
                problem(
                    format!("{specification} has a marker that cannot be read: {what}"),
                    written(),
                )
            })?;
            (Some(marker), rest)
        }
    };
    let mut hashes = Vec::new();
    for word in rest.split_whitespace() {
        match word.strip_prefix("--hash=") {
            Some(hash) if is_hash(hash) => hashes.push(hash.to_ascii_lowercase()),
            Some(_) => {
                return Err(problem(
                    format!("{} is no hash of sha256", shown(word)),
                    format!("write --hash=sha256: and 64 hexadecimal digits; {}", written()),
                ));
            }
            None => {
                return Err(problem(
                    format!("{} has no place in a locked requirement", shown(word)),
                    format!("keep to lines of NAME==VERSION --hash=…; {}", written()),
                ));
            }
        }
    }
    if hashes.is_empty() {
        return Err(problem(format!("{specification} has no hash"), written()));
    }
    Ok(Requirement {
        name: normal_name(name),
        extras,
        version: version.to_owned(),
        marker,
        hashes,
        span: line.span.clone(),
    })
}

/// The longest start of these characters, and the rest.
fn split_at_end(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use oz0_diagnostic::SourceFile;
    use proptest::prelude::*;

    use super::Requirements;

    fn read(text: &str) -> Result<String, String> {
        let source = SourceFile::new("requirements.txt", text);
        Requirements::read(&source).map(|found| found.text()).map_err(|found| found.to_string())
    }

    fn hash() -> String {
        format!("--hash=sha256:{}", "0a".repeat(32))
    }

    #[test]
    fn what_is_installed_is_written_anew() {
        let hash = hash();
        let text = format!(
            "\u{feff}# mine \\\r\nMy.Pkg[b,a_b] == 1.0.post1 ; (python_version<'3.12' and sys_platform != \"win32\") \\\r\n    {hash} \\\r\n\t{hash} # both\r\n    # via x\r\n\r\n"
        );
        assert_eq!(
            read(&text).unwrap(),
            format!(
                "my-pkg[b,a_b]==1.0.post1 ; ( python_version < '3.12' and sys_platform != 'win32' ) {hash} {hash}\n"
            )
        );
    }

    #[test]
    fn nothing_but_exact_hashed_releases_passes() {
        let hash = hash();
        let short = &hash[..hash.len() - 1];
        let lines = [
            format!("a==1 {hash}\r--no-binary=a"),
            format!("a==1 {hash}\u{b}--no-binary=a"),
            format!("a==1 {hash}\u{85}--no-binary=a"),
            format!("a==1 {hash} --no-binary=a"),
            format!("a==1 {hash} b==1"),
            format!("/tmp/w==1/a-1-py3-none-any.whl {hash}"),
            format!("./w==1 {hash}"),
            format!("w/x==1 {hash}"),
            format!("a @ file:///w==1 {hash}"),
            format!("a@file:w==1 {hash}"),
            format!("a===1 {hash}"),
            format!("a==1.* {hash}"),
            format!("a==1,<2 {hash}"),
            format!("a>=1 {hash}"),
            format!("a {hash}"),
            format!("a==1 ; python_version {hash}"),
            format!("a==1 ; python_version < '3' or {hash}"),
            format!("a==1 ; (python_version < '3' {hash}"),
            format!("a==1 ; nothing < '3' {hash}"),
            format!("a==1 ; os_name == '\"' {hash}"),
            format!("a==1 ;{} os_name == 'x' {hash}", "(".repeat(10_000)),
            format!("a[b==1 {hash}"),
            format!("-e . {hash}"),
            "--hash=sha256:00".to_owned(),
            format!("a==1 {short}"),
            "a==1".to_owned(),
            format!("a==1 # {hash}"),
            "a==1 --hash=md5:00000000000000000000000000000000".to_owned(),
        ];
        let messages: Vec<String> = lines.iter().map(|line| read(line).unwrap_err()).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_itself_and_holds_no_option(
            lines in proptest::collection::vec("[a-z=/@; \\\\\r\t#.\\[\\]()'-]{0,12}|==1|--hash=sha256:0{64}|os_name == 'x'", 0..8)
        ) {
            if let Ok(text) = read(&lines.concat()) {
                prop_assert_eq!(read(&text).unwrap(), text.clone());
                for word in text.split_whitespace().filter(|word| word.starts_with('-')) {
                    prop_assert!(word.starts_with("--hash=sha256:"), "{}", word);
                }
            }
        }
    }
}
