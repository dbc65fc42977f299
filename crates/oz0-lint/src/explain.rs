//! What is explained: the rules, and the loader's codes.

use oz0_diagnostic::{Level, did_you_mean};
use serde_json::{Value, json};

use crate::list::rule_json;
use crate::loader::{LoaderCheck, loader_checks};
use crate::metadata::page_url;
use crate::page::published;
use crate::rules::{self, Rule, rules};

/// The format of [`Explained::to_json`].
const FORMAT: &str = "oz0.rule.v1";

/// A code with a page.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Explained {
    /// A rule.
    Rule(&'static Rule),
    /// A code of the loader's.
    Loader(&'static LoaderCheck),
}

impl Explained {
    /// Every code with a page: the rules, then the loader's, each in their order.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let loader = loader_checks().iter().map(Self::Loader);
        rules().iter().copied().map(Self::Rule).chain(loader)
    }

    /// What has this code, in any case, with or without `OZ-`; or this name.
    pub fn find(code: &str) -> Option<Self> {
        if let Some(rule) = rules::find(code) {
            return Some(Self::Rule(rule));
        }
        let wanted = code.to_ascii_uppercase();
        let wanted = wanted.strip_prefix("OZ-").unwrap_or(&wanted);
        let is = |found: &&LoaderCheck| {
            found.check.code.trim_start_matches("OZ-") == wanted || found.check.name == code
        };
        loader_checks().iter().find(is).map(Self::Loader)
    }

    /// The code or name that is nearest to one that nothing has.
    pub fn nearest(asked: &str) -> Option<&'static str> {
        let names = || Self::all().flat_map(|found| [found.code(), found.name()]);
        did_you_mean(asked, names()).or_else(|| did_you_mean(&asked.to_uppercase(), names()))
    }

    /// Its code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.metadata.code,
            Self::Loader(found) => found.check.code,
        }
    }

    /// Its name: the bad thing, in words joined by `-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.metadata.name,
            Self::Loader(found) => found.check.name,
        }
    }

    /// Its page as people read it, in Markdown.
    pub fn page(self) -> String {
        published(match self {
            Self::Rule(rule) => rule.metadata.page,
            Self::Loader(found) => found.page,
        })
    }

    /// What is known of it, and its page.
    pub fn to_json(self) -> Value {
        let mut value = match self {
            Self::Rule(rule) => rule_json(&rule.metadata),
            Self::Loader(found) => json!({
                "code": found.check.code,
                "name": found.check.name,
                "title": found.title(),
                "plain": found.check.level.name(),
                "verified": Level::Error.name(),
                "runs_on": "every plugin",
                "reads_functions": false,
                "fixable": false,
                "exemptible": false,
                "url": page_url(found.check.code),
            }),
        };
        value["format"] = FORMAT.into();
        value["page"] = self.page().into();
        value
    }
}
