//! Where a rule puts what it finds.

use oz0_diagnostic::{Diagnostic, Fix, Level, Related, Span};

use crate::metadata::Plain;
use crate::rules::Rule;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// As its rule says.
    Rule,
    /// A note, at each level.
    Note,
    /// As its rule says at the plain level, and a note at the verified one.
    VerifiedNote,
    /// Nothing at the plain level, and at the verified one a warning that fails nothing.
    VerifiedWarning,
}

/// A finding on its way: where and what; which rule's it is, the sink knows.
#[derive(Debug)]
pub(crate) struct Finding {
    span: Span,
    message: String,
    help: Option<String>,
    related: Vec<Related>,
    fix: Option<Fix>,
    weight: Weight,
}

impl Finding {
    pub(crate) fn at(span: &Span, message: impl Into<String>) -> Self {
        Self {
            span: span.clone(),
            message: message.into(),
            help: None,
            related: Vec::new(),
            fix: None,
            weight: Weight::Rule,
        }
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a place that has to do with it.
    pub(crate) fn related(mut self, span: &Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span: span.clone(), message: message.into() });
        self
    }

    /// Offers a change, where there is one.
    pub(crate) fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }

    /// A note, at each level.
    pub(crate) fn note(mut self) -> Self {
        self.weight = Weight::Note;
        self
    }

    /// At the verified level only a note.
    pub(crate) fn verified_note(mut self) -> Self {
        self.weight = Weight::VerifiedNote;
        self
    }

    /// At the plain level nothing, at the verified one a warning.
    pub(crate) fn verified_warning(mut self) -> Self {
        self.weight = Weight::VerifiedWarning;
        self
    }
}

/// Where a rule puts what it finds. It adds the rule's code, the level in force, and the link.
#[derive(Debug)]
pub(crate) struct Sink {
    rule: &'static Rule,
    verified: bool,
    found: Vec<Diagnostic>,
    links_out: usize,
}

/// What a rule found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) problems: Vec<Diagnostic>,
    /// How many links lead out of the plugin and were not followed.
    pub(crate) links_out: usize,
}

impl Sink {
    pub(crate) fn new(rule: &'static Rule, verified: bool) -> Self {
        Self { rule, verified, found: Vec::new(), links_out: 0 }
    }

    /// Whether the plugin is held to the verified level.
    pub(crate) fn verified(&self) -> bool {
        self.verified
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        let metadata = &self.rule.metadata;
        let plain = match (finding.weight, metadata.plain) {
            (Weight::Note, _) => Some(Level::Note),
            (Weight::VerifiedWarning, _) | (_, Plain::Off) => None,
            (Weight::Rule | Weight::VerifiedNote, Plain::On(level)) => Some(level),
        };
        let level = match (self.verified, finding.weight) {
            (true, Weight::Rule) => Some(Level::Error),
            (true, Weight::Note | Weight::VerifiedNote) => Some(Level::Note),
            (true, Weight::VerifiedWarning) => Some(Level::Warning),
            (false, _) => plain,
        };
        let Some(level) = level else { return };
        // What a finding weighs at the plain level is part of what is said of it, and stands in its check.
        let check = self.rule.check(plain.unwrap_or(match finding.weight {
            Weight::VerifiedWarning => Level::Note,
            _ => Level::Error,
        }));
        let mut diagnostic =
            Diagnostic::new(check, finding.span, finding.message).level(level).url(metadata.url());
        diagnostic.strict = self.verified && level == Level::Error && plain != Some(Level::Error);
        diagnostic.help = finding.help;
        diagnostic.related = finding.related;
        diagnostic.fix = finding.fix;
        self.found.push(diagnostic);
    }

    /// Says how many links lead out of the plugin, and that they were not followed.
    pub(crate) fn links_out(&mut self, count: usize) {
        self.links_out = count;
    }

    pub(crate) fn into_found(self) -> Found {
        Found { problems: self.found, links_out: self.links_out }
    }
}
