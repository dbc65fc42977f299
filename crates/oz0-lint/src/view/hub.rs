//! `hub/listing.yaml`: what of the hub's listing of the plugin the rules read.

use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_plugin::check::OZ_L001;
use oz0_plugin::{LoadError, Plugin};
use oz0_yaml::{Limits, Value};

/// The file's path in the plugin.
pub(crate) const PATH: &str = "hub/listing.yaml";

/// The hub listing.
#[derive(Debug)]
pub(crate) struct HubListing {
    /// The file.
    pub(crate) source: Arc<SourceFile>,
    /// Its `name`, where it has one that is a text.
    pub(crate) name: Option<(String, Span)>,
}

impl HubListing {
    /// The publisher in its name: what stands before the last `/`.
    pub(crate) fn publisher(&self) -> Option<&str> {
        let (name, _) = self.name.as_ref()?;
        name.rsplit_once('/').map(|(publisher, _)| publisher).filter(|name| !name.is_empty())
    }
}

/// Reads it, and what keeps it from being read.
pub(super) fn read(plugin: &Plugin) -> Result<(Option<HubListing>, Vec<Diagnostic>), LoadError> {
    let Some(file) = plugin.file(PATH) else { return Ok((None, Vec::new())) };
    let limits = Limits::MANIFEST;
    let bytes = plugin.read_file(file, limits.bytes as u64)?;
    let text = match oz0_yaml::decode(&bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let source = SourceFile::new(PATH, String::from_utf8_lossy(&bytes));
            let at = error.offset();
            let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
            let problem = Diagnostic::new(&OZ_L001, span, format!("the file is {error}"));
            return Ok((None, vec![problem.help("save the file as UTF-8")]));
        }
    };
    let parsed = oz0_yaml::parse(&text, &limits);
    let source = SourceFile::new(PATH, text);
    let mut problems: Vec<Diagnostic> = Vec::new();
    for problem in parsed.problems {
        let span = Span::new(&source, problem.range);
        let mut diagnostic = Diagnostic::new(&OZ_L001, span, problem.message);
        diagnostic.help = problem.help;
        problems.push(diagnostic);
    }
    let root = parsed.root.filter(|root| matches!(root.value, Value::Mapping(_)));
    if root.is_none() && problems.is_empty() {
        let problem = Diagnostic::new(&OZ_L001, Span::start_of(&source), "the file is no mapping");
        problems.push(problem.help("a hub listing has `name`, `summary` and `categories`"));
    }
    let name = root.as_ref().and_then(|root| root.get("name")).and_then(|entry| {
        let name = entry.value.as_str()?.to_owned();
        Some((name, Span::new(&source, entry.value.range.clone())))
    });
    let readable = problems.is_empty();
    Ok((readable.then_some(HubListing { source, name }), problems))
}
