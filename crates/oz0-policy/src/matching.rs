//! Which functions a rule is about.

/// The functions that a rule is about: `<tool>.<function>`, `<tool>.*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Match {
    /// Every function: `*`.
    All,
    /// Every function of a tool: `<tool>.*`.
    Tool(String),
    /// One function.
    Function {
        /// Its tool's ID.
        tool: String,
        /// Its name.
        name: String,
    },
}

impl Match {
    /// Whether the rule is about this function.
    pub fn covers(&self, tool: &str, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Tool(of) => of == tool,
            Self::Function { tool: of, name: named } => of == tool && named == name,
        }
    }
}

impl std::str::FromStr for Match {
    type Err = MatchError;

    /// Splits at the first `.`, since a tool's ID has none and a function's name may.
    fn from_str(text: &str) -> Result<Self, MatchError> {
        if text == "*" {
            return Ok(Self::All);
        }
        match text.split_once('.') {
            Some((tool, name)) if !tool.is_empty() && !name.is_empty() => Ok(match name {
                "*" => Self::Tool(tool.to_owned()),
                _ => Self::Function { tool: tool.to_owned(), name: name.to_owned() },
            }),
            _ => Err(MatchError),
        }
    }
}

/// A text is no match of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchError;

impl std::fmt::Display for MatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("is not `<tool>.<function>`, `<tool>.*` or `*`")
    }
}

impl std::error::Error for MatchError {}

impl std::fmt::Display for Match {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Tool(tool) => write!(f, "{tool}.*"),
            Self::Function { tool, name } => write!(f, "{tool}.{name}"),
        }
    }
}
