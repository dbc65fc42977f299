//! Comments that exempt from a rule: `# OZ-S003 allow NAME: reason`, on a line of its own anywhere in the manifest.

use std::sync::Arc;

use oz0_diagnostic::{SourceFile, Span};
use oz0_yaml::Comment;

/// How long a reason may be, in characters.
pub(crate) const REASON: std::ops::RangeInclusive<usize> = 10..=300;

/// A comment that means to exempt from a rule.
#[derive(Debug)]
pub(crate) struct Exemption {
    /// The rule's code.
    pub(crate) code: String,
    /// What it names.
    pub(crate) name: String,
    /// The reason, as long or short as it is.
    pub(crate) reason: String,
    /// Where the comment stands.
    pub(crate) span: Span,
    /// Whether it has a line of its own.
    pub(crate) own_line: bool,
}

impl Exemption {
    /// What is wrong with the comment itself, whatever it names.
    pub(crate) fn mistake(&self) -> Option<&'static str> {
        if !self.own_line {
            Some("stands behind something else, and counts only on a line of its own")
        } else if self.name.is_empty() {
            Some("does not name what it exempts")
        } else if self.reason.is_empty() {
            Some("gives no reason")
        } else if !REASON.contains(&self.reason.chars().count()) {
            Some("has a reason that is not 10 to 300 characters long")
        } else {
            None
        }
    }
}

/// The exemptions among a file's comments, in file order.
pub(crate) fn read(source: &Arc<SourceFile>, comments: &[Comment]) -> Vec<Exemption> {
    let exemption = |comment: &Comment| {
        let text = comment.text.trim();
        let (code, rest) = text.split_once(char::is_whitespace)?;
        let digits = code.strip_prefix("OZ-S")?;
        if digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let rest = rest.trim_start().strip_prefix("allow")?;
        if !rest.is_empty() && !rest.starts_with([' ', '\t', ':']) {
            return None;
        }
        let (name, reason) = rest.split_once(':').unwrap_or((rest, ""));
        Some(Exemption {
            code: code.to_owned(),
            name: name.trim().to_owned(),
            reason: reason.trim().to_owned(),
            span: Span::new(source, comment.range.clone()),
            own_line: comment.own_line,
        })
    };
    comments.iter().filter_map(exemption).collect()
}
