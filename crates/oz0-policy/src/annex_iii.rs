//! Words that point at an area of the AI Act's Annex III.
//!
//! A system's class turns on what it is meant for, which no list of words can tell. So what is found here is a question to
//! a person, and never a classification. Plain software says *recruit*, *border*, *candidate* and *election* all day: the
//! data file has the phrases that point at an area, and beside them the phrases that only look alike.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::DataError;

/// How many words `...` may stand for.
const GAP: usize = 3;

/// How many gaps a phrase may have.
const GAPS: usize = 2;

/// An area of Annex III.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area<'t> {
    /// Its point in the annex, from 1 to 8.
    pub number: u8,
    /// Its name, as a noun phrase without an article.
    pub name: &'t str,
    phrases: Vec<Phrase<'t>>,
    look_alikes: Vec<Phrase<'t>>,
}

/// Words of a text that point at an area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'a> {
    /// The area.
    pub area: &'a Area<'a>,
    /// The words, as bytes of the text.
    pub range: Range<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'t> {
    /// Where the words are known from.
    #[serde(borrow)]
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the data file"))]
    sources: Vec<&'t str>,
    #[serde(borrow)]
    area: Vec<Row<'t>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'t> {
    number: u8,
    name: &'t str,
    phrases: Vec<&'t str>,
    look_alikes: Vec<&'t str>,
}

/// A phrase, as the words that a text must have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase<'t>(Vec<Part<'t>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part<'t> {
    Word(&'t str),
    Gap,
}

impl<'t> Phrase<'t> {
    /// A phrase begins and ends with a word, and has [`GAPS`] gaps at most: each multiplies what a text is searched for.
    fn read(text: &'t str) -> Result<Self, DataError> {
        let part = |word| if word == "..." { Part::Gap } else { Part::Word(word) };
        let parts: Vec<Part<'t>> = text.split_whitespace().map(part).collect();
        let is_word = |part: Option<&Part<'_>>| matches!(part, Some(Part::Word(_)));
        let gaps = parts.iter().filter(|part| **part == Part::Gap).count();
        let readable = |word: &str| matches!(words(word).as_slice(), [read] if read.text == word);
        let fault = if !is_word(parts.first()) || !is_word(parts.last()) {
            "does not begin and end with a word"
        } else if gaps > GAPS {
            "has more gaps than a text can be searched for"
        } else if !parts
            .iter()
            .all(|part| matches!(part, Part::Word(word) if readable(word)) || *part == Part::Gap)
        {
            "has a word that no text has"
        } else {
            return Ok(Self(parts));
        };
        Err(DataError::new(text, fault))
    }

    /// How many of `words`, from the first, the phrase takes.
    fn take(&self, words: &[Word]) -> Option<usize> {
        take(&self.0, words)
    }
}

fn take(parts: &[Part<'_>], words: &[Word]) -> Option<usize> {
    let Some((first, rest)) = parts.split_first() else { return Some(0) };
    match first {
        Part::Word(word) => {
            words.first().filter(|found| found.is(word))?;
            take(rest, &words[1..]).map(|taken| taken + 1)
        }
        Part::Gap => (0..=GAP.min(words.len()))
            .find_map(|skipped| take(rest, &words[skipped..]).map(|taken| taken + skipped)),
    }
}

/// A word of a text, in lower case.
struct Word {
    text: String,
    range: Range<usize>,
}

impl Word {
    /// Whether it is this word, or its plural.
    fn is(&self, word: &str) -> bool {
        let Some(end) = self.text.strip_prefix(word) else {
            return word
                .strip_suffix('y')
                .is_some_and(|stem| self.text.strip_prefix(stem).is_some_and(|end| end == "ies"));
        };
        matches!(end, "" | "s" | "es")
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(Word { text: text[from..at].to_lowercase(), range: from..at });
                start = None;
            }
            _ => {}
        }
    }
    // `workers'` and `student's` are the words without their marks.
    words.retain(|word| word.text != "s");
    words
}

/// The data file.
const TEXT: &str = include_str!("../data/annex-iii.toml");

static AREAS: LazyLock<Vec<Area<'static>>> =
    LazyLock::new(|| read(TEXT).expect("a test reads the data file"));

/// Reads a text as the data file is read. Strings in it have no escapes.
///
/// # Errors
///
/// [`DataError`] when the text is not of the file's shape: a phrase twice in one area, or one that no text could have.
pub fn read(text: &str) -> Result<Vec<Area<'_>>, DataError> {
    let file: File<'_> = toml::from_str(text)?;
    file.area.into_iter().map(Area::read).collect()
}

impl<'t> Area<'t> {
    fn read(row: Row<'t>) -> Result<Self, DataError> {
        let mut seen = BTreeSet::new();
        let mut texts = row.phrases.iter().chain(&row.look_alikes);
        if let Some(twice) = texts.find(|phrase| !seen.insert(**phrase)) {
            return Err(DataError::new(twice, "stands there twice"));
        }
        let phrases = |texts: Vec<&'t str>| -> Result<Vec<Phrase<'t>>, DataError> {
            texts.into_iter().map(Phrase::read).collect()
        };
        Ok(Self {
            number: row.number,
            name: row.name,
            phrases: phrases(row.phrases)?,
            look_alikes: phrases(row.look_alikes)?,
        })
    }
}

/// The areas, in the annex's order.
pub fn areas() -> &'static [Area<'static>] {
    &AREAS
}

/// The words of a text that point at an area, by area and then in the order of the text. Of mentions of one area that
/// overlap, the one that begins first stands, and of those the longest. Takes time in the length of the text.
pub fn mentions(text: &str) -> Vec<Mention<'static>> {
    mentions_of(areas(), text)
}

/// [`mentions`] of other areas than the annex's.
pub fn mentions_of<'a>(areas: &'a [Area<'a>], text: &str) -> Vec<Mention<'a>> {
    let words = words(text);
    let mut mentions = Vec::new();
    for area in areas {
        let longest = |phrases: &[Phrase<'_>], at: usize| {
            phrases.iter().filter_map(|phrase| phrase.take(&words[at..])).max()
        };
        // How far the look-alikes reach that begin at a word or before it.
        let mut reach = 0;
        let reaches: Vec<usize> = (0..words.len())
            .map(|at| {
                reach = reach.max(longest(&area.look_alikes, at).map_or(0, |taken| at + taken));
                reach
            })
            .collect();
        let mut at = 0;
        while at < words.len() {
            let Some(taken) = longest(&area.phrases, at) else {
                at += 1;
                continue;
            };
            let found = at..at + taken;
            if found.end <= reaches[found.start] {
                at += 1;
                continue;
            }
            let range = words[found.start].range.start..words[found.end - 1].range.end;
            mentions.push(Mention { area, range });
            at = found.end;
        }
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_areas_are_the_annexs_eight_in_its_order() {
        let numbers: Vec<u8> = areas().iter().map(|area| area.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn the_data_file_says_where_it_is_from() {
        let file: File<'_> = toml::from_str(TEXT).unwrap();
        assert!(!file.sources.is_empty());
    }

    #[test]
    fn a_file_of_another_shape_is_refused_with_the_phrase_and_why() {
        let file = |phrases: &str| {
            format!(
                "sources = []\n[[area]]\nnumber = 1\nname = \"a\"\nphrases = [{phrases}]\nlook_alikes = []\n"
            )
        };
        let text = file(r#""one ... two ... three""#);
        let areas = read(&text).unwrap();
        let found = mentions_of(&areas, "One and two and so on: THREE");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].range, 0..28);
        for (phrases, says) in [
            (r#""a b", "a b""#, "a b: stands there twice"),
            (r#""... a""#, "... a: does not begin and end with a word"),
            (r#""a ...""#, "a ...: does not begin and end with a word"),
            (r#""""#, "does not begin and end with a word"),
            (r#""a ... b ... c ... d""#, "has more gaps"),
            (r#""Upper""#, "Upper: has a word that no text has"),
            (r#""two-words""#, "two-words: has a word that no text has"),
            ("1", "expected"),
        ] {
            let error = read(&file(phrases)).unwrap_err().to_string();
            assert!(error.contains(says), "{phrases}: {error}");
        }
    }
}
