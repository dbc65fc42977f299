//! Findings as the editor is told them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, Level, Related, SourceFile, Span};
use oz0_listing::escape;
use tower_lsp_server::ls_types::{
    CodeDescription, Diagnostic as LspDiagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    Location, NumberOrString, Range,
};

use crate::documents::{Document, Documents};
use crate::text::{Encoding, Lines};
use crate::uri::uri_of;

/// What the editor shows as the origin of a finding.
const SOURCE: &str = "oz0";

/// Tells places of a plugin's files as the editor sees those files.
pub(crate) struct Places<'a> {
    root: &'a Path,
    documents: &'a Documents,
    encoding: Encoding,
    /// By the addresses of files that the findings keep alive.
    lines: HashMap<*const SourceFile, (Arc<SourceFile>, Lines)>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(root: &'a Path, documents: &'a Documents, encoding: Encoding) -> Self {
        Self { root, documents, encoding, lines: HashMap::new() }
    }

    /// The file on this machine.
    pub(crate) fn path(&self, file: &SourceFile) -> PathBuf {
        self.root.join(file.path())
    }

    pub(crate) fn range(&mut self, file: &Arc<SourceFile>, range: std::ops::Range<usize>) -> Range {
        let hides_mark = !self.documents.get(&self.path(file)).is_some_and(Document::shows_mark);
        let (_, lines) = self
            .lines
            .entry(Arc::as_ptr(file))
            .or_insert_with(|| (Arc::clone(file), Lines::of(file.text(), hides_mark)));
        lines.range(file.text(), range, self.encoding)
    }

    fn location(&mut self, span: &Span) -> Option<Location> {
        let path = self.path(span.file());
        let uri = match self.documents.get(&path) {
            Some(document) => document.uri.clone(),
            None => uri_of(&path)?,
        };
        Some(Location { uri, range: self.range(span.file(), span.range()) })
    }

    /// A finding. Its message says what to do as well, since editors show nothing else at once.
    pub(crate) fn diagnostic(&mut self, found: &Diagnostic) -> LspDiagnostic {
        let mut message = escape::line(&found.message).into_owned();
        if let Some(help) = &found.help {
            message.push_str("\nhint: ");
            message.push_str(&escape::line(help));
        }
        let related = |related: &Related| {
            let location = self.location(&related.span)?;
            let message = escape::line(&related.message).into_owned();
            Some(DiagnosticRelatedInformation { location, message })
        };
        let related: Vec<_> = found.related.iter().filter_map(related).collect();
        let url = found.url.as_ref().and_then(|url| url.parse().ok());
        LspDiagnostic {
            range: self.range(found.span.file(), found.span.range()),
            severity: Some(match found.level {
                Level::Error => DiagnosticSeverity::ERROR,
                Level::Warning => DiagnosticSeverity::WARNING,
                Level::Note => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(found.check.code.to_owned())),
            code_description: url.map(|href| CodeDescription { href }),
            source: Some(SOURCE.to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            tags: None,
            data: None,
        }
    }
}
