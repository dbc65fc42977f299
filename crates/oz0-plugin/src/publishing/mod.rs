//! What a plugin must have before it is handed to others: paths that every system holds, a README, and its licence.
//!
//! These are checks of the loader, but not of every load. A plugin that is being written is measured and looked at long
//! before it has a README; `lint`, `pack` and `hub submit` ask for these, and they are errors there.

mod licence;
mod paths;
mod readme;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};

use crate::{LoadError, Plugin};

impl Plugin {
    /// What keeps the plugin from being handed to others, beside [`Plugin::diagnostics`]: OZ-L020 of the packed files and
    /// of what cannot be packed, OZ-L010 of the README, and OZ-L011 of the licence, in this order. All of them, each with
    /// its place; `lint`, `pack` and `hub submit` fail on them.
    ///
    /// # Errors
    ///
    /// As [`Plugin::read_file`], by which the README and the licence are read.
    pub fn publishing_findings(&self) -> Result<Vec<Diagnostic>, LoadError> {
        let mut findings = paths::check(self);
        findings.extend(readme::check(self)?);
        findings.extend(licence::check(self)?);
        Ok(findings)
    }
}

/// The start of a file whose text is of no help, or that is not there.
fn start_of(path: &str) -> Span {
    Span::start_of(&SourceFile::new(path, ""))
}
