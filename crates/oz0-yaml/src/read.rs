//! From text to tree: the parser's events are gathered into a flat draft, then [`crate::resolve`]
//! makes nodes out of it. Both walk without recursion or with a bounded one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, Span, StructureStyle, Tag};

use crate::node::{Comment, Node, Style};
use crate::place::{first_on_line, floor, line_end, skip_space};
use crate::problem::{Problem, ProblemKind};
use crate::recover::Recovery;
use crate::{Limits, resolve};

/// What a text says, and all that is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The document. Nothing where the text holds none (it is empty, or all comments), or where none
    /// could be read.
    pub root: Option<Node>,
    /// Every comment that was read, in the order of the text.
    pub comments: Vec<Comment>,
    /// Every problem, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Reads a text. Problems of the text never keep the rest of it from being read as far as that can be
/// done; see [`ProblemKind::hides_text`] for those that leave something out of the tree.
///
/// A byte order mark at the start is skipped; ranges count it.
pub fn parse(text: &str, limits: &Limits) -> Parsed {
    if text.len() > limits.bytes {
        let from = floor(text, limits.bytes);
        let message = format!("the text is longer than {} bytes", limits.bytes);
        let range = from..text.len().min(from + 1).max(floor(text, from + 1));
        let problem = Problem::new(ProblemKind::TooLarge, range, message)
            .help("split it, or remove what does not belong here");
        return Parsed { problems: vec![problem], ..Parsed::default() };
    }
    let mut recovery = Recovery::new(text);
    let mut comments = BTreeMap::new();
    loop {
        let mut draft = Draft::read(recovery.text());
        comments.extend(draft.comments.drain(..).map(|comment| (comment.range.start, comment)));
        if let Some(failure) = draft.failure.take()
            && recovery.repair(&failure)
        {
            continue;
        }
        draft.fit(text);
        let (mut problems, too_deep) = recovery.into_problems();
        let root = resolve::resolve(text, draft, limits, &mut problems);
        if !problems.iter().any(|problem| problem.kind == ProblemKind::TooDeep) {
            problems.extend(too_deep);
        }
        problems.sort_by_key(|problem| (problem.range.start, problem.range.end, problem.kind));
        return Parsed { root, comments: comments.into_values().collect(), problems };
    }
}

/// Where and how the parser gave up.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) offset: usize,
    pub(crate) kind: ErrorKind,
    pub(crate) words: String,
    /// Where the collections begin that were open then, the innermost last.
    pub(crate) open: Vec<(Style, usize)>,
}

/// Index into [`Draft::nodes`].
pub(crate) type Id = usize;

/// The first document of a text as its events told it, aliases unresolved.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) nodes: Vec<Raw>,
    pub(crate) root: Option<Id>,
    pub(crate) comments: Vec<Comment>,
    /// The first and the second document's beginning, where there are two.
    pub(crate) documents: Option<(usize, Range<usize>)>,
    pub(crate) failure: Option<Failure>,
}

/// A node of the draft.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) range: Range<usize>,
    pub(crate) outer: Range<usize>,
    pub(crate) style: Style,
    pub(crate) content: Content,
    pub(crate) tag: Option<(Tag, Range<usize>)>,
    pub(crate) anchor: bool,
}

#[derive(Debug)]
pub(crate) enum Content {
    Scalar(String),
    Sequence(Vec<Id>),
    /// Keys and values in turn. An odd last one is a key whose value was not read any more.
    Mapping(Vec<Id>),
    Alias(Id),
    UnknownAlias(String),
}

impl Draft {
    fn read(text: &str) -> Self {
        let mut options = Options::default();
        options.emit_unresolved_aliases = true;
        options.emit_anchor_events = true;
        options.max_buffered_comment_events = usize::MAX;
        let mut reader = Reader {
            text,
            draft: Self::default(),
            open: Vec::new(),
            anchors: HashMap::new(),
            newest: None,
            last_end: 0,
            documents: 0,
        };
        for event in Parser::new_from_str_with_options(text, options) {
            match event {
                Ok((event, span)) => reader.event(event, &span),
                Err(error) => {
                    let offset = error.marker().byte_offset().unwrap_or(text.len());
                    reader.draft.failure = Some(Failure {
                        offset: floor(text, offset),
                        kind: error.kind().clone(),
                        words: error.info(),
                        open: reader.open_collections(),
                    });
                    break;
                }
            }
        }
        while !reader.open.is_empty() {
            reader.close(None);
        }
        reader.draft
    }

    /// Makes every place one of the text that was handed in. The text that was read may have had a
    /// character of several bytes overwritten, and then has places inside of it.
    fn fit(&mut self, text: &str) {
        let tags =
            self.nodes.iter_mut().filter_map(|node| node.tag.as_mut().map(|(_, place)| place));
        tags.for_each(|place| *place = floor(text, place.start)..floor(text, place.end));
        for node in &mut self.nodes {
            for range in [&mut node.range, &mut node.outer] {
                *range = floor(text, range.start)..floor(text, range.end);
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    draft: Draft,
    /// The collections that are open, the innermost last.
    open: Vec<Id>,
    /// The parser's anchor numbers.
    anchors: HashMap<usize, Id>,
    /// The node that an anchor event is about.
    newest: Option<Id>,
    /// Where the last token ended that belongs to a node.
    last_end: usize,
    documents: usize,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, span: &Span) {
        let range = span.byte_range().unwrap_or(self.text.len()..self.text.len());
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::Comment(text, _) => self.draft.comments.push(Comment {
                own_line: first_on_line(self.text, range.start),
                text: text.into_owned(),
                range,
            }),
            Event::DocumentStart(..) => {
                self.documents += 1;
                match self.documents {
                    1 => self.draft.documents = Some((range.start, 0..0)),
                    2 => {
                        if let Some((_, second)) = &mut self.draft.documents {
                            *second = range.clone();
                        }
                    }
                    _ => {}
                }
                self.last_end = self.last_end.max(range.end);
            }
            // Only the first document is read; of the others just comments and syntax errors.
            _ if self.documents > 1 => {}
            Event::Scalar(value, style, anchor, tag) => {
                self.scalar(&value, style, anchor, tag, span, range);
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.begin(Content::Sequence(Vec::new()), style, anchor, tag, span, range);
            }
            Event::MappingStart(style, anchor, tag) => {
                self.begin(Content::Mapping(Vec::new()), style, anchor, tag, span, range);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(Some(range)),
            Event::Alias(number) => {
                let content = match self.anchors.get(&number) {
                    Some(id) => Content::Alias(*id),
                    None => Content::UnknownAlias(String::new()),
                };
                self.add(Style::Plain, content, 0, None, span, range);
            }
            Event::UnresolvedAlias(name) => {
                let content = Content::UnknownAlias(name.into_owned());
                self.add(Style::Plain, content, 0, None, span, range);
            }
            Event::Anchor(_, _) => {
                if let Some(node) = self.newest.and_then(|id| self.draft.nodes.get_mut(id)) {
                    node.outer.start = node.outer.start.min(range.start);
                }
                self.last_end = self.last_end.max(range.end);
            }
            // A kind of event that this version of the parser does not have.
            _ => {}
        }
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
        mut range: Range<usize>,
    ) {
        let style = match style {
            ScalarStyle::Plain if range.is_empty() => Style::Absent,
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let mut outer_end = range.end;
        match style {
            Style::Literal | Style::Folded => {
                let header = self.block_header(range.start);
                let indicators = self.text[header..]
                    .find(|c: char| !matches!(c, '|' | '>' | '+' | '-' | '0'..='9'))
                    .map_or(self.text.len(), |length| header + length);
                let content = self.text[range.clone()].trim_end_matches([' ', '\t', '\n', '\r']);
                outer_end = range.end.max(line_end(self.text, indicators));
                let end = if content.is_empty() { indicators } else { range.start + content.len() };
                range = header..end.max(indicators);
            }
            Style::Absent => {
                let at = self.absent_place(range.start);
                range = at..at;
                outer_end = at;
            }
            _ => {}
        }
        // The parser stands "~" in for what is not written.
        let value = if style == Style::Absent { "" } else { value };
        let content = Content::Scalar(value.to_owned());
        let id = self.add(style, content, anchor, tag, span, range);
        self.draft.nodes[id].outer.end = outer_end;
        self.last_end = self.last_end.max(outer_end);
    }

    /// Where the `|` or `>` of a block scalar stands. The parser tells only its content's place.
    fn block_header(&self, content: usize) -> usize {
        let at = self.token(content, &[':', '-', '?', ',']);
        if self.text[at..].starts_with(['|', '>']) { at } else { content }
    }

    /// Where the first dash of a block sequence stands. For one that is indented no deeper than its
    /// key, the parser tells the place behind it.
    fn first_dash(&self, told: usize) -> usize {
        let parent = self.open.last().map(|id| &self.draft.nodes[*id]);
        if !parent.is_some_and(|parent| matches!(parent.content, Content::Mapping(_))) {
            return told;
        }
        let at = self.token(told, &[':', '?']);
        if self.text[at..].starts_with('-') { at } else { told }
    }

    /// Where the next token begins behind the last one, tags, anchors and some indicators skipped.
    fn token(&self, upto: usize, skipped: &[char]) -> usize {
        let mut at = self.last_end.min(upto);
        loop {
            at = skip_space(self.text, at, |c| skipped.contains(&c));
            let rest = &self.text[at..];
            if !rest.starts_with(['&', '!']) {
                return at;
            }
            at += rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        }
    }

    /// Where a value that is not written would stand: right behind its `:` or `-`.
    fn absent_place(&self, told: usize) -> usize {
        let (is_value, key) = match self.open.last().map(|id| &self.draft.nodes[*id].content) {
            Some(Content::Mapping(ids)) if ids.len() % 2 == 1 => (true, ids.last()),
            _ => (false, None),
        };
        if let (true, Some(key)) = (is_value, key) {
            let key = &self.draft.nodes[*key];
            let end = key.outer.end;
            // An absent key's `:` is the first character behind where the key would stand.
            let colon = skip_space(self.text, end, |_| false);
            return if self.text[colon..].starts_with(':') { colon + 1 } else { end };
        }
        // The parser tells a place behind comments here.
        let dash = self.token(told, &[]);
        if self.text[dash..].starts_with('-') { dash + 1 } else { told }
    }

    fn begin(
        &mut self,
        content: Content,
        style: StructureStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
        mut range: Range<usize>,
    ) {
        if matches!((&content, style), (Content::Sequence(_), StructureStyle::Block)) {
            let dash = self.first_dash(range.start);
            range = dash..dash;
        }
        let style = match style {
            StructureStyle::Block => Style::Block,
            StructureStyle::Flow => Style::Flow,
        };
        let id = self.add(style, content, anchor, tag, span, range);
        self.open.push(id);
    }

    fn add(
        &mut self,
        style: Style,
        content: Content,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
        range: Range<usize>,
    ) -> Id {
        let id = self.draft.nodes.len();
        let tag = tag.map(|tag| {
            let place = span.tag_span().and_then(|span| span.byte_range());
            (tag.into_owned(), place.unwrap_or(range.clone()))
        });
        let start = tag.as_ref().map_or(range.start, |(_, place)| place.start.min(range.start));
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
        self.last_end = self.last_end.max(range.end);
        let outer = start..range.end;
        let node = Raw { range, outer, style, content, tag, anchor: anchor != 0 };
        self.draft.nodes.push(node);
        self.newest = Some(id);
        match self.open.last().map(|parent| &mut self.draft.nodes[*parent].content) {
            Some(Content::Sequence(ids) | Content::Mapping(ids)) => ids.push(id),
            _ => self.draft.root = self.draft.root.or(Some(id)),
        }
        id
    }

    /// Closes the innermost collection. Without a place it was left open.
    fn close(&mut self, end: Option<Range<usize>>) {
        let Some(id) = self.open.pop() else { return };
        let last = match &self.draft.nodes[id].content {
            Content::Sequence(ids) | Content::Mapping(ids) => ids.last().copied(),
            _ => None,
        };
        let last =
            last.map(|last| (self.draft.nodes[last].range.end, self.draft.nodes[last].outer.end));
        let node = &mut self.draft.nodes[id];
        // A block collection ends with its last value; where the parser says so comes too late. So
        // does the pair `a: b` in `[a: b]`, whose end the parser tells as an empty place.
        let (inner, outer) = match (node.style, end) {
            (Style::Flow, Some(end)) if !end.is_empty() => (end.end, end.end),
            _ => last.unwrap_or((node.range.end, node.range.end)),
        };
        node.range.end = inner.max(node.range.start);
        node.outer.end = outer.max(node.range.end);
        self.last_end = self.last_end.max(node.outer.end);
    }

    fn open_collections(&self) -> Vec<(Style, usize)> {
        let place = |id: &Id| (self.draft.nodes[*id].style, self.draft.nodes[*id].range.start);
        self.open.iter().map(place).collect()
    }
}
