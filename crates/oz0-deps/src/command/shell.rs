//! A shell's text as its simple commands, each as words.
//!
//! Quotes, escapes, comments and what separates commands are read as POSIX has them. What a shell computes (variables,
//! patterns, arithmetic) stays as it is written; the commands of a substitution count like any other.

use std::borrow::Cow;

use super::Word;

/// The simple commands of a text.
pub(super) fn commands<'t>(text: &'t Word<'t>) -> Vec<Vec<Word<'t>>> {
    let source = &*text.text;
    let mut lexer = Lexer { word: text, commands: vec![Vec::new()], current: None };
    let mut chars = source.char_indices().peekable();
    let mut in_double = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // A line that goes on, or the end.
                Some((_, '\n')) | None => {}
                Some((_, next)) => {
                    // In double quotes a backslash escapes only what would mean something.
                    if in_double && !matches!(next, '"' | '\\' | '$' | '`') {
                        lexer.push(at, '\\');
                    }
                    lexer.push(at, next);
                }
            },
            '"' => {
                in_double = !in_double;
                lexer.open(at);
            }
            '\'' if !in_double => {
                lexer.open(at);
                for (at, c) in chars.by_ref().take_while(|(_, c)| *c != '\'') {
                    lexer.push(at, c);
                }
            }
            '$' if chars.peek().is_some_and(|(_, next)| *next == '(') => {}
            // A substitution's command is one of its own, also in quotes; what stands around it is then one more.
            '`' | '(' | ')' => lexer.separate(at),
            _ if in_double => lexer.push(at, c),
            ';' | '&' | '|' | '\n' => lexer.separate(at),
            '#' if lexer.current.is_none() => {
                while chars.peek().is_some_and(|(_, next)| *next != '\n') {
                    chars.next();
                }
            }
            c if c.is_whitespace() => lexer.finish(at),
            _ => lexer.push(at, c),
        }
    }
    lexer.separate(source.len());
    lexer.commands.retain(|words| !words.is_empty());
    lexer.commands
}

struct Lexer<'t> {
    word: &'t Word<'t>,
    commands: Vec<Vec<Word<'t>>>,
    /// The word that is being read: where it begins, and its text.
    current: Option<(usize, String)>,
}

impl Lexer<'_> {
    fn open(&mut self, at: usize) {
        self.current.get_or_insert_with(|| (at, String::new()));
    }

    fn push(&mut self, at: usize, c: char) {
        self.open(at);
        if let Some((_, text)) = &mut self.current {
            text.push(c);
        }
    }

    fn finish(&mut self, at: usize) {
        let Some((start, text)) = self.current.take() else { return };
        // A word in one pair of quotes has the place of what is in them.
        let raw = &self.word.text[start..at];
        let inner = ['"', '\'']
            .into_iter()
            .find_map(|quote| raw.strip_prefix(quote)?.strip_suffix(quote))
            .filter(|inner| **inner == *text);
        let range = match inner {
            Some(inner) => start + 1..start + 1 + inner.len(),
            None => start..at,
        };
        let raw = self.word.place(range);
        let word = Word { text: Cow::Owned(text), index: self.word.index, raw };
        if let Some(words) = self.commands.last_mut() {
            words.push(word);
        }
    }

    fn separate(&mut self, at: usize) {
        self.finish(at);
        self.commands.push(Vec::new());
    }
}
