//! Model providers, and the variables in which their software looks for a key.
//!
//! A provider's key in a plugin's process lets its tools call models around the gateway: unmetered and outside every rule.
//! A variable counts when it is a provider's *first*: a token that some other system's tools need anyway, and that models
//! can be called with as well (`GITHUB_TOKEN`, AWS's keys), is no provider's key here, and stands in the data file as such.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::DataError;

/// A model provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its name in models' names: `openai` in `openai/gpt-5.5`.
    pub id: String,
    /// Its name as people write it.
    pub name: String,
    /// The variables that hold its key, the usual one first.
    pub variables: Vec<String>,
    /// Where its API is, where it has one place.
    #[serde(default)]
    pub base_url: Option<String>,
}

/// The providers of a data file, and the variables that are another system's first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Providers {
    /// Where the rows are known from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the data file"))]
    sources: Vec<String>,
    /// Variables that are another system's first, with that system.
    elsewhere: BTreeMap<String, String>,
    provider: Vec<Provider>,
}

impl Providers {
    /// The provider whose key a variable holds.
    pub fn of_variable(&self, variable: &str) -> Option<&Provider> {
        self.provider.iter().find(|provider| provider.variables.iter().any(|name| name == variable))
    }

    /// The system that a variable belongs to before any provider of models.
    pub fn elsewhere(&self, variable: &str) -> Option<&str> {
        self.elsewhere.get(variable).map(String::as_str)
    }
}

/// The data file.
const TEXT: &str = include_str!("../data/providers.toml");

static FILE: LazyLock<Providers> =
    LazyLock::new(|| read(TEXT).expect("a test reads the data file"));

/// Reads a text as the data file is read.
///
/// # Errors
///
/// [`DataError`] when the text is not of the file's shape: a provider twice, a variable that is two providers', a name of a
/// variable that no shell would take, an address that is not `https`.
pub fn read(text: &str) -> Result<Providers, DataError> {
    let file: Providers = toml::from_str(text)?;
    let mut ids = BTreeSet::new();
    let mut variables: BTreeSet<&str> = file.elsewhere.keys().map(String::as_str).collect();
    let is_variable = |name: &str| {
        let known = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        !name.is_empty() && name.chars().all(known)
    };
    for provider in &file.provider {
        let fault = |what: &str| Err(DataError::new(&provider.id, what));
        if !ids.insert(&provider.id) {
            return fault("stands there twice");
        }
        if provider.name.is_empty() || provider.variables.is_empty() {
            return fault("has no name or no variable");
        }
        if !provider.variables.iter().all(|name| is_variable(name)) {
            return fault("has a variable that is none");
        }
        if !provider.variables.iter().all(|name| variables.insert(name)) {
            return fault("has a variable that stands there twice");
        }
        if provider.base_url.as_ref().is_some_and(|url| !url.starts_with("https://")) {
            return fault("has an address that is not https");
        }
    }
    Ok(file)
}

/// Every provider, in the order of the data file.
pub fn all() -> &'static [Provider] {
    &FILE.provider
}

/// The provider whose key a variable holds.
pub fn of_variable(variable: &str) -> Option<&'static Provider> {
    FILE.of_variable(variable)
}

/// The system that a variable belongs to before any provider of models.
pub fn elsewhere(variable: &str) -> Option<&'static str> {
    FILE.elsewhere(variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_reads_and_says_where_it_is_from() {
        let file = read(TEXT).unwrap();
        assert!(!file.sources.is_empty());
        assert!(!file.provider.is_empty());
    }

    #[test]
    fn a_file_of_another_shape_is_refused_with_the_provider_and_why() {
        let text = "sources = [\"a\"]\n[elsewhere]\nB_TOKEN = \"B\"\n[[provider]]\nid = \"a\"\nname = \"A\"\nvariables = [\"A_KEY\"]\nbase_url = \"https://a.example\"\n";
        let file = read(text).unwrap();
        assert_eq!(file.of_variable("A_KEY").map(|provider| &*provider.id), Some("a"));
        assert_eq!(file.elsewhere("B_TOKEN"), Some("B"));
        for (old, new, says) in [
            ("A_KEY", "B_TOKEN", "a: has a variable that stands there twice"),
            ("[\"A_KEY\"]", "[\"A_KEY\", \"A_KEY\"]", "stands there twice"),
            ("[\"A_KEY\"]", "[]", "a: has no name or no variable"),
            ("name = \"A\"", "name = \"\"", "a: has no name or no variable"),
            ("A_KEY", "a-key", "a: has a variable that is none"),
            ("https:", "http:", "a: has an address that is not https"),
            ("variables", "variable", "variable"),
        ] {
            let error = read(&text.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(says), "{new}: {error}");
        }
        let twice = format!("{text}[[provider]]\nid = \"a\"\nname = \"A\"\nvariables = [\"C\"]\n");
        assert_eq!(read(&twice).unwrap_err().to_string(), "a: stands there twice");
    }
}
