//! Strings that a source holds, whole or in parts, with the places of their characters.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use ruff_python_ast::{
    Expr, ExprBinOp, ExprCall, ExprFString, FStringPart, InterpolatedStringElement, Operator,
};
use ruff_text_size::{Ranged as _, TextRange};

/// A string's value, and where each part of it stands in the source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Constant {
    pub(crate) text: String,
    pieces: Vec<Piece>,
    /// Where the first part is in the value that only the running program knows: [`HOLE`] stands there.
    pub(crate) hole: Option<usize>,
}

/// What stands for a part that only the running program knows. It ends a name's first part no more than the real one might.
const HOLE: &str = "_";

#[derive(Debug, Clone)]
struct Piece {
    /// Where it begins in the value.
    at: usize,
    source: Range<usize>,
    /// Whether the source holds it letter by letter, without escapes.
    exact: bool,
}

impl Constant {
    /// Adds what the source says at `source`.
    pub(crate) fn push(&mut self, text: &str, value: &str, source: Range<usize>) {
        let exact = text.get(source.clone()) == Some(value);
        self.pieces.push(Piece { at: self.text.len(), source, exact });
        self.text.push_str(value);
    }

    fn push_hole(&mut self, source: Range<usize>) {
        self.hole.get_or_insert(self.text.len());
        self.pieces.push(Piece { at: self.text.len(), source, exact: false });
        self.text.push_str(HOLE);
    }

    /// Fills parts of the value with holes of their length, which leaves every place as it is.
    fn fill(&mut self, parts: &[Range<usize>]) {
        for part in parts {
            self.text.replace_range(part.clone(), &HOLE.repeat(part.len()));
        }
        let first = parts.first().map(|part| part.start);
        self.hole = self.hole.into_iter().chain(first).min();
    }

    fn append(&mut self, other: &Self) {
        let at = self.text.len();
        self.hole = self.hole.or(other.hole.map(|hole| at + hole));
        self.text.push_str(&other.text);
        self.pieces
            .extend(other.pieces.iter().map(|piece| Piece { at: at + piece.at, ..piece.clone() }));
    }

    /// It, and another one behind a blank.
    pub(crate) fn with_word(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.text.push(' ');
        both.append(other);
        both
    }

    /// Where a part of the value stands in the source: exactly, unless escapes stand there; then the literal is the place.
    pub(crate) fn source(&self, value: &Range<usize>) -> Range<usize> {
        let start = self.piece(value.start);
        let end = self.piece(value.end.saturating_sub(1).max(value.start));
        match (start, end) {
            (Some(start), Some(end)) => {
                let from = if start.exact {
                    start.source.start + (value.start - start.at)
                } else {
                    start.source.start
                };
                let to = if end.exact {
                    end.source.start + (value.end - end.at)
                } else {
                    end.source.end
                };
                // The parts of a variable may stand behind the literals that it is added to.
                if from <= to { from..to } else { start.source.clone() }
            }
            _ => 0..0,
        }
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let index = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(index.saturating_sub(1))
    }
}

/// The constants that names stand for: every one that is assigned anywhere, since no reader knows which came last.
#[derive(Debug, Default)]
pub(crate) struct Names {
    values: HashMap<String, Vec<Constant>>,
    /// How many bytes of constants may still be made, so that sums of sums end.
    left: usize,
    /// Whether that was not enough.
    exhausted: bool,
    /// Whether the last expression stands for more strings than were made of it.
    dropped: Cell<bool>,
    /// Names of which not every string was made.
    lost: HashSet<String>,
}

/// How many constants a sum may stand for.
const ALTERNATIVES: usize = 16;

impl Names {
    /// For a source of this many bytes.
    pub(crate) fn new(source: usize) -> Self {
        Self { left: source.saturating_mul(4) + 4096, ..Self::default() }
    }

    pub(crate) fn assign(&mut self, name: &str, text: &str, value: &Expr) {
        let (constants, lost) = self.strings(text, value);
        if lost {
            self.lost.insert(name.to_owned());
        }
        if !constants.is_empty() {
            self.values.entry(name.to_owned()).or_default().extend(constants);
        }
    }

    /// The strings that an expression can be, and whether it can be others too, which were too many to make.
    pub(crate) fn strings(&mut self, text: &str, value: &Expr) -> (Vec<Constant>, bool) {
        let parts = self.has_lost(value);
        if self.exhausted {
            return (Vec::new(), parts || is_made(value));
        }
        self.dropped.set(false);
        let constants = fold(text, value, self);
        let bytes: usize = constants.iter().map(|constant| constant.text.len() + 16).sum();
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                (constants, parts || self.dropped.get())
            }
            None => {
                self.exhausted = true;
                (Vec::new(), true)
            }
        }
    }

    fn has_lost(&self, value: &Expr) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let mut found = false;
        each_name(value, &mut |name| found |= self.lost.contains(name));
        found
    }

    fn get(&self, name: &str) -> &[Constant] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Whether an expression makes a string, of literals or of what names stand for.
fn is_made(value: &Expr) -> bool {
    let mut made = matches!(
        value,
        Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) | Expr::BinOp(_)
    );
    each_name(value, &mut |_| made = true);
    made
}

/// The names whose constants an expression is made of.
fn each_name<'e>(value: &'e Expr, found: &mut impl FnMut(&'e str)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Expr::Name(name) => found(&name.id),
            Expr::BinOp(sum) => open.extend([&*sum.left, &*sum.right]),
            Expr::If(choice) => open.extend([&*choice.body, &*choice.orelse]),
            Expr::BoolOp(choice) => open.extend(&choice.values),
            Expr::Named(walrus) => open.push(&walrus.value),
            Expr::Call(call) => open.extend(passed_through(call)),
            _ => {}
        }
    }
}

pub(crate) fn bytes(range: TextRange) -> Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

/// The strings that an expression can be, as far as its own literals and the constants of `names` tell: a literal, adjacent
/// literals, bytes, an f-string, a sum of these, a choice between these, what `%` and `format` fill, and what is only
/// unindented, stripped, encoded or compiled. A part that is not known is a hole. Nothing, where no part is known.
pub(crate) fn fold(text: &str, expr: &Expr, names: &Names) -> Vec<Constant> {
    match expr {
        Expr::StringLiteral(literal) => {
            let mut constant = Constant::default();
            for part in literal.value.as_slice() {
                constant.push(text, &part.value, bytes(inner(part.range, part.flags)));
            }
            vec![constant]
        }
        Expr::BytesLiteral(literal) => {
            let mut constant = Constant::default();
            for part in literal.value.as_slice() {
                let range = bytes(inner(part.range, part.flags));
                constant.push(text, &String::from_utf8_lossy(&part.value), range);
            }
            vec![constant]
        }
        Expr::FString(literal) => interpolated(text, literal, names).into_iter().collect(),
        Expr::BinOp(sum) if sum.op == Operator::Add => added(text, sum, names),
        Expr::BinOp(filled) if filled.op == Operator::Mod => {
            let mut constants = fold(text, &filled.left, names);
            for constant in &mut constants {
                constant.fill(&conversions(&constant.text));
            }
            constants
        }
        Expr::If(choice) => {
            let mut both = fold(text, &choice.body, names);
            both.extend(fold(text, &choice.orelse, names));
            both
        }
        Expr::BoolOp(choice) => {
            choice.values.iter().flat_map(|value| fold(text, value, names)).collect()
        }
        Expr::Named(walrus) => fold(text, &walrus.value, names),
        Expr::Name(name) => names.get(&name.id).to_vec(),
        Expr::Call(call) => {
            let Some(value) = passed_through(call) else { return Vec::new() };
            let mut constants = fold(text, value, names);
            if is_format(call) {
                for constant in &mut constants {
                    constant.fill(&fields(&constant.text));
                }
            }
            constants
        }
        _ => Vec::new(),
    }
}

/// The parts of a text that `%` fills: `%s`, `%(name)s`, `%-5.2f`.
fn conversions(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'%', &bytes[at..]).map(|next| at + next) {
        let mut end = start + 1;
        if bytes.get(end) == Some(&b'(') {
            let Some(close) = memchr::memchr(b')', &bytes[end..]) else { break };
            end += close + 1;
        }
        let flag =
            |byte: &u8| matches!(byte, b'#' | b'-' | b'+' | b' ' | b'.' | b'*' | b'0'..=b'9');
        end += bytes[end..].iter().take_while(|byte| flag(byte)).count();
        if bytes.get(end).is_some_and(u8::is_ascii) {
            end += 1;
        }
        found.push(start..end);
        at = end;
    }
    found
}

/// The parts of a text that `format` fills: `{}`, `{name!r:>5}`.
fn fields(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'{', &bytes[at..]).map(|next| at + next) {
        let Some(end) = memchr::memchr(b'}', &bytes[start..]).map(|next| start + next + 1) else {
            break;
        };
        found.push(start..end);
        at = end;
    }
    found
}

fn is_format(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Attribute(method) if method.attr.id == "format")
}

/// An f-string, whose fields may be constants themselves: `f"import {'a'}"`. Nothing, if all of it is unknown.
fn interpolated(text: &str, literal: &ExprFString, names: &Names) -> Option<Constant> {
    let mut constant = Constant::default();
    for part in literal.value.as_slice() {
        let part = match part {
            FStringPart::Literal(part) => {
                constant.push(text, &part.value, bytes(inner(part.range, part.flags)));
                continue;
            }
            FStringPart::FString(part) => part,
        };
        for element in &part.elements {
            match element {
                InterpolatedStringElement::Literal(element) => {
                    constant.push(text, &element.value, bytes(element.range));
                }
                InterpolatedStringElement::Interpolation(field) => {
                    let plain = field.format_spec.is_none() && field.debug_text.is_none();
                    match fold(text, &field.expression, names).as_slice() {
                        [one] if plain => constant.append(one),
                        _ => constant.push_hole(bytes(field.range)),
                    }
                }
            }
        }
    }
    (constant.hole.is_none() || constant.text.len() > HOLE.len()).then_some(constant)
}

/// A sum, whose left side is as deep as the sum is long.
fn added(text: &str, sum: &ExprBinOp, names: &Names) -> Vec<Constant> {
    let mut terms = vec![&*sum.right];
    let mut left = &*sum.left;
    while let Expr::BinOp(sum) = left
        && sum.op == Operator::Add
    {
        terms.push(&*sum.right);
        left = &sum.left;
    }
    let mut known = false;
    let mut parts = |term: &Expr| {
        let mut constants = fold(text, term, names);
        known |= !constants.is_empty();
        if constants.is_empty() {
            let mut hole = Constant::default();
            hole.push_hole(bytes(term.range()));
            constants.push(hole);
        }
        constants
    };
    let mut heads = parts(left);
    for term in terms.into_iter().rev() {
        let tails = parts(term);
        if heads.len() * tails.len() > ALTERNATIVES {
            names.dropped.set(true);
            return Vec::new();
        }
        if let [tail] = tails.as_slice() {
            for head in &mut heads {
                head.append(tail);
            }
            continue;
        }
        let joined = |head: &Constant| {
            let with = |tail: &Constant| {
                let mut head = head.clone();
                head.append(tail);
                head
            };
            tails.iter().map(with).collect::<Vec<_>>()
        };
        heads = heads.iter().flat_map(joined).collect();
    }
    if known { heads } else { Vec::new() }
}

/// What a call hands on nearly as it is: `textwrap.dedent(code)`, `code.strip()`, `compile(code, …)`.
fn passed_through(call: &ExprCall) -> Option<&Expr> {
    let (name, receiver) = match &*call.func {
        Expr::Name(name) => (name.id.as_str(), None),
        Expr::Attribute(method) => (method.attr.id.as_str(), Some(&*method.value)),
        _ => return None,
    };
    match name {
        "strip" | "lstrip" | "rstrip" | "encode" | "decode"
            if call.arguments.args.iter().all(Expr::is_literal_expr) =>
        {
            receiver
        }
        "format" => receiver,
        "dedent" | "cleandoc" | "compile" | "str" | "bytes" => call.arguments.args.first(),
        _ => None,
    }
}

/// The range between a literal's quotes.
fn inner(range: TextRange, flags: impl ruff_python_ast::StringFlags) -> TextRange {
    let start = range.start() + flags.opener_len();
    let end = range.end() - flags.closer_len();
    if start <= end { TextRange::new(start, end) } else { TextRange::new(range.end(), range.end()) }
}

/// The identifier that an expression assigns to.
pub(crate) fn target(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr.id),
        _ => None,
    }
}
