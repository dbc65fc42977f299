//! Model providers, and the variables in which their software looks for a key.
//!
//! A provider's key in a plugin's process lets its tools call models around the gateway: unmetered and outside every rule.
//! A variable counts when it is a provider's *first*: a token that some other system's tools need anyway, and that models
//! can be called with as well (`GITHUB_TOKEN`, AWS's keys), is no provider's key here, and stands in the data file as such.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Where the rows are known from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the data file"))]
    sources: Vec<String>,
    /// Variables that are another system's first, with that system.
    elsewhere: BTreeMap<String, String>,
    provider: Vec<Provider>,
}

/// The data file.
const TEXT: &str = include_str!("../data/providers.toml");

static FILE: LazyLock<File> =
    LazyLock::new(|| toml::from_str(TEXT).expect("a test reads the data file"));

/// Every provider, in the order of the data file.
pub fn all() -> &'static [Provider] {
    &FILE.provider
}

/// The provider whose key a variable holds.
pub fn of_variable(variable: &str) -> Option<&'static Provider> {
    FILE.provider.iter().find(|provider| provider.variables.iter().any(|name| name == variable))
}

/// The system that a variable belongs to before any provider of models.
pub fn elsewhere(variable: &str) -> Option<&'static str> {
    FILE.elsewhere.get(variable).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_provider_and_each_variable_stands_there_once() {
        let file: File = toml::from_str(TEXT).unwrap();
        assert!(!file.sources.is_empty());
        let mut ids = BTreeSet::new();
        let mut variables: BTreeSet<&str> = file.elsewhere.keys().map(String::as_str).collect();
        for provider in &file.provider {
            assert!(ids.insert(&provider.id), "{}", provider.id);
            assert!(!provider.name.is_empty() && !provider.variables.is_empty(), "{}", provider.id);
            for variable in &provider.variables {
                assert!(variables.insert(variable), "{variable} stands there twice");
                let known = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
                assert!(variable.chars().all(known), "{variable}");
            }
            let url = provider.base_url.as_deref().unwrap_or("https://");
            assert!(url.starts_with("https://"), "{}: {url}", provider.id);
        }
    }
}
