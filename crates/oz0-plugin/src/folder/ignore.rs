//! `.oz0ignore`: gitignore's syntax, in any folder of the plugin, each file over its own folder and below.

use std::path::Path;
use std::sync::Arc;

use ::ignore::Match;
use ::ignore::gitignore::{Gitignore, GitignoreBuilder};
use oz0_diagnostic::{Diagnostic, SourceFile, Span};

use crate::check::OZ_L001;

/// The file's name.
pub(super) const NAME: &str = ".oz0ignore";

/// The largest ignore file, in bytes: far more than any has.
pub(super) const LIMIT: usize = 1024 * 1024;

/// The rules that hold in one folder: its own, and those of the folders above it.
#[derive(Clone, Default)]
pub(super) struct Rules(Vec<Arc<Gitignore>>);

impl Rules {
    /// These rules and those of `bytes`, the `.oz0ignore` of `folder`. What of it is no rule is a diagnostic.
    pub(super) fn with(
        &self,
        folder: &Path,
        path: &str,
        bytes: &[u8],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        if bytes.len() > LIMIT {
            let span = Span::start_of(&SourceFile::new(path, ""));
            diagnostics.push(Diagnostic::new(
                &OZ_L001,
                span,
                format!("the file is larger than {} MiB, and none of it was read", LIMIT >> 20),
            ));
            return self.clone();
        }
        let source = SourceFile::new(path, String::from_utf8_lossy(bytes));
        if let Err(error) = std::str::from_utf8(bytes) {
            let at = error.valid_up_to();
            let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
            let message = format!("byte {at} of the file is not UTF-8");
            diagnostics
                .push(Diagnostic::new(&OZ_L001, span, message).help("save the file as UTF-8"));
        }
        let mut builder = GitignoreBuilder::new(folder);
        let mut start = 0;
        for line in source.text().split_inclusive('\n') {
            let rule = line.trim_end_matches(['\n', '\r']);
            let rule_start = start;
            start += line.len();
            // A BOM is the editor's, not the first rule's.
            let rule = if rule_start == 0 { rule.trim_start_matches('\u{FEFF}') } else { rule };
            if let Err(error) = builder.add_line(None, rule) {
                let end = rule_start + line.trim_end_matches(['\n', '\r']).len();
                let span = Span::new(&source, rule_start..end);
                let why = match &error {
                    ::ignore::Error::Glob { err, .. } => err.clone(),
                    other => other.to_string(),
                };
                let diagnostic =
                    Diagnostic::new(&OZ_L001, span, format!("this line is no pattern: {why}"));
                diagnostics.push(diagnostic.help("write it in gitignore's syntax"));
            }
        }
        let mut rules = self.clone();
        match builder.build() {
            Ok(own) => rules.0.push(Arc::new(own)),
            Err(error) => diagnostics.push(Diagnostic::new(
                &OZ_L001,
                Span::start_of(&source),
                format!("the file's patterns cannot be used together: {error}"),
            )),
        }
        rules
    }

    /// Whether `path`, absolute or from where the walk began, is ignored. The nearest file that says something decides.
    pub(super) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        for rules in self.0.iter().rev() {
            match rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}
