//! The requirements that a `setup.py` hands to its installer: strings in the arguments, variables and tables that are named as
//! requirement lists are.
//!
//! Nothing is run. What a variable's name or an argument's keyword says is taken at its word (`install_requires`,
//! `extras_require`, `REQUIREMENTS`, `dev_dependencies`), and a variable that such an argument is made of counts as one. A string
//! elsewhere (`keywords=["a"]`, a classifier, an entry point) is no requirement.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::constant::{Constant, Names, fold, target};
use super::depth;
use crate::stack;

/// A string of a list of requirements.
#[derive(Debug, Clone)]
pub(crate) struct RequirementString {
    /// The list's name, with the extra's where the list is one: `install_requires`, `extras_require.proxy`.
    pub(crate) list: String,
    constant: Constant,
}

impl RequirementString {
    /// What the string says: one requirement, or several lines of them.
    pub(crate) fn text(&self) -> &str {
        &self.constant.text
    }

    /// Where a part of [`Self::text`] stands in the source.
    pub(crate) fn source(&self, part: Range<usize>) -> Range<usize> {
        self.constant.source(&part)
    }
}

/// The requirement strings of a source, in its order. Nothing of a source that is nested too deeply, which its reading as a source
/// reports.
pub(crate) fn requirement_strings(text: &str) -> Vec<RequirementString> {
    if depth::check(text, Mode::Module).is_err() {
        return Vec::new();
    }
    stack::deep(|| {
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        let Mod::Module(module) = parsed.syntax() else { return Vec::new() };
        let mut lists = BTreeSet::new();
        loop {
            let before = lists.len();
            let mut search =
                Search { text, lists, found: Vec::new(), none: Names::new(text.len()) };
            search.visit_body(&module.body);
            lists = search.lists;
            // A list may be made of variables that stood before it.
            if lists.len() == before {
                search.found.sort_by_key(|found| found.source(0..found.text().len()).start);
                return search.found;
            }
        }
    })
}

/// Whether a variable, keyword or key is named as a list of requirements is.
fn is_list(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name != "python_requires"
        && (name.contains("requires")
            || name.contains("requirement")
            || name.contains("dependencies")
            || name.ends_with("require"))
}

struct Search<'a> {
    text: &'a str,
    /// Variables that lists of requirements are made of.
    lists: BTreeSet<&'a str>,
    found: Vec<RequirementString>,
    none: Names,
}

impl<'a> Search<'a> {
    fn is_list(&self, name: &str) -> bool {
        is_list(name) || self.lists.contains(name)
    }

    /// Whether a string in a list's place is a list of one: setuptools takes it for one, and what lists are made of may be it.
    fn is_list_of_one(&self, name: &str) -> bool {
        let known = ["install_requires", "setup_requires", "tests_require", "extras_require"];
        known.contains(&name) || self.lists.contains(name)
    }

    /// Takes the strings that a list's value is made of.
    fn take(&mut self, list: &str, value: &'a Expr) {
        match value {
            Expr::List(items) => self.take_all(list, &items.elts),
            Expr::Tuple(items) => self.take_all(list, &items.elts),
            Expr::Set(items) => self.take_all(list, &items.elts),
            Expr::Starred(starred) => self.take(list, &starred.value),
            Expr::Dict(table) => {
                for item in &table.items {
                    match &item.key {
                        Some(Expr::StringLiteral(key)) => {
                            self.take(&format!("{list}.{}", key.value.to_str()), &item.value);
                        }
                        _ => self.take(list, &item.value),
                    }
                }
            }
            Expr::BinOp(sum) => {
                let strings = fold(self.text, value, &self.none);
                if strings.is_empty() {
                    self.take(list, &sum.left);
                    self.take(list, &sum.right);
                } else {
                    self.push(list, strings);
                }
            }
            Expr::If(choice) => {
                self.take(list, &choice.body);
                self.take(list, &choice.orelse);
            }
            Expr::BoolOp(choice) => self.take_all(list, &choice.values),
            Expr::Named(named) => self.take(list, &named.value),
            Expr::ListComp(each) => {
                self.take(list, &each.elt);
                each.generators.iter().for_each(|of| self.take(list, &of.iter));
            }
            Expr::Subscript(part) => self.take(list, &part.value),
            Expr::Call(call) => {
                if let Expr::Name(function) = &*call.func {
                    self.lists.insert(&function.id);
                }
                // `list(…)`, `sorted(…)`, `dict(proxy=[…])`, `"…".split()`; the name of a file that is read is no requirement
                // by its looks.
                if let Expr::Attribute(method) = &*call.func {
                    self.take(list, &method.value);
                }
                self.take_all(list, &call.arguments.args);
                for keyword in &call.arguments.keywords {
                    match &keyword.arg {
                        Some(extra) => self.take(&format!("{list}.{}", extra.id), &keyword.value),
                        None => self.take(list, &keyword.value),
                    }
                }
            }
            Expr::Name(name) => {
                self.lists.insert(&name.id);
            }
            Expr::StringLiteral(_) | Expr::FString(_) => {
                let strings = fold(self.text, value, &self.none);
                self.push(list, strings);
            }
            _ => {}
        }
    }

    fn take_all(&mut self, list: &str, values: &'a [Expr]) {
        for value in values {
            self.take(list, value);
        }
    }

    fn push(&mut self, list: &str, strings: Vec<Constant>) {
        let list = list.to_owned();
        // `f"name-{part}"` is of another name.
        let of_known_name = |constant: &Constant| {
            constant.hole.is_none_or(|hole| !constant.text[..hole].ends_with(['-', '_', '.']))
        };
        self.found.extend(
            strings
                .into_iter()
                .filter(of_known_name)
                .map(|constant| RequirementString { list: list.clone(), constant }),
        );
    }

    /// Takes what is assigned to `to`: a variable, an attribute or a table's entry.
    fn assign(&mut self, to: &'a Expr, value: &'a Expr) {
        if let Some(name) = target(to) {
            if self.is_list(name) && (!is_string(value) || self.is_list_of_one(name)) {
                self.take(name, value);
            }
        } else if let Expr::Subscript(entry) = to
            && let Some(name) = target(&entry.value)
        {
            match &*entry.slice {
                Expr::StringLiteral(key) if self.is_list(name) => {
                    self.take(&format!("{name}.{}", key.value.to_str()), value);
                }
                Expr::StringLiteral(key)
                    if is_list(key.value.to_str())
                        && (!is_string(value) || self.is_list_of_one(key.value.to_str())) =>
                {
                    self.take(key.value.to_str(), value);
                }
                _ if self.is_list(name) => self.take(name, value),
                _ => {}
            }
        }
    }
}

impl<'a> Visitor<'a> for Search<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.assign(target, &assign.value));
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => self.assign(&assign.target, &assign.value),
            // What a function returns that a list is made by.
            Stmt::FunctionDef(function) if self.lists.contains(&*function.name.id) => {
                let mut returns = Returns(Vec::new());
                returns.visit_body(&function.body);
                for value in returns.0 {
                    self.take(&function.name.id, value);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => {
                for keyword in &call.arguments.keywords {
                    if let Some(name) = &keyword.arg
                        && is_list(&name.id)
                        && (!is_string(&keyword.value) || self.is_list_of_one(&name.id))
                    {
                        self.take(&name.id, &keyword.value);
                    }
                }
                // `requirements.append("…")`, and `extras.setdefault("a", []).extend([…])`.
                if let Expr::Attribute(method) = &*call.func
                    && matches!(
                        &*method.attr.id,
                        "append" | "extend" | "insert" | "add" | "update" | "setdefault"
                    )
                    && let Some(name) = receiver(&method.value)
                    && self.is_list(name)
                {
                    self.take_all(name, &call.arguments.args);
                }
            }
            Expr::Dict(table) => {
                for item in &table.items {
                    if let Some(Expr::StringLiteral(key)) = &item.key
                        && is_list(key.value.to_str())
                        && (!is_string(&item.value) || self.is_list_of_one(key.value.to_str()))
                    {
                        self.take(key.value.to_str(), &item.value);
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Whether it is a string, and no list of some.
fn is_string(value: &Expr) -> bool {
    match value {
        Expr::StringLiteral(_) | Expr::FString(_) => true,
        Expr::BinOp(sum) => is_string(&sum.left) || is_string(&sum.right),
        _ => false,
    }
}

/// What a function returns, and not those in it.
struct Returns<'a>(Vec<&'a Expr>);

impl<'a> Visitor<'a> for Returns<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Return(given) => self.0.extend(given.value.as_deref()),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }
}

/// The variable whose method is called.
fn receiver(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Subscript(part) => receiver(&part.value),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => receiver(&method.value),
            _ => None,
        },
        _ => target(expr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<String> {
        let found = requirement_strings(text);
        found
            .iter()
            .map(|found| {
                let source = &text[found.source(0..found.text().len())];
                let place =
                    if source == found.text() { String::new() } else { format!(" at {source}") };
                format!("{}: {}{place}", found.list, found.text())
            })
            .collect()
    }

    #[test]
    fn lists_of_requirements_are_known_by_their_names() {
        let text = r#"
from setuptools import setup
deps = ["a>=1"]
extra = {}
extra["e"] = ["b"]
dev_requirements = ("c", "d") + deps
install_requires = []
install_requires.append("f")
install_requires += ["g"]
setup(
    name="x",
    keywords=["k"],
    classifiers=["k"],
    entry_points={"console_scripts": ["k = k:main"]},
    install_requires=deps + ["h" "i", "j" + "k", *more],
    extras_require={"all": ["l", "\x6d"], **extra},
    tests_require="n\no",
    python_requires=">=3.9",
)
setup(**{"setup_requires": ["p"], "keywords": ["k"]})
"#;
        insta::assert_snapshot!(strings(text).join("\n"), @r#"
        deps: a>=1
        extra.e: b
        dev_requirements: c
        dev_requirements: d
        install_requires: f
        install_requires: g
        install_requires: hi at h" "i
        install_requires: jk at j" + "k
        extras_require.all: l
        extras_require.all: m at \x6d
        tests_require: n
        o at n\no
        setup_requires: p
        "#);
    }

    #[test]
    fn a_broken_setup_is_read_as_far_as_it_goes() {
        assert_eq!(
            strings("setup(install_requires=['a', 'b')\nx = 'c'"),
            ["install_requires: a", "install_requires: b"]
        );
    }
}
