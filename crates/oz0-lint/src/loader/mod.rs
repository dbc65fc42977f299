//! The pages of the loader's codes, in the form of a rule's page.
//!
//! What the loader finds is an error at each level and in every command, and no rule: nobody exempts from it, runs it alone
//! or leaves it out. It is explained all the same, from one source, as a rule is.

use oz0_diagnostic::Check;
use oz0_plugin::check;

use crate::page::Page;

/// A code of the loader's, and its page.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoaderCheck {
    /// Its code and name.
    pub check: &'static Check,
    /// Its page, as Markdown with examples that are tests.
    pub page: &'static str,
}

static CHECKS: &[LoaderCheck] = &[
    LoaderCheck { check: &check::OZ_L001, page: include_str!("l001_does_not_decode.md") },
    LoaderCheck {
        check: &check::OZ_L002,
        page: include_str!("l002_malformed_or_dangling_name.md"),
    },
    LoaderCheck { check: &check::OZ_L003, page: include_str!("l003_reserved_id.md") },
    LoaderCheck { check: &check::OZ_L010, page: include_str!("l010_no_readable_readme.md") },
    LoaderCheck { check: &check::OZ_L011, page: include_str!("l011_not_the_licence.md") },
    LoaderCheck { check: &check::OZ_L020, page: include_str!("l020_unpackable_file.md") },
    LoaderCheck { check: &check::OZ_L021, page: include_str!("l021_too_large.md") },
];

/// The loader's codes, in their order.
pub fn loader_checks() -> &'static [LoaderCheck] {
    CHECKS
}

impl LoaderCheck {
    /// The title of its page.
    pub fn title(&self) -> String {
        Page::read(self.page).map(|page| page.title).unwrap_or_default()
    }
}
