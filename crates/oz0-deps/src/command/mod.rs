//! Command lines: which of the packages that are looked for one starts or installs.
//!
//! A server's own command is the most direct dependency that a plugin can have, and names it nowhere else: `uvx name`, `npx
//! name`, `python -m name`. Programs that start another one (`env`, `timeout`, `sh -c`, `uv run`) are looked through.

mod names;
mod options;
mod runner;
mod shell;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use names::requirement;

use crate::python::include;
use crate::{Package, Wanted};

/// How many programs may start each other in one command line.
const DEPTH: usize = 16;

/// A word of a command line that names a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named<'w> {
    /// The package.
    pub package: &'w Package,
    /// The word's index.
    pub word: usize,
    /// Where in the word the name stands, in bytes.
    pub range: Range<usize>,
}

/// A word of a command line that gives an installer a file of requirements: `uvx --with-requirements FILE`, `pip install -r FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequirementFile {
    /// The word's index.
    pub word: usize,
    /// Where in the word the path stands, in bytes.
    pub range: Range<usize>,
    /// The path from the folder that the command is run in. Nothing, when that is not in it: an address, a path that leads
    /// out, one with a variable in it.
    pub path: Option<String>,
}

/// What a command line brings in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Brought<'w> {
    /// The packages that it starts or installs, in the order of its words.
    pub named: Vec<Named<'w>>,
    /// The requirements files that it installs from.
    pub files: Vec<RequirementFile>,
}

/// What a command line starts or installs.
///
/// `words` are a program and its arguments, as the system would get them. What a program decides while it runs is not seen:
/// a script is not opened, a variable has no value.
pub fn command<'w>(words: &[&str], wanted: &'w Wanted) -> Brought<'w> {
    let words: Vec<Word<'_>> = words
        .iter()
        .enumerate()
        .map(|(index, text)| Word { text: Cow::Borrowed(text), index, raw: 0..text.len() })
        .collect();
    let mut search = Search::new(wanted, true);
    runner::run(&words, &mut search);
    let Brought { mut named, files } = search.found;
    named.sort_by_key(|named| (named.word, named.range.start));
    named.dedup();
    Brought { named, files }
}

/// The packages that the lines of a shell install, and where: not those whose programs are only started.
pub(crate) fn installs<'w>(script: &str, wanted: &'w Wanted) -> Vec<(&'w Package, Range<usize>)> {
    let text = Word { text: Cow::Borrowed(script), index: 0, raw: 0..script.len() };
    let mut search = Search::new(wanted, false);
    search.shell(&text);
    let mut found = search.found.named;
    found.sort_by_key(|named| named.range.start);
    found.dedup();
    found.into_iter().map(|named| (named.package, named.range)).collect()
}

/// A word, and where it stands in the words that were given.
#[derive(Debug, Clone)]
struct Word<'t> {
    text: Cow<'t, str>,
    /// The index of the given word that it is, or is in.
    index: usize,
    /// Where in that word.
    raw: Range<usize>,
}

impl Word<'_> {
    /// Where a part of it stands; all of it, where quotes or escapes keep that from being told.
    fn place(&self, part: Range<usize>) -> Range<usize> {
        if self.raw.len() == self.text.len() {
            self.raw.start + part.start..self.raw.start + part.end
        } else {
            self.raw.clone()
        }
    }

    /// The word from `at` on.
    fn from(&self, at: usize) -> Word<'_> {
        let range = self.place(at..self.text.len());
        Word { text: Cow::Borrowed(&self.text[at..]), index: self.index, raw: range }
    }
}

/// What is looked for, and what was found.
struct Search<'w> {
    wanted: &'w Wanted,
    found: Brought<'w>,
    depth: usize,
    /// Whether to start a package's program or module counts.
    starts: bool,
}

impl<'w> Search<'w> {
    fn new(wanted: &'w Wanted, starts: bool) -> Self {
        Self { wanted, found: Brought::default(), depth: 0, starts }
    }

    fn name(&mut self, package: &'w Package, word: &Word<'_>, part: Range<usize>) {
        self.found.named.push(Named { package, word: word.index, range: word.place(part) });
    }

    fn file(&mut self, word: &Word<'_>) {
        let text = &*word.text;
        let is_open = text.contains("://") || text.contains('$');
        let path = if is_open { None } else { include::join("", text) };
        let range = word.place(0..text.len());
        self.found.files.push(RequirementFile { word: word.index, range, path });
    }

    /// Looks through a program that this one starts.
    fn below(&mut self, words: &[Word<'_>]) {
        if self.depth < DEPTH {
            self.depth += 1;
            runner::run(words, self);
            self.depth -= 1;
            return;
        }
        // Further down nobody looks what a word does: that it names a package is enough.
        for word in words {
            let text = word.text.to_ascii_lowercase();
            let names = |package: &&'w Package| text.contains(&package.name);
            if let Some(package) = self.wanted.packages().iter().find(names) {
                self.name(package, word, 0..word.text.len());
            }
        }
    }

    /// Looks through a shell's text.
    fn shell(&mut self, text: &Word<'_>) {
        for words in shell::commands(text) {
            self.below(&words);
        }
    }
}
