//! How deeply a Python source can be nested, found out before it is parsed.
//!
//! The parser and every walk over its tree call themselves once a level. A level needs a token that makes one: an operator, a
//! bracket, a dot, a keyword. So a source of fewer bytes than [`LEVELS`] cannot be too deep, and of a longer one the tokens are
//! counted: along each element of each pair of brackets, and into the deepest bracket of it. That bounds the tree from above.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// How many levels are parsed.
pub(crate) const LEVELS: usize = 100_000;

/// How many f-strings may be open in each other: Python takes no more, and the parser reads such a source again for each.
const INTERPOLATED: usize = 150;

/// The source may have more levels than are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// Whether the source's tree is bounded by [`LEVELS`].
pub(crate) fn check(text: &str, mode: Mode) -> Result<(), TooDeep> {
    if interpolated(text, mode) > INTERPOLATED {
        return Err(TooDeep);
    }
    if text.len() <= LEVELS || bound(text, mode) <= LEVELS { Ok(()) } else { Err(TooDeep) }
}

/// How many f-strings are open in each other. Counted only where there are that many quotes that could begin one.
fn interpolated(text: &str, mode: Mode) -> usize {
    let bytes = text.as_bytes();
    let begins = |&at: &usize| {
        let before = at.checked_sub(1).map(|before| bytes[before].to_ascii_lowercase());
        matches!(before, Some(b'f' | b't' | b'r'))
    };
    let quotes = memchr::memchr2_iter(b'"', b'\'', bytes);
    if quotes.filter(begins).take(INTERPOLATED + 1).count() <= INTERPOLATED {
        return 0;
    }
    let mut lexer = lexer::lex(text, mode);
    let (mut open, mut deepest) = (0_usize, 0);
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return deepest,
            TokenKind::FStringStart | TokenKind::TStringStart => open += 1,
            TokenKind::FStringEnd | TokenKind::TStringEnd => open = open.saturating_sub(1),
            // One that nothing closes ends with its line.
            TokenKind::Newline => open = 0,
            _ => {}
        }
        deepest = deepest.max(open);
    }
}

/// What is open: a statement, or a pair of brackets in one.
#[derive(Default)]
struct Open {
    /// Levels of the element that is being read.
    element: usize,
    /// Levels that stay after a comma: a lambda's body is behind the commas of its parameters.
    kept: usize,
    /// The deepest brackets of this element.
    inner: usize,
    /// The deepest element.
    deepest: usize,
}

impl Open {
    fn comma(&mut self) {
        self.deepest = self.deepest.max(self.element + self.inner);
        self.element = 0;
        self.inner = 0;
    }

    fn levels(mut self) -> usize {
        self.comma();
        self.deepest + self.kept
    }
}

fn bound(text: &str, mode: Mode) -> usize {
    let mut lexer = lexer::lex(text, mode);
    let mut open = vec![Open::default()];
    let mut deepest = 0;
    let mut levels = 0;
    let mut broken = false;
    loop {
        let kind = lexer.next_token();
        let last = open.len() - 1;
        match kind {
            TokenKind::EndOfFile => break,
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Indent
            | TokenKind::Dedent => {}
            TokenKind::Comma => open[last].comma(),
            TokenKind::Newline if open.len() == 1 => {
                deepest = deepest.max(std::mem::take(&mut open[0]).levels());
            }
            TokenKind::Lambda => {
                levels += 1;
                open[last].kept += 1;
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                levels += 1;
                open[last].element += 1;
                open.push(Open::default());
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if open.len() == 1 {
                    broken = true;
                } else {
                    let inner = open.pop().expect("there are two").levels();
                    let outer = open.last_mut().expect("there was another");
                    outer.inner = outer.inner.max(inner);
                }
            }
            kind => {
                broken |= kind == TokenKind::Unknown;
                levels += 1;
                open[last].element += 1;
            }
        }
    }
    // The parser may read a broken source's tokens anew and otherwise: then only their number bounds it.
    if broken || open.len() > 1 {
        return levels;
    }
    deepest.max(open.pop().expect("the statement's own").levels())
}
