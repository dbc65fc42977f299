//! A text as words, in which what SPDX lets differ does not differ.
//!
//! From the matching guidelines (SPDX specification, annex "License matching guidelines and templates"): letter case,
//! white space, punctuation, quotes and dashes; bullets and numbers before list items; spellings of one word; `http` and
//! `https`; the copyright sign. Copyright notices are passed over, wherever they stand on lines of their own, but a
//! notice is *who and when*: a line that says what is allowed is no notice, whatever it begins with. Each word keeps its
//! bytes, for the place of a finding.

use std::ops::Range;

/// The words of a text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    words: Vec<Word>,
}

#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    bytes: Range<usize>,
    /// Whether it is the first word of its line.
    first: bool,
}

/// The most words of a copyright notice.
const NOTICE: usize = 32;

/// Words that a sentence has and a holder's name has not: what says what may be done, and what says anything at all. Some
/// that would be here are names too: Will, Can, IT.
const TERMS: &str = "use uses used using usage commercial commercially noncommercial non only not no nor without must \
    shall may might cannot could should would except excluding excluded exclude unless prohibited forbidden permission \
    permitted allowed license licensed terms provided condition conditions restriction restrictions restricted subject \
    purpose purposes is are be been was were has have had you your yours this that these those they them which whom any if \
    when where whether";

/// Whether a word is one of them.
pub(super) fn is_term(word: &str) -> bool {
    TERMS.split_ascii_whitespace().any(|term| term == word)
}

/// Spellings of one word, from SPDX's list of equivalent words.
const SPELLINGS: [(&str, &str); 24] = [
    ("licence", "license"),
    ("licences", "licenses"),
    ("licenced", "licensed"),
    ("sublicence", "sublicense"),
    ("acknowledgement", "acknowledgment"),
    ("analogue", "analog"),
    ("authorisation", "authorization"),
    ("authorised", "authorized"),
    ("calibre", "caliber"),
    ("cancelled", "canceled"),
    ("capitalisations", "capitalizations"),
    ("catalogue", "catalog"),
    ("categorise", "categorize"),
    ("centre", "center"),
    ("emphasised", "emphasized"),
    ("favour", "favor"),
    ("favourite", "favorite"),
    ("fulfil", "fulfill"),
    ("initialise", "initialize"),
    ("judgement", "judgment"),
    ("merchantibility", "merchantability"),
    ("noninfringment", "noninfringement"),
    ("organisation", "organization"),
    ("https", "http"),
];

impl Text {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            read_line(line, start, &mut words);
            start += line.len();
        }
        Self { words }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.text.as_str())
    }

    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.first)
    }

    /// The words from `at` to the end of its line.
    pub(super) fn line(&self, at: usize) -> &[Word] {
        let end = (at + 1..self.words.len()).find(|next| self.words[*next].first);
        self.words.get(at..end.unwrap_or(self.words.len())).unwrap_or_default()
    }

    /// The bytes of these words.
    pub(super) fn bytes(&self, words: Range<usize>) -> Range<usize> {
        let of = |at: usize| self.words.get(at).map(|word| word.bytes.clone());
        let first = of(words.start).unwrap_or(0..0);
        let last = words.end.checked_sub(1).and_then(of).unwrap_or_else(|| first.clone());
        first.start..last.end.max(first.start)
    }

    /// The first word at or after `at` that is of no copyright notice.
    pub(super) fn skip_notices(&self, mut at: usize) -> usize {
        while self.starts_line(at) && is_notice(self.line(at)) {
            at += self.line(at).len();
        }
        at
    }

    /// The same text without the copyright notices that its lines are.
    pub(super) fn without_notices(&self) -> Self {
        let mut words = Vec::with_capacity(self.len());
        let mut at = 0;
        while at < self.len() {
            let line = self.line(at);
            if !is_notice(line) {
                words.extend_from_slice(line);
            }
            at += line.len();
        }
        Self { words }
    }
}

/// Whether a line says whose it is, and since when, and no more.
fn is_notice(line: &[Word]) -> bool {
    let word = |at: usize| line.get(at).map_or("", |word| word.text.as_str());
    let begins = match (word(0), word(1), word(2)) {
        ("copyright" | "copyrights" | "©", ..)
        | ("portions", "copyright", _)
        | ("spdx", "filecopyrighttext" | "license", _)
        | ("all", "rights", "reserved") => true,
        ("c", first, second) => {
            first == "copyright"
                || first.starts_with(|c: char| c.is_ascii_digit()) && !second.is_empty()
        }
        _ => false,
    };
    if !begins || line.len() > NOTICE {
        return false;
    }
    // `SPDX-License-Identifier: MIT` says the word itself.
    let from = if word(0) == "spdx" { 3 } else { 1 };
    line.iter().skip(from).all(|word| !is_term(&word.text))
}

fn read_line(line: &str, start: usize, words: &mut Vec<Word>) {
    let mut first = true;
    let mut at = 0;
    let bullet = bullet(line);
    if bullet > 0 {
        at = bullet;
    }
    let mut characters = line[at..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        let begin = at + offset;
        let mut end = begin + character.len_utf8();
        if character == '©' {
            push("copyright", start + begin..start + end, &mut first, words);
            continue;
        }
        if !character.is_alphanumeric() {
            continue;
        }
        while let Some((next, character)) = characters.peek() {
            // An apostrophe in a word is of the word.
            let joins = character.is_alphanumeric()
                || matches!(character, '\'' | '’')
                    && line[at + next + character.len_utf8()..].starts_with(char::is_alphanumeric);
            if !joins {
                break;
            }
            end = at + next + character.len_utf8();
            characters.next();
        }
        let word: String = line[begin..end]
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        let word = SPELLINGS
            .iter()
            .find(|(other, _)| *other == word)
            .map_or(word.as_str(), |(_, one)| *one);
        push(word, start + begin..start + end, &mut first, words);
    }
}

fn push(word: &str, bytes: Range<usize>, first: &mut bool, words: &mut Vec<Word>) {
    words.push(Word { text: word.to_owned(), bytes, first: std::mem::take(first) });
}

/// How many bytes of a line are its bullet: `1.`, `(a)`, `iv)`, `2.1`.
fn bullet(line: &str) -> usize {
    let trimmed = line.trim_start_matches(|c: char| c.is_whitespace() || "#*-•>/;|".contains(c));
    let indent = line.len() - trimmed.len();
    let (open, rest) = match trimmed.strip_prefix('(') {
        Some(rest) => (1, rest),
        None => (0, trimmed),
    };
    let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
    let mark = rest[..len].trim_end_matches('.');
    let is_mark = !mark.is_empty()
        && mark.split('.').all(|part| {
            part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit())
                || part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_alphabetic())
                || part.len() <= 4 && part.bytes().all(|byte| matches!(byte, b'i' | b'v' | b'x'))
        });
    let after = &rest[len..];
    let closed = after.starts_with(')');
    let dotted = rest[..len].ends_with('.');
    let ends = if open == 1 { closed } else { closed || dotted };
    // `C. Smith` is a name, and `(c)` the copyright sign.
    if !is_mark
        || !ends
        || open == 1
            && mark.eq_ignore_ascii_case("c")
            && after[1..]
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || c == '<' || c == 'C')
    {
        return 0;
    }
    let text = &after[usize::from(closed)..];
    if text.starts_with(|c: char| c.is_alphanumeric()) {
        return 0;
    }
    indent + open + len + usize::from(closed)
}
