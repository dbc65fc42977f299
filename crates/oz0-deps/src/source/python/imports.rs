//! What a source imports: by statements, by functions that take a module's name, and by sources in its strings.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, IpyEscapeKind, Stmt, StmtImportFrom};
use ruff_text_size::Ranged;

use super::constant::{Constant, Names, bytes, target};
use crate::file::Sink;
use crate::source::trace::NFKC;
use crate::{Ecosystem, Package, Via, Wanted};

/// A module that is imported.
#[derive(Debug, Clone)]
pub(crate) struct Import<'w> {
    pub(crate) package: &'w Package,
    pub(crate) range: Range<usize>,
    pub(crate) via: Option<Via>,
}

/// A line for `IPython` or the shell.
#[derive(Debug, Clone)]
pub(crate) struct EscapeCommand {
    pub(crate) kind: IpyEscapeKind,
    pub(crate) range: Range<usize>,
}

/// What a walk over a source's tree found.
#[derive(Debug)]
pub(crate) struct Search<'w, 'a> {
    text: &'a str,
    wanted: &'w Wanted,
    pub(crate) imports: Vec<Import<'w>>,
    pub(crate) commands: Vec<EscapeCommand>,
    /// Calls, looked at when every constant is known.
    calls: Vec<&'a ExprCall>,
    /// Arguments that stand for more strings than are followed.
    pub(crate) unknown: Vec<Range<usize>>,
    /// [`Self::is_named`], once it is asked.
    named: Option<bool>,
    /// What is given to the shell through `IPython`.
    pub(crate) scripts: Vec<Constant>,
    names: Names,
    /// What a name means that a source gives to a function.
    aliases: HashMap<&'a str, Function>,
}

/// A function that takes a module's name or a source as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Import,
    Run,
    /// The module `builtins` itself.
    Builtins,
    /// `from re import compile`.
    Other,
}

impl Function {
    fn builtin(name: &str) -> Option<Self> {
        match name {
            "import_module" | "__import__" => Some(Self::Import),
            "exec" | "eval" | "compile" => Some(Self::Run),
            "builtins" | "__builtins__" => Some(Self::Builtins),
            _ => None,
        }
    }
}

impl<'w, 'a> Search<'w, 'a> {
    pub(crate) fn new(text: &'a str, wanted: &'w Wanted) -> Self {
        Self {
            text,
            wanted,
            imports: Vec::new(),
            commands: Vec::new(),
            calls: Vec::new(),
            unknown: Vec::new(),
            named: None,
            scripts: Vec::new(),
            names: Names::new(text.len()),
            aliases: HashMap::new(),
        }
    }

    /// Looks at the calls, and gives the strings that they run.
    pub(crate) fn finish(&mut self) -> Vec<Constant> {
        let mut nested = Vec::new();
        let mut variables = HashSet::new();
        for call in std::mem::take(&mut self.calls) {
            let arguments = &call.arguments;
            match self.function(&call.func) {
                Some(Function::Import) => {
                    for name in self.constants(arguments.find_argument_value("name", 0)) {
                        if name.text.starts_with('.') {
                            // Relative to a package that is named beside it.
                            let packages =
                                self.constants(arguments.find_argument_value("package", 1));
                            let found: Vec<_> =
                                packages.iter().filter_map(|package| self.named(package)).collect();
                            self.imports.extend(found);
                        } else {
                            self.imports.extend(self.named(&name));
                        }
                    }
                }
                Some(Function::Run) => {
                    let named = || arguments.find_keyword("source").map(|keyword| &keyword.value);
                    let source = arguments.args.first().or_else(named);
                    // What a variable holds is looked at once.
                    if let Some(Expr::Name(name)) = source
                        && !variables.insert(name.id.as_str())
                    {
                        continue;
                    }
                    nested.extend(self.constants(source));
                }
                _ => self.ipython(call),
            }
        }
        nested
    }

    /// `get_ipython().system("pip install a")`, and `run_line_magic("pip", "install a")`: what a notebook's lines are exported as.
    fn ipython(&mut self, call: &ExprCall) {
        let Expr::Attribute(method) = &*call.func else { return };
        let Expr::Call(shell) = &*method.value else { return };
        if !matches!(&*shell.func, Expr::Name(name) if name.id == "get_ipython") {
            return;
        }
        let first = self.constants(call.arguments.find_argument_value("cmd", 0));
        match &*method.attr.id {
            "system" | "getoutput" | "magic" => self.scripts.extend(first),
            "run_line_magic" => {
                let lines = self.constants(call.arguments.find_argument_value("line", 1));
                for (name, line) in first.iter().zip(&lines) {
                    self.scripts.push(name.with_word(line));
                }
            }
            _ => {}
        }
    }

    /// Whether the source has a string that a module's name could be made of.
    fn is_named(&mut self) -> bool {
        let (text, wanted) = (self.text, self.wanted);
        *self.named.get_or_insert_with(|| wanted.traces().named(text))
    }

    /// The strings that an argument can be. Where they are too many to be made, and what is looked for stands in a string of the
    /// source, nobody knows whether it is one of them.
    fn constants(&mut self, value: Option<&Expr>) -> Vec<Constant> {
        let Some(value) = value else { return Vec::new() };
        let (constants, lost) = self.names.strings(self.text, value);
        if lost && self.unknown.len() < Sink::MOST && self.is_named() {
            self.unknown.push(bytes(value.range()));
        }
        constants
    }

    /// The module that a string names.
    fn named(&self, name: &Constant) -> Option<Import<'w>> {
        let first = name.text.split('.').next()?;
        let package = self.wanted.module(Ecosystem::PyPi, first)?;
        Some(Import { package, range: name.source(&(0..first.len())), via: None })
    }

    /// What an expression means that is called.
    fn function(&self, expr: &Expr) -> Option<Function> {
        match expr {
            Expr::Name(name) => match self.aliases.get(&*name.id) {
                Some(function) => Some(*function),
                None => Function::builtin(&name.id),
            },
            Expr::Attribute(attribute) => match Function::builtin(&attribute.attr.id)? {
                Function::Import => Some(Function::Import),
                // A method of that name is something else: `re.compile`, `model.eval`.
                function => (self.function(&attribute.value) == Some(Function::Builtins))
                    .then_some(function),
            },
            _ => None,
        }
    }

    fn import(&mut self, dotted: &str, range: Range<usize>, alias: Option<&str>) {
        let first = dotted.split('.').next().unwrap_or(dotted).trim();
        if let Some(package) = self.wanted.module(Ecosystem::PyPi, first) {
            let range = range.start..range.start + word(&self.text[range]).len();
            let via = alias.map(|alias| Via::Alias(alias.to_owned()));
            self.imports.push(Import { package, range, via });
        }
    }

    fn import_from(&mut self, import: &'a StmtImportFrom) {
        let Some(module) = import.module.as_ref().filter(|_| import.level == 0) else { return };
        self.import(&module.id, bytes(module.range), None);
        for name in &import.names {
            let bound = name.asname.as_ref().unwrap_or(&name.name);
            let function = match (&*module.id, Function::builtin(&name.name.id)) {
                ("importlib" | "builtins", function) => function,
                // `from re import compile`; to hide `exec` and `eval` behind another's name would hide too much.
                (_, Some(Function::Run)) if name.name.id == "compile" => Some(Function::Other),
                (_, Some(Function::Import)) => Some(Function::Import),
                _ => None,
            };
            if let Some(function) = function {
                self.aliases.insert(&bound.id, function);
            }
        }
    }

    fn assign(&mut self, to: &'a Expr, value: &'a Expr) {
        if let (Expr::Tuple(to), Expr::Tuple(value)) = (to, value)
            && to.elts.len() == value.elts.len()
        {
            to.elts.iter().zip(&value.elts).for_each(|(to, value)| self.assign(to, value));
            return;
        }
        let Some(name) = target(to) else { return };
        if matches!(to, Expr::Name(_))
            && matches!(value, Expr::Name(_) | Expr::Attribute(_))
            && let Some(function) = self.function(value)
        {
            self.aliases.insert(name, function);
        }
        if matches!(to, Expr::Name(_)) {
            self.names.assign(name, self.text, value);
        }
    }

    /// Looks at the tokens of a broken source, whose tree may have lost a statement.
    pub(crate) fn tokens(&mut self, tokens: &[Token]) {
        let tokens: Vec<&Token> = tokens
            .iter()
            .filter(|token| {
                !matches!(token.kind(), TokenKind::Comment | TokenKind::NonLogicalNewline)
            })
            .collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let begins = at == 0
                || matches!(
                    tokens[at - 1].kind(),
                    TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent
                );
            at += 1;
            match token.kind() {
                // `pip install a`, which IPython takes for `%pip install a`.
                TokenKind::Name
                    if begins
                        && tokens.get(at).is_some_and(|next| next.kind() == TokenKind::Name) =>
                {
                    let start = token.range().start().to_usize();
                    if matches!(
                        word(&self.text[start..]),
                        "pip" | "conda" | "mamba" | "micromamba" | "uv"
                    ) {
                        let line = &self.text[start..];
                        let length = line.find(['\n', '\r']).unwrap_or(line.len());
                        self.commands.push(EscapeCommand {
                            kind: IpyEscapeKind::Magic,
                            range: start..start + length,
                        });
                    }
                }
                TokenKind::Import => {
                    while let Some((name, next)) = dotted(&tokens, at) {
                        self.import(&NFKC.normalize(&self.text[name.clone()]), name, None);
                        at = next;
                        if tokens.get(at).is_some_and(|token| token.kind() == TokenKind::As) {
                            at += 2;
                        }
                        if tokens.get(at).is_none_or(|token| token.kind() != TokenKind::Comma) {
                            break;
                        }
                        at += 1;
                    }
                }
                TokenKind::From => {
                    if let Some((name, next)) = dotted(&tokens, at)
                        && tokens.get(next).is_some_and(|token| token.kind() == TokenKind::Import)
                    {
                        self.import(&NFKC.normalize(&self.text[name.clone()]), name, None);
                        at = next + 1;
                    } else if tokens.get(at).is_some_and(|token| {
                        matches!(token.kind(), TokenKind::Dot | TokenKind::Ellipsis)
                    }) {
                        // What a relative import names is local.
                        let local = |token: &&&Token| {
                            matches!(
                                token.kind(),
                                TokenKind::Dot | TokenKind::Ellipsis | TokenKind::Name
                            )
                        };
                        at += tokens[at..].iter().take_while(local).count() + 1;
                    }
                }
                _ => {}
            }
        }
    }
}

/// The first part of a dotted name, and the token behind all of it.
fn dotted(tokens: &[&Token], at: usize) -> Option<(Range<usize>, usize)> {
    let first = tokens.get(at).filter(|token| token.kind() == TokenKind::Name)?;
    let mut at = at + 1;
    while tokens.get(at).is_some_and(|token| token.kind() == TokenKind::Dot) {
        at += 2;
    }
    Some((bytes(first.range()), at))
}

/// The identifier that a text begins with.
fn word(text: &str) -> &str {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    &text[..text.find(|c| !part(c)).unwrap_or(text.len())]
}

impl<'a> Visitor<'a> for Search<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for name in &import.names {
                    let alias = name.asname.as_ref().map(|alias| &*alias.id);
                    self.import(&name.name.id, bytes(name.name.range), alias);
                    if name.name.id == "builtins"
                        && let Some(alias) = alias
                    {
                        self.aliases.insert(alias, Function::Builtins);
                    }
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|to| self.assign(to, &assign.value));
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => self.assign(&assign.target, &assign.value),
            Stmt::For(each) => {
                if let Expr::List(ruff_python_ast::ExprList { elts, .. })
                | Expr::Tuple(ruff_python_ast::ExprTuple { elts, .. }) = &*each.iter
                {
                    for value in elts {
                        self.assign(&each.target, value);
                    }
                }
            }
            Stmt::IpyEscapeCommand(command) => {
                self.commands
                    .push(EscapeCommand { kind: command.kind, range: bytes(command.range) });
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.calls.push(call),
            Expr::Named(named) => self.assign(&named.target, &named.value),
            Expr::IpyEscapeCommand(command) => {
                self.commands
                    .push(EscapeCommand { kind: command.kind, range: bytes(command.range) });
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
