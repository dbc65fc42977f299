//! JavaScript and TypeScript.
//!
//! A source is parsed in the dialect of its file's name, and in others when that fails. What cannot be parsed at all is looked
//! through for strings that could be an import's; one that names what is looked for is reported as unread, since nobody knows
//! whether it is an import. A source with no such string imports nothing, however broken it is.

mod component;
mod specifier;

use std::collections::HashSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BinaryOperator, CallExpression, ExportAllDeclaration, ExportFromDeclaration, Expression,
    ImportDeclaration, ImportExpression, StringLiteral, TSExternalModuleReference, TSImportType,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{SourceType, Span};

use super::decode;
use super::python::Problem;
use crate::file::{File, Sink};
use crate::{How, Package, Wanted, stack};

pub(crate) use component::read as read_component;

/// How a source is parsed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JavaScript with JSX.
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// A declaration file.
    Declarations,
}

impl Dialect {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".d.ts", ".d.mts", ".d.cts"]) {
            Self::Declarations
        } else if ends(&[".ts", ".mts", ".cts"]) {
            Self::TypeScript
        } else if ends(&[".tsx"]) {
            Self::Tsx
        } else {
            Self::JavaScript
        }
    }

    /// The ways to parse it, one after the other until one succeeds.
    fn attempts(self) -> [SourceType; 4] {
        let javascript = SourceType::unambiguous().with_jsx(true);
        let (ts, tsx) = (SourceType::ts(), SourceType::tsx());
        match self {
            Self::JavaScript => [javascript, SourceType::script().with_jsx(true), tsx, ts],
            Self::TypeScript => [ts, tsx, SourceType::d_ts(), javascript],
            Self::Tsx => [tsx, ts, SourceType::d_ts(), javascript],
            Self::Declarations => [SourceType::d_ts(), ts, tsx, javascript],
        }
    }
}

/// What a source says.
#[derive(Debug, Default)]
pub(crate) struct Findings<'w> {
    pub(crate) imports: Vec<(&'w Package, Range<usize>)>,
    pub(crate) problems: Vec<Problem>,
}

/// Reads a source file.
pub(crate) fn read(file: &File<'_>, sink: &mut Sink) {
    let wide = matches!(file.bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    if !wide && !file.wanted.traces().javascript(file.bytes) {
        return;
    }
    let text = decode::javascript(file.bytes);
    report(&analyze(&text, Dialect::of(file.name()), file.wanted), &text, sink);
}

fn report(findings: &Findings<'_>, text: &str, sink: &mut Sink) {
    for (package, range) in &findings.imports {
        sink.mention(package, How::Import, text, range.clone(), None);
    }
    for problem in &findings.problems {
        let help = "write it so that it parses, or take the name out".to_owned();
        sink.unread(text, problem.range.clone(), problem.text.clone(), Some(help));
    }
}

/// What a source says.
pub(crate) fn analyze<'w>(text: &str, dialect: Dialect, wanted: &'w Wanted) -> Findings<'w> {
    if !wanted.traces().javascript(text.as_bytes()) {
        return Findings::default();
    }
    let why = if levels(text.as_bytes()) > LEVELS {
        "may be nested too deeply to be parsed".to_owned()
    } else {
        match stack::deep(|| parsed(text, dialect, wanted)) {
            Ok(findings) => return findings,
            Err(why) => why,
        }
    };
    let problems = candidates(text, wanted)
        .into_iter()
        .map(|(package, range)| {
            let text = format!(
                "{why}, and names {} in a string where an import could stand",
                package.name
            );
            Problem { range, text }
        })
        .collect();
    Findings { imports: Vec::new(), problems }
}

/// How many levels are parsed, at most. Twice as many still fit the stack; an unoptimized build's frames are several times larger.
const LEVELS: usize = if cfg!(debug_assertions) { 100_000 } else { 400_000 };

/// No fewer levels than the source's tree can have: the bytes and words that can make one, wherever they stand. What is a string,
/// a comment or a regular expression only a parser knows, and to be wrong about it once would end the process.
fn levels(bytes: &[u8]) -> usize {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::new([
            "new",
            "typeof",
            "void",
            "delete",
            "await",
            "yield",
            "keyof",
            "unique",
            "readonly",
            "infer",
            "asserts",
            "as",
            "in",
            "is",
            "satisfies",
            "do",
            "async",
            "abstract",
        ])
        .expect("these words make an automaton")
    });
    if bytes.len() <= LEVELS {
        return bytes.len();
    }
    let signs = bytes
        .iter()
        .filter(|byte| {
            matches!(
                byte,
                b'(' | b'['
                    | b'{'
                    | b'<'
                    | b'>'
                    | b'?'
                    | b':'
                    | b'='
                    | b'!'
                    | b'~'
                    | b'+'
                    | b'-'
                    | b'*'
                    | b'/'
                    | b'%'
                    | b'&'
                    | b'|'
                    | b'^'
                    | b'.'
                    | b'`'
            )
        })
        .count();
    signs + WORDS.find_iter(bytes).count()
}

/// How many imports a source has, whatever trace its bytes have of them.
#[cfg(test)]
pub(crate) fn without_trace(text: &str, wanted: &Wanted) -> usize {
    stack::deep(|| parsed(text, Dialect::JavaScript, wanted))
        .map_or(0, |findings| findings.imports.len())
}

fn parsed<'w>(text: &str, dialect: Dialect, wanted: &'w Wanted) -> Result<Findings<'w>, String> {
    let mut first = None;
    for kind in dialect.attempts() {
        let attempt = catch_unwind(AssertUnwindSafe(|| attempt(text, kind, wanted)));
        match attempt.unwrap_or_else(|_| Err("could not be parsed: the parser failed".to_owned())) {
            Ok(findings) => return Ok(findings),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    Err(first.unwrap_or_default())
}

fn attempt<'w>(text: &str, kind: SourceType, wanted: &'w Wanted) -> Result<Findings<'w>, String> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, kind).with_options(options).parse();
    if parsed.panicked {
        let why = parsed
            .diagnostics
            .iter()
            .next()
            .map_or_else(String::new, |diagnostic| format!(" ({diagnostic})"));
        return Err(format!("is no JavaScript or TypeScript that can be parsed{why}"));
    }
    let mut search = Search { text, wanted, found: Vec::new(), requires: HashSet::new() };
    if text.contains("createRequire") {
        let mut requires = Requires(HashSet::new());
        requires.visit_program(&parsed.program);
        search.requires = requires.0;
    }
    search.visit_program(&parsed.program);
    Ok(Findings { imports: search.found, problems: Vec::new() })
}

struct Search<'w, 's> {
    text: &'s str,
    wanted: &'w Wanted,
    found: Vec<(&'w Package, Range<usize>)>,
    /// Names of functions that `createRequire` made.
    requires: HashSet<String>,
}

/// Looks for what `createRequire` makes.
struct Requires(HashSet<String>);

impl<'a> Visit<'a> for Requires {
    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        if let (Some(name), Some(Expression::CallExpression(call))) = (
            declarator.id.get_identifier_name(),
            declarator.init.as_ref().map(Expression::get_inner_expression),
        ) && makes_require(&call.callee)
        {
            self.0.insert(name.to_string());
        }
        walk::walk_variable_declarator(self, declarator);
    }
}

/// A string that an expression can be.
struct Literal {
    value: String,
    range: Range<usize>,
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

impl Search<'_, '_> {
    fn specifier(&mut self, literal: &Literal) {
        if let Some((package, part)) = specifier::package(&literal.value, self.wanted) {
            let exact = self.text.get(literal.range.clone()) == Some(&literal.value);
            let start = literal.range.start;
            let range =
                if exact { start + part.start..start + part.end } else { literal.range.clone() };
            self.found.push((package, range));
        }
    }

    fn string(&mut self, literal: &StringLiteral<'_>) {
        let range = bytes(literal.span);
        self.specifier(&Literal {
            value: literal.value.to_string(),
            range: range.start + 1..range.end - 1,
        });
    }

    fn expression(&mut self, expression: &Expression<'_>) {
        for literal in fold(expression) {
            self.specifier(&literal);
        }
    }
}

/// The strings that an expression can be, as far as its own literals tell.
fn fold(expression: &Expression<'_>) -> Vec<Literal> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => {
            let range = bytes(literal.span);
            vec![Literal {
                value: literal.value.to_string(),
                range: range.start + 1..range.end - 1,
            }]
        }
        Expression::TemplateLiteral(template) => {
            let Some(first) = template.quasis.first() else { return Vec::new() };
            let value = first.value.cooked.unwrap_or(first.value.raw).to_string();
            // With fields, what stands before the first of them names the package if a `/` follows the name.
            let value = match (template.expressions.is_empty(), value.rfind('/')) {
                (true, _) => value,
                (false, Some(slash)) => value[..=slash].to_owned(),
                (false, None) => return Vec::new(),
            };
            let start = first.span.start as usize;
            // Some versions count the quote in.
            let start = if template.span.start as usize == start { start + 1 } else { start };
            let end =
                start + value.len().min((template.span.end as usize).saturating_sub(start + 1));
            let end =
                if template.expressions.is_empty() { template.span.end as usize - 1 } else { end };
            vec![Literal { value, range: start..end }]
        }
        Expression::ConditionalExpression(choice) => {
            let mut both = fold(&choice.consequent);
            both.extend(fold(&choice.alternate));
            both
        }
        Expression::LogicalExpression(choice) => {
            let mut both = fold(&choice.left);
            both.extend(fold(&choice.right));
            both
        }
        Expression::BinaryExpression(sum) if sum.operator == BinaryOperator::Addition => {
            let mut terms = vec![&sum.right];
            let mut left = &sum.left;
            while let Expression::BinaryExpression(sum) = left.get_inner_expression()
                && sum.operator == BinaryOperator::Addition
            {
                terms.push(&sum.right);
                left = &sum.left;
            }
            let mut value = String::new();
            for term in std::iter::once(left).chain(terms.into_iter().rev()) {
                match fold(term).as_slice() {
                    [one] => value.push_str(&one.value),
                    _ => return Vec::new(),
                }
            }
            vec![Literal { value, range: bytes(sum.span) }]
        }
        _ => Vec::new(),
    }
}

/// Whether what is called loads a module by its first argument.
fn loads(callee: &Expression<'_>, made: &HashSet<String>) -> bool {
    match callee.get_inner_expression() {
        Expression::Identifier(name) => name.name == "require" || made.contains(name.name.as_str()),
        Expression::StaticMemberExpression(member) => {
            member.property.name == "require"
                && matches!(member.object.get_inner_expression(), Expression::Identifier(object) if matches!(object.name.as_str(), "module" | "globalThis" | "window" | "self"))
        }
        // `createRequire(import.meta.url)("a")`.
        Expression::CallExpression(call) => makes_require(&call.callee),
        // `(0, require)("a")`.
        Expression::SequenceExpression(sequence) => {
            sequence.expressions.last().is_some_and(|last| loads(last, made))
        }
        _ => false,
    }
}

fn makes_require(callee: &Expression<'_>) -> bool {
    match callee.get_inner_expression() {
        Expression::Identifier(name) => name.name == "createRequire",
        Expression::StaticMemberExpression(member) => member.property.name == "createRequire",
        _ => false,
    }
}

impl<'a> Visit<'a> for Search<'_, '_> {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        self.string(&import.source);
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        self.string(&export.source);
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        self.string(&export.source);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        self.expression(&import.source);
        walk::walk_import_expression(self, import);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if loads(&call.callee, &self.requires)
            && let Some(first) =
                call.arguments.first().and_then(|argument| argument.as_expression())
        {
            self.expression(first);
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_ts_external_module_reference(&mut self, reference: &TSExternalModuleReference<'a>) {
        self.string(&reference.expression);
    }

    fn visit_ts_import_type(&mut self, import: &TSImportType<'a>) {
        self.string(&import.source);
        walk::walk_ts_import_type(self, import);
    }
}

/// The longest specifier that is looked for in what cannot be parsed, in bytes.
const LONGEST: usize = 1024;

/// Strings of a source that nobody parsed which name a package and could be an import's: they stand behind `from`, `import`, an open
/// bracket or a comment. Every quote may begin one, since where strings begin is not known.
fn candidates<'w>(text: &str, wanted: &'w Wanted) -> Vec<(&'w Package, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for quote in memchr::memchr3_iter(b'"', b'\'', b'`', bytes) {
        let start = quote + 1;
        let mut value = String::new();
        let mut at = start;
        let mut exact = true;
        let closed = loop {
            match bytes.get(at) {
                None => break false,
                Some(byte) if *byte == bytes[quote] => break true,
                Some(_) if at - start > LONGEST => break false,
                Some(b'\\') => {
                    exact = false;
                    let (c, length) = super::trace::unescape(&bytes[at..]);
                    value.extend(c);
                    at += length;
                }
                Some(b'\n' | b'\r') if bytes[quote] != b'`' => break false,
                Some(_) => {
                    let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
                        break false;
                    };
                    value.push(c);
                    at += c.len_utf8();
                }
            }
        };
        if closed
            && let Some((package, part)) = specifier::package(&value, wanted)
            && could_import(&bytes[..quote])
        {
            let range = if exact { start + part.start..start + part.end } else { start..at };
            found.push((package, range));
        }
    }
    found
}

/// Whether a string that stands behind these bytes can be an import's.
fn could_import(before: &[u8]) -> bool {
    let trimmed = before.trim_ascii_end();
    let stands_behind = |word: &[u8]| trimmed.ends_with(word);
    if ["from", "import", "(", "*/"].iter().any(|word| stands_behind(word.as_bytes())) {
        return true;
    }
    // The line before may end in a comment.
    if memchr::memchr2(b'\n', b'\r', &before[trimmed.len()..]).is_none() {
        return false;
    }
    let start = memchr::memrchr2(b'\n', b'\r', trimmed).map_or(0, |at| at + 1);
    memchr::memmem::find(&trimmed[start..], b"//").is_some()
}
