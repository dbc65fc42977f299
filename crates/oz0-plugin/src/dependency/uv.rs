//! `uv.lock` with its `pyproject.toml`, reduced to what an export needs.
//!
//! Both are parsed and written anew: `pyproject.toml` could set up `uv` itself (`[tool.uv]`), and only what names the
//! project and its dependencies is handed on.

use std::sync::Arc;

use oz0_diagnostic::{SourceFile, Span};
use toml::{Table, Value};

use super::problem::{DependencyProblem, shown};

/// A lock of `uv`, and the project that it was locked from, written anew.
#[derive(Debug, Clone)]
pub struct UvLock {
    source: Arc<SourceFile>,
    lock: Table,
    project: Table,
}

impl UvLock {
    /// Reads both files.
    ///
    /// # Errors
    ///
    /// A file that is no TOML, a project without a name, or a package that is no release of a registry.
    pub fn read(
        lock: &Arc<SourceFile>,
        project: &Arc<SourceFile>,
    ) -> Result<Self, DependencyProblem> {
        let table = parse(lock, "have uv write it anew: uv lock")?;
        let mut written =
            parse(project, "correct the file, or write it anew with: uv init --bare")?;
        written.retain(|name, _| matches!(name, "project" | "dependency-groups"));
        let Some(Value::Table(about)) = written.get_mut("project") else {
            return Err(DependencyProblem::error(
                Span::start_of(project),
                "there is no [project] table",
                "add [project] with a name and the dependencies",
            ));
        };
        let kept = ["name", "version", "requires-python", "dependencies", "optional-dependencies"];
        about.retain(|name, _| kept.contains(&name));
        about.entry("version").or_insert_with(|| Value::from("0"));
        for package in table.get("package").and_then(Value::as_array).into_iter().flatten() {
            check_source(lock, package)?;
        }
        Ok(Self { source: Arc::clone(lock), lock: table, project: written })
    }

    /// The lock's file.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    pub(super) fn table(&self) -> &Table {
        &self.lock
    }

    /// The `uv.lock` for uv.
    pub fn lock_text(&self) -> String {
        self.lock.to_string()
    }

    /// The `pyproject.toml` for uv.
    pub fn project_text(&self) -> String {
        self.project.to_string()
    }
}

fn parse(source: &Arc<SourceFile>, help: &str) -> Result<Table, DependencyProblem> {
    source.text().parse().map_err(|error: toml::de::Error| {
        let span =
            error.span().map_or_else(|| Span::start_of(source), |range| Span::new(source, range));
        let message = format!("this is no TOML: {}", shown(error.message()));
        DependencyProblem::error(span, message, help)
    })
}

/// A package comes from a registry, or is the project itself.
fn check_source(lock: &Arc<SourceFile>, package: &Value) -> Result<(), DependencyProblem> {
    let from = package.get("source").and_then(Value::as_table);
    let ours = |kind: &str| {
        from.and_then(|from| from.get(kind)).and_then(Value::as_str).is_some_and(|path| path == ".")
    };
    if from.is_some_and(|from| from.contains_key("registry")) || ours("virtual") || ours("editable")
    {
        return Ok(());
    }
    let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
    let quoted = format!("name = \"{name}\"");
    let span = lock
        .text()
        .find(&quoted)
        .map_or_else(|| Span::start_of(lock), |at| Span::new(lock, at..at + quoted.len()));
    Err(DependencyProblem::error(
        span,
        format!("{} does not come from a registry, so it may need to be built", shown(name)),
        "require releases of a registry only, and lock anew with: uv lock",
    ))
}
