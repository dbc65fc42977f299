//! A look at a source's bytes: could it name what is looked for?
//!
//! Nearly no file of a tree does, and to parse all of them would take minutes. So this look must be quick, and it must never say no
//! to a source in which the parser would find something: what it lets through costs time, what it holds back is lost. A test
//! writes names in every way it can think of and holds the two against each other.
//!
//! Python names a module by an identifier, which stands in the source's text letter by letter or in letters that NFKC folds to
//! them; or in a string that is given to a function whose own name is such an identifier. JavaScript names it in one string, in
//! which any letter may be an escape.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use memchr::memmem::Finder;

use crate::{Ecosystem, Package};

/// What to look for.
#[derive(Debug, Clone)]
pub(crate) struct Traces {
    python: Vec<Finder<'static>>,
    javascript: Vec<Finder<'static>>,
    /// The bytes that JavaScript's names are made of.
    letters: [bool; 128],
}

/// Functions that take a module's name or a source as a string.
const FUNCTIONS: [&str; 5] = ["import_module", "__import__", "exec", "eval", "compile"];

static FUNCTION: LazyLock<AhoCorasick> =
    LazyLock::new(|| AhoCorasick::new(FUNCTIONS).expect("five words make an automaton"));

pub(crate) const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();

impl Traces {
    pub(crate) fn new(packages: &[Package]) -> Self {
        let names = |ecosystem| {
            packages
                .iter()
                .filter(move |package| package.ecosystem == ecosystem)
                .flat_map(|package| package.modules.iter().map(String::as_str))
                .collect::<Vec<_>>()
        };
        let javascript = names(Ecosystem::Npm);
        let mut letters = [false; 128];
        for byte in javascript.iter().flat_map(|name| name.bytes()).filter(u8::is_ascii) {
            letters[usize::from(byte)] = true;
        }
        Self { python: finders(&names(Ecosystem::PyPi)), javascript: finders(&javascript), letters }
    }

    /// Whether a Python source could import one of the modules.
    pub(crate) fn python(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        found(&self.python, bytes) || calls(text) || (!text.is_ascii() && self.folded(text))
    }

    /// Whether a Python source holds the name of one of the modules, or what may be the first half of one that is put together:
    /// its first letters at a literal's end.
    pub(crate) fn named(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let halves = |name: &[u8]| {
            (3..name.len()).any(|length| {
                memchr::memmem::find_iter(bytes, &name[..length])
                    .any(|at| matches!(bytes.get(at + length), Some(b'"' | b'\'')))
            })
        };
        found(&self.python, bytes) || self.python.iter().any(|name| halves(name.needle()))
    }

    /// Whether letters that are no ASCII make a name, or the name of a function, once they are folded.
    fn folded(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(|byte| !byte.is_ascii()) {
            let first = at + next;
            let start =
                bytes[..first].iter().rposition(|byte| !part(byte)).map_or(0, |before| before + 1);
            let end = bytes[first..]
                .iter()
                .position(|byte| !part(byte))
                .map_or(bytes.len(), |length| first + length);
            let word = &text[start..end];
            if !NFKC.is_normalized(word) {
                let word = NFKC.normalize(word);
                if found(&self.python, word.as_bytes()) || FUNCTION.is_match(&*word) {
                    return true;
                }
            }
            at = end;
        }
        false
    }

    /// Whether a JavaScript source could import one of the packages.
    pub(crate) fn javascript(&self, bytes: &[u8]) -> bool {
        if found(&self.javascript, bytes) {
            return true;
        }
        let telling = |at: usize| match escape(&bytes[at..]) {
            Escape::Continuation(_) => true,
            Escape::Character(c, _) => c.is_ascii() && self.letters[c as usize],
            Escape::None => false,
        };
        if !memchr::memchr_iter(b'\\', bytes).any(telling) {
            return false;
        }
        [true, false].into_iter().any(|pairs| found(&self.javascript, &unescaped(bytes, pairs)))
    }
}

/// A finder for each name that holds no other.
fn finders(names: &[&str]) -> Vec<Finder<'static>> {
    let shortest = |name: &&&str| !names.iter().any(|other| other != *name && name.contains(other));
    let mut shortest: Vec<&str> = names.iter().filter(shortest).copied().collect();
    shortest.sort_unstable();
    shortest.dedup();
    shortest.into_iter().map(|name| Finder::new(name).into_owned()).collect()
}

fn found(finders: &[Finder<'_>], bytes: &[u8]) -> bool {
    finders.iter().any(|finder| finder.find(bytes).is_some())
}

/// Whether a function is called, or given another name, that takes a module's name or a source as a string.
fn calls(text: &str) -> bool {
    let bytes = text.as_bytes();
    let part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
    };
    let mut builtins = None;
    FUNCTION.find_iter(bytes).any(|word| {
        let before = word.start().checked_sub(1).map(|at| &bytes[at]);
        if part(before) || part(bytes.get(word.end())) {
            return false;
        }
        if word.pattern().as_usize() < 2 {
            return true;
        }
        // Methods and definitions of these names are everywhere, and no business of ours.
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c' | b'\r' | b'\n' | b'\\');
        let ahead = bytes[word.end()..].iter().find(|byte| !blank(byte));
        let behind = bytes[..word.start()].iter().rposition(|byte| !blank(byte));
        // `builtins.exec`, `from builtins import exec`, `from builtins import (  # why\n exec as run)`.
        if *builtins.get_or_insert_with(|| memchr::memmem::find(bytes, b"builtins").is_some()) {
            return true;
        }
        if behind.is_some_and(|at| bytes[at] == b'.') {
            return false;
        }
        if behind.is_some_and(|at| bytes[..=at].ends_with(b"def") && at + 1 < word.start()) {
            return false;
        }
        matches!(ahead, Some(b'(' | b')' | b'#')) || behind.is_some_and(|at| bytes[at] == b'=')
    })
}

enum Escape {
    /// A character, and how many bytes say it.
    Character(char, usize),
    /// The end of a line that is none.
    Continuation(usize),
    None,
}

/// What the escape means that begins with the first byte.
fn escape(bytes: &[u8]) -> Escape {
    let hex = |digits: Option<&[u8]>| {
        let digits = std::str::from_utf8(digits?).ok()?;
        u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    };
    let character =
        |c: Option<char>, length| c.map_or(Escape::None, |c| Escape::Character(c, length));
    match bytes.get(1) {
        Some(b'x') => character(hex(bytes.get(2..4)), 4),
        Some(b'u') if bytes.get(2) == Some(&b'{') => {
            let digits = &bytes[3..bytes.len().min(3 + 1024)];
            let length = memchr::memchr(b'}', digits).unwrap_or(0);
            let digits = &bytes[3..3 + length];
            let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
            character(hex(Some(&digits[zeros.min(length.saturating_sub(1))..])), 4 + length)
        }
        Some(b'u') => character(hex(bytes.get(2..6)), 6),
        Some(b'0'..=b'7') => {
            let most = if bytes[1] <= b'3' { 3 } else { 2 };
            let digits: Vec<u8> = bytes[1..]
                .iter()
                .take(most)
                .take_while(|byte| matches!(byte, b'0'..=b'7'))
                .copied()
                .collect();
            let value = digits.iter().fold(0, |value, digit| value * 8 + u32::from(digit - b'0'));
            character(char::from_u32(value), 1 + digits.len())
        }
        Some(b'\r') if bytes.get(2) == Some(&b'\n') => Escape::Continuation(3),
        Some(b'\n' | b'\r') => Escape::Continuation(2),
        Some(0xe2) if matches!(bytes.get(2..4), Some([0x80, 0xa8 | 0xa9])) => {
            Escape::Continuation(4)
        }
        Some(b'n' | b't' | b'b' | b'v' | b'f' | b'r') | None => Escape::None,
        Some(&byte) if byte.is_ascii() => Escape::Character(char::from(byte), 2),
        Some(_) => Escape::None,
    }
}

/// What the escape says that begins with the first byte, and its length: nothing, for the end of a line that is none.
pub(crate) fn unescape(bytes: &[u8]) -> (Option<char>, usize) {
    match escape(bytes) {
        Escape::Character(c, length) => (Some(c), length),
        Escape::Continuation(length) => (None, length),
        Escape::None => (Some('\u{fffd}'), 2.min(bytes.len())),
    }
}

/// The bytes with every escape replaced by what it means, wherever it stands. Whether `\\` is a pair depends on where a string begins,
/// so it is read once as one and once as two beginnings.
fn unescaped(bytes: &[u8], pairs: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', &bytes[at..]) {
        out.extend_from_slice(&bytes[at..at + next]);
        at += next;
        match escape(&bytes[at..]) {
            Escape::Character('\\', 2) if !pairs => at += 1,
            Escape::Character(c, length) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
            }
            Escape::Continuation(length) => at += length,
            Escape::None => {
                out.push(b'\\');
                at += 1;
            }
        }
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Wanted;
    use crate::source::{javascript, python};

    fn wanted() -> Wanted {
        let package = |ecosystem, modules: &[&str]| Package {
            ecosystem,
            name: "litellm".to_owned(),
            modules: modules.iter().map(|name| (*name).to_owned()).collect(),
            repositories: Vec::new(),
            contents: Vec::new(),
            startup_files: Vec::new(),
        };
        Wanted::new(vec![
            package(Ecosystem::PyPi, &["litellm", "litellm_cli"]),
            package(Ecosystem::Npm, &["litellm"]),
        ])
    }

    /// A letter in one of the ways in which a string or an identifier can have it.
    fn letter(c: char, way: u8) -> String {
        let code = u32::from(c);
        match way {
            0 => format!("\\x{code:02x}"),
            1 => format!("\\u{code:04x}"),
            2 => format!("\\U{code:08x}"),
            3 => format!("\\{code:03o}"),
            4 => format!("\\N{{LATIN SMALL LETTER {}}}", c.to_ascii_uppercase()),
            5 => format!("\\u{{{code:05x}}}"),
            6 => char::from_u32(code - u32::from('a') + 0xff41).unwrap().to_string(),
            7 => char::from_u32(code - u32::from('a') + 0x1d41a).unwrap().to_string(),
            8 => format!("\\\n{c}"),
            9 => format!("\\\r\n{c}"),
            10 => format!("' '{c}"),
            11 => format!("' + \"{c}\" + '"),
            12 => format!("\\{c}"),
            13 => format!("\\\\x{code:02x}"),
            _ => c.to_string(),
        }
    }

    /// The name, without the ways in which only Python's strings are put together.
    fn unbroken() -> impl Strategy<Value = String> {
        name().prop_map(|name| name.replace("' + \"", "").replace("\" + '", "").replace("' '", ""))
    }

    fn name() -> impl Strategy<Value = String> {
        proptest::collection::vec(0..24_u8, 7)
            .prop_map(|ways| "litellm".chars().zip(ways).map(|(c, way)| letter(c, way)).collect())
    }

    fn blank() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "", "", "", " ", "\t", "\\\n", "\n", "\r", " \\\r\n ", "# x\n", "\u{c}",
        ])
    }

    fn function() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "exec",
            "eval",
            "compile",
            "__import__",
            "import_module",
            "importlib.import_module",
            "builtins.exec",
            "builtins . eval",
            "b.exec",
            "(exec)",
            "(((eval)))",
            "run",
            "e",
            "x.exec",
            "x.import_module",
            "ｅxec",
            "ex𝐞c",
            "__ｉmport__",
            "re.compile",
            "def exec",
            "lambda: exec",
            "not exec",
            "await eval",
            "import exec",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn whatever_the_parser_finds_in_python_left_a_trace(
            name in name(), function in function(), blanks in prop::array::uniform4(blank()), shape in 0..9_u8, quote in "['\"]",
            head in prop::sample::select(vec![
                "", "import builtins as b\n", "from builtins import exec as run\n", "run = exec\n", "e, f = exec, 1\n", "run=eval\n",
                "from importlib import import_module as run\n", "from builtins import(exec as e)\n", "from builtins import (  # a\n  exec as e,\n)\n", "from builtins import eval as e, exec as run\n",
            ]),
        ) {
            let [a, b, c, d] = blanks;
            let text = match shape {
                0 => format!("{head}import{a} {name}{b}"),
                1 => format!("{head}from {a}{name}{b} import {c}x"),
                2 => format!("{head}{function}{a}({b}{quote}{name}{quote}{c})"),
                3 => format!("{head}{function}{a}({b}{quote}import {name}{quote}{c})"),
                4 => format!("{head}{function}{a}({b}{quote}__import__('{name}'){quote}{c})"),
                5 => format!("{head}NAME{a} = {quote}import {name}{quote}\n{function}{b}(NAME{c})"),
                6 => format!("{head}{function}{a}(f{quote}{name}{quote}{d})"),
                7 => format!("{head}{function}{a}({b}'.x', {quote}{name}{quote})"),
                _ => format!("{head}if 1:{a}import {name}"),
            };
            let wanted = wanted();
            let found = python::without_trace(&text, &wanted);
            prop_assert!(found == 0 || wanted.traces().python(&text), "{text}");
        }

        #[test]
        fn whatever_the_parser_finds_in_javascript_left_a_trace(
            name in unbroken(), shape in 0..8_u8, quote in "['\"`]", head in "(npm:|https://a.b/|https://a.b/\\\\|raw!|\\\\|)", tail in "(/x|@1|\\?a|)",
        ) {
            let specifier = format!("{quote}{head}{name}{tail}{quote}");
            let text = match shape {
                0 => format!("import {specifier}"),
                1 => format!("require({specifier})"),
                2 => format!("import({specifier})"),
                3 => format!("export * from {specifier}"),
                4 => format!("// \\\nimport x from {specifier}"),
                5 => format!("x = /\\//; require({specifier})"),
                6 => format!("x = '\\\\'; require({specifier})"),
                _ => format!("x = `\\``; require({specifier})"),
            };
            let wanted = wanted();
            let found = javascript::without_trace(&text, &wanted);
            prop_assert!(found == 0 || wanted.traces().javascript(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_everywhere_leaves_none() {
        let wanted = wanted();
        for text in [
            "import os\nx = re.compile(r'\\x6c')\n",
            "model.eval()\nself.exec('a')\n",
            "class A:\n    def compile(self): ...\n    def eval(self, x): ...\n",
            "é = 'naïve ﬁ'\n",
            "# exec and eval are mentioned, and evaluate(1), compiled\n",
        ] {
            assert!(!wanted.traces().python(text), "{text}");
        }
        for text in ["x = '\\n\\u00e9\\x41'", "/\\d+\\.\\w/", "require('x')"] {
            assert!(!wanted.traces().javascript(text.as_bytes()), "{text}");
        }
    }
}
