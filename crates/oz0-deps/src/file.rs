//! One file that is being read, and where its reader puts what it finds.

use std::ops::Range;
use std::sync::Arc;

use oz0_diagnostic::{SourceFile, Span};

use crate::tree::Tree;
use crate::{Ecosystem, How, Limits, Mention, Package, Unread, Via, Wanted};

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct File<'a> {
    /// From the tree's root, with `/`.
    pub(crate) path: &'a str,
    /// All of it: at most [`Limits::file_bytes`].
    pub(crate) bytes: &'a [u8],
    /// What is looked for.
    pub(crate) wanted: &'a Wanted,
    /// The tree, for what a file includes.
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) limits: &'a Limits,
}

impl<'a> File<'a> {
    /// The file's name, without its folders.
    pub(crate) fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The file's text, with its byte order mark, when it is UTF-8.
    pub(crate) fn text(&self) -> Result<&'a str, std::str::Utf8Error> {
        std::str::from_utf8(self.bytes)
    }
}

/// Where a reader puts what it finds in one file. Ranges are of the bytes of the text that the sink was made with.
#[derive(Debug)]
pub(crate) struct Sink {
    path: String,
    /// Made with the first finding: most files have none.
    source: Option<Arc<SourceFile>>,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) unread: Vec<Unread>,
    /// What is beyond [`Self::MOST`]: where the first of them is, and how many.
    more_mentions: Option<(Span, usize)>,
    more_unread: Option<(Span, usize)>,
}

impl Sink {
    pub(crate) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            source: None,
            mentions: Vec::new(),
            unread: Vec::new(),
            more_mentions: None,
            more_unread: None,
        }
    }

    /// How many mentions of one file are listed, and how many of its parts that are unread.
    pub(crate) const MOST: usize = 100;

    /// Whether a further mention is only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.mentions.len() >= Self::MOST
    }

    /// Says how much is not listed. Called when the file is read.
    pub(crate) fn close(&mut self) {
        if let Some((span, more)) = self.more_mentions.take() {
            let problem = format!("names what is looked for in {more} more places, not listed");
            self.unread.push(Unread { span, problem, help: None });
        }
        if let Some((span, more)) = self.more_unread.take() {
            let problem = format!("has {more} more parts that are not read, not listed");
            self.unread.push(Unread { span, problem, help: None });
        }
    }

    /// A place in `text`, which is the file's text as its reader decoded it, the same at each call.
    pub(crate) fn span(&mut self, text: &str, range: Range<usize>) -> Span {
        let source = self.source.get_or_insert_with(|| SourceFile::new(&*self.path, text));
        Span::new(source, range)
    }

    /// Says that the range names the package.
    pub(crate) fn mention(
        &mut self,
        package: &Package,
        how: How,
        text: &str,
        range: Range<usize>,
        via: Option<Via>,
    ) {
        if self.is_full() {
            match &mut self.more_mentions {
                Some((_, more)) => *more += 1,
                None => self.more_mentions = Some((self.span(text, range), 1)),
            }
            return;
        }
        let span = self.span(text, range);
        let (name, ecosystem): (_, Ecosystem) = (package.name.clone(), package.ecosystem);
        self.mentions.push(Mention { name, ecosystem, how, span, via });
    }

    /// Says that something of the file could not be read, in words that follow its name: "is no TOML: …".
    pub(crate) fn unread(
        &mut self,
        text: &str,
        range: Range<usize>,
        problem: impl Into<String>,
        help: Option<String>,
    ) {
        if self.unread.len() >= Self::MOST {
            match &mut self.more_unread {
                Some((_, more)) => *more += 1,
                None => self.more_unread = Some((self.span(text, range), 1)),
            }
            return;
        }
        let span = self.span(text, range);
        self.unread.push(Unread { span, problem: problem.into(), help });
    }
}
