//! What is wrong with a data file.

/// A text is not of a data file's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError(String);

impl DataError {
    /// What is wrong, and of what: a domain, a provider, a phrase.
    pub(crate) fn new(of: &str, what: &str) -> Self {
        Self(format!("{of}: {what}"))
    }
}

impl From<toml::de::Error> for DataError {
    fn from(error: toml::de::Error) -> Self {
        Self(error.to_string())
    }
}

impl std::fmt::Display for DataError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DataError {}
