//! The options of a requirements file's line, as pip's `shlex` and `optparse` take them apart.

use std::ops::Range;

/// What a line asks for by options.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// The first of `-e`.
    pub(super) editable: Option<Word>,
    /// The first of `-r`.
    pub(super) requirement: Option<Word>,
    /// The first of `-c`.
    pub(super) constraint: Option<Word>,
}

/// A word as the shell's rules read it, and where it stands in the line, with its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Editable,
    Requirement,
    Constraint,
    /// Takes a value that says nothing of what is installed.
    Valued,
    Flag,
}

use Meaning::{Constraint, Editable, Flag, Requirement, Valued};

/// The options that pip takes in a requirements file, by their long names: an unambiguous beginning will do.
const LONG: [(&str, Meaning); 20] = [
    ("--index-url", Valued),
    ("--pypi-url", Valued),
    ("--extra-index-url", Valued),
    ("--no-index", Flag),
    ("--constraint", Constraint),
    ("--requirement", Requirement),
    ("--editable", Editable),
    ("--find-links", Valued),
    ("--no-binary", Valued),
    ("--only-binary", Valued),
    ("--prefer-binary", Flag),
    ("--require-hashes", Flag),
    ("--no-require-hashes", Flag),
    ("--pre", Flag),
    ("--all-releases", Valued),
    ("--only-final", Valued),
    ("--trusted-host", Valued),
    ("--use-feature", Valued),
    ("--hash", Valued),
    ("--config-settings", Valued),
];

/// Options that older releases of pip took; only their whole names, so that they do not make today's beginnings ambiguous.
const FORMER: [(&str, Meaning); 6] = [
    ("--global-option", Valued),
    ("--install-option", Valued),
    ("--config-setting", Valued),
    ("--process-dependency-links", Flag),
    ("--always-unzip", Flag),
    ("--allow-all-external", Flag),
];

const SHORT: [(char, Meaning); 6] = [
    ('i', Valued),
    ('c', Constraint),
    ('r', Requirement),
    ('e', Editable),
    ('f', Valued),
    ('C', Valued),
];

/// A line's part in front of its options, and where they begin: at the first word, as spaces part them, with a hyphen in front.
pub(super) fn split(line: &str) -> (&str, usize) {
    let mut at = 0;
    for word in line.split(' ') {
        if word.starts_with('-') {
            return (&line[..at.max(1) - 1], at);
        }
        at += word.len() + 1;
    }
    (line, line.len())
}

impl Options {
    /// Reads the options of a line from `at` on, or says why pip would not.
    pub(super) fn read(line: &str, at: usize) -> Result<Self, String> {
        let mut words = words(line, at)?.into_iter();
        let mut options = Self::default();
        while let Some(word) = words.next() {
            if word.text == "--" {
                break;
            }
            if word.text.starts_with("--") {
                options.long(&word, &mut words)?;
            } else if word.text.starts_with('-') && word.text.len() > 1 {
                options.short(&word, &mut words)?;
            }
            // A word of neither kind is left over, and pip does not look at it.
        }
        Ok(options)
    }

    fn long(&mut self, word: &Word, words: &mut impl Iterator<Item = Word>) -> Result<(), String> {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&*word.text, None),
        };
        let meaning = long_option(name)?;
        match (meaning, value) {
            (Flag, None) => Ok(()),
            (Flag, Some(_)) => Err(format!("the option {name} takes no value")),
            (_, Some(value)) => {
                let from = name.len() + 1;
                let range = inner(word, from);
                self.set(meaning, Word { text: value.to_owned(), range });
                Ok(())
            }
            (_, None) => {
                let value =
                    words.next().ok_or_else(|| format!("the option {name} has no value"))?;
                self.set(meaning, value);
                Ok(())
            }
        }
    }

    fn short(&mut self, word: &Word, words: &mut impl Iterator<Item = Word>) -> Result<(), String> {
        let mut characters = word.text.char_indices().skip(1);
        let Some((_, letter)) = characters.next() else { return Ok(()) };
        let known = SHORT.iter().find(|(short, _)| *short == letter);
        let Some((_, meaning)) = known else { return Err(format!("there is no option -{letter}")) };
        // Each short option takes a value: what follows the letter, else the next word.
        let value = match characters.next() {
            Some((from, _)) => {
                let range = inner(word, from);
                Word { text: word.text[from..].to_owned(), range }
            }
            None => words.next().ok_or_else(|| format!("the option -{letter} has no value"))?,
        };
        self.set(*meaning, value);
        Ok(())
    }

    fn set(&mut self, meaning: Meaning, value: Word) {
        let place = match meaning {
            Editable => &mut self.editable,
            Requirement => &mut self.requirement,
            Constraint => &mut self.constraint,
            Valued | Flag => return,
        };
        place.get_or_insert(value);
    }
}

/// The place of a word from a byte on; all of it, when quotes or escapes stand in it.
fn inner(word: &Word, from: usize) -> Range<usize> {
    if word.range.len() == word.text.len() {
        word.range.start + from..word.range.end
    } else {
        word.range.clone()
    }
}

fn long_option(name: &str) -> Result<Meaning, String> {
    let exact = LONG.iter().chain(&FORMER).find(|(long, _)| *long == name);
    if let Some((_, meaning)) = exact {
        return Ok(*meaning);
    }
    let mut beginning = LONG.iter().filter(|(long, _)| long.starts_with(name));
    match (beginning.next(), beginning.next()) {
        (Some((_, meaning)), None) => Ok(*meaning),
        (Some((one, _)), Some((two, _))) => Err(format!("the option {name} may be {one} or {two}")),
        (None, _) => Err(format!("there is no option {name} in a requirements file")),
    }
}

/// The words of a line from `at` on: Python's `shlex.split`.
fn words(line: &str, at: usize) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut characters = line[at..].char_indices().map(|(index, c)| (at + index, c));
    while let Some((at, character)) = characters.next() {
        let mut open = |part: Option<char>, end: usize| {
            let word = word.get_or_insert(Word { text: String::new(), range: at..at });
            word.text.extend(part);
            word.range.end = end;
        };
        let end = at + character.len_utf8();
        match (quote, character) {
            (None, ' ' | '\t' | '\r' | '\n') => words.extend(word.take()),
            (None, '"' | '\'') => {
                open(None, end);
                quote = Some(character);
            }
            (None, '\\') => {
                let (at, escaped) = characters.next().ok_or("a backslash ends its options")?;
                open(Some(escaped), at + escaped.len_utf8());
            }
            (Some('"'), '\\') => {
                let (at, escaped) = characters.next().ok_or("a quotation has no end")?;
                if !matches!(escaped, '"' | '\\') {
                    open(Some('\\'), end);
                }
                open(Some(escaped), at + escaped.len_utf8());
            }
            (Some(open_quote), _) if open_quote == character => {
                open(None, end);
                quote = None;
            }
            _ => open(Some(character), end),
        }
    }
    if quote.is_some() {
        return Err("a quotation has no end".to_owned());
    }
    words.extend(word);
    Ok(words)
}
