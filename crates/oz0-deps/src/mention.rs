//! What is found.

use oz0_diagnostic::Span;

use crate::{Ecosystem, Package};

/// A place that names a package that is looked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Mention {
    /// The package's normalised name, as it was looked for.
    pub name: String,
    /// Where that name means something.
    pub ecosystem: Ecosystem,
    /// What the place does with it.
    pub how: How,
    /// Where: what names it, and nothing around it. Of a folder or a file that is no text, the beginning of that path.
    pub span: Span,
    /// Through whom it comes, where the file says so.
    pub via: Option<Via>,
}

impl Mention {
    /// A folder, or a file that is known by its name.
    pub(crate) fn of_whole(package: &Package, how: How, span: Span) -> Self {
        Self { name: package.name.clone(), ecosystem: package.ecosystem, how, span, via: None }
    }
}

/// What a place does with the package that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum How {
    /// Asks for it: a requirement in a list that a person writes.
    Direct,
    /// Bounds it: a constraint or an override, which installs it where something else asks for it.
    Constraint,
    /// Has it locked.
    Locked,
    /// Is an installed or vendored copy of it.
    Vendored,
    /// Is a file of a release that did harm.
    StartupFile,
    /// Is an archive of it: a wheel, a source archive, a packed npm package.
    Archive,
    /// Imports it.
    Import,
    /// Installs it from a notebook's cell.
    InstallLine,
    /// Starts it as a server's command.
    Command,
}

/// Through whom a package comes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Via {
    /// A list of the file: `optional-dependencies.proxy`, `dependency-groups.dev`, `devDependencies`.
    List(String),
    /// What needs what, from what the project asks for to what needs the package: `crewai[tools] → langchain-x`.
    Packages(Vec<String>),
    /// Files that include each other, from the one that an installer begins with.
    Files(Vec<String>),
    /// Another name that the place gives it: npm's alias, a module's `as`.
    Alias(String),
}

/// What could not be read, so that what it names is not known.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unread {
    /// Where.
    pub span: Span,
    /// What is wrong with it: "is larger than 16 MiB", "is no TOML: …".
    pub problem: String,
    /// What to do.
    pub help: Option<String>,
}
