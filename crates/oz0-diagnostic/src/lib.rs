//! Diagnostics: what is wrong in somebody's plugin, exactly where, and what to do about it.
//!
//! Every check of the project, of the loader as of the linter, hands out the same [`Diagnostic`], so
//! that every surface (terminal, JSON, editors) shows the same findings. A diagnostic cannot be made
//! without a [`Span`]: a finding that does not say where is no help. What a finding is an instance of
//! ([`Check`]) is static, so code, name and plain level cannot differ from one finding to the next.
//!
//! A [`Span`] carries its [`SourceFile`] (behind an `Arc`), so that related places may lie in other
//! files and a reporter needs nothing but the diagnostics.
//!
//! # Text that is not ours
//!
//! A message quotes the plugin, and a snippet shows a line of it. On a terminal such text could move
//! the cursor, recolour what stands above, or turn its reading order round. So the reporters for
//! people ([`report::pretty`], [`report::concise`]) show every control, bidirectional and invisible
//! character as an escape (`\u{202E}`), and the underline still stands below the right characters.

mod check;
mod escape;
mod nearest;
pub mod report;
mod source;

pub use check::{Check, Diagnostic, Edit, Fix, Level, Related, Safety};
pub use nearest::did_you_mean;
pub use source::{Position, SourceFile, Span};
