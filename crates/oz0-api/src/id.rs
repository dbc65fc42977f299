//! Names and identifiers, each parsed once at the door.
//!
//! A value of one of these types is well formed: whoever holds it need not check it again, and a
//! store or a page can print it without escaping. They travel as plain JSON strings; a malformed
//! one fails while the request is read, with a message that says what it should look like.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use oz0_listing::{FunctionId, ToolId};
use oz0_policy::Match;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A string that is not the identifier it was given as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {what}: {rule}")]
pub struct IdError {
    given: String,
    what: &'static str,
    rule: &'static str,
}

/// Shortens and escapes what somebody sent, so that an error message cannot carry a payload.
fn shown(given: &str) -> String {
    let mut cut: String = given.chars().take(80).collect();
    if cut.len() < given.len() {
        cut.push('…');
    }
    oz0_listing::escape::line(&cut).into_owned()
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $schema:tt, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { given: shown(text), what: $what, rule: $rule })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!($schema);
                schema.insert("type".to_owned(), "string".into());
                schema.insert("description".to_owned(), concat!($what, ": ", $rule).into());
                schema
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Semantic Versioning 2.0.0's own expression, with numbers of 18 digits at most: they are read as 64 bits.
const SEMVER: &str = concat!(
    r"^(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})",
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?",
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$",
);

fn lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

identifier!(
    /// A plugin's name, as its manifest has it: `^[a-z][a-z0-9-]{0,62}$`.
    PluginName,
    "a plugin's name",
    "a lower-case letter, then up to 62 lower-case letters, digits and `-`",
    { "pattern": "^[a-z][a-z0-9-]{0,62}$" },
    |text| {
        text.len() <= 63
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    }
);

identifier!(
    /// A plugin's version: Semantic Versioning 2.0.0, at most 128 bytes.
    PluginVersion,
    "a version",
    "it must be MAJOR.MINOR.PATCH, as Semantic Versioning 2.0.0 has it",
    { "pattern": SEMVER, "maxLength": 128 },
    |text| text.len() <= 128 && semver::Version::parse(text).is_ok()
);

identifier!(
    /// A node's name, and so the name of its token: `^[a-z0-9][a-z0-9._-]{0,62}$`.
    NodeName,
    "a node's name",
    "a lower-case letter or digit, then up to 62 lower-case letters, digits, `.`, `_` and `-`",
    { "pattern": "^[a-z0-9][a-z0-9._-]{0,62}$" },
    |text| {
        text.len() <= 63
            && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && text
                .bytes()
                .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
    }
);

identifier!(
    /// A change's ID: 64 lower-case hex digits. It is a SHA-256 over the plugin, the version, the
    /// function (or tool) and what is now listed, so that an approval that names it can only mean
    /// what was looked at. It is not shortened: a server chooses its own listings, and with a short
    /// ID could make two of them that share one.
    ChangeId,
    "a change's ID",
    "it must be 64 lower-case hex digits, as `plugin list` and `approve-tools --show` print them",
    { "pattern": "^[0-9a-f]{64}$" },
    |text| lower_hex(text, 64)
);

identifier!(
    /// A token's public half: 16 lower-case hex digits.
    TokenId,
    "a token's ID",
    "it must be 16 lower-case hex digits, as `token list` prints them",
    { "pattern": "^[0-9a-f]{16}$" },
    |text| lower_hex(text, 16)
);

identifier!(
    /// An asked call: 32 lower-case hex digits.
    CallId,
    "a call's ID",
    "it must be 32 lower-case hex digits",
    { "pattern": "^[0-9a-f]{32}$" },
    |text| lower_hex(text, 32)
);

identifier!(
    /// A call that a person is asked about: 32 lower-case hex digits.
    ApprovalId,
    "the ID of a call that waits",
    "it must be 32 lower-case hex digits, as `oz0 approvals list` prints them",
    { "pattern": "^[0-9a-f]{32}$" },
    |text| lower_hex(text, 32)
);

identifier!(
    /// A rule of the tenant's policy: 16 lower-case hex digits.
    RuleId,
    "a rule's ID",
    "it must be 16 lower-case hex digits, as `oz0 policy list` prints them",
    { "pattern": "^[0-9a-f]{16}$" },
    |text| lower_hex(text, 16)
);

identifier!(
    /// The functions that a rule is about: `<tool>.<function>`, `<tool>.*` or `*`.
    PolicyMatch,
    "a match of functions",
    "write `<tool>.<function>`, `<tool>.*` or `*`",
    {
        "pattern": "^(\\*|[A-Za-z][A-Za-z0-9_-]{0,62}\\.(\\*|[A-Za-z0-9_.-]{1,128}))$",
        "not": { "pattern": "^oz\\." },
    },
    |text| text == "*"
        || text.strip_suffix(".*").is_some_and(|tool| ToolId::try_from(tool).is_ok())
        || text.parse::<FunctionId>().is_ok()
);

identifier!(
    /// What one plugin uses of another: `<tool>.<function>`, or `<tool>.*` for a whole tool.
    FunctionGrant,
    "a function of another plugin",
    "write `<tool>.<function>`, or `<tool>.*` for a whole tool",
    { "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,62}\\.(\\*|[A-Za-z0-9_.-]{1,128})$" },
    |text| text.strip_suffix(".*").is_some_and(|tool| ToolId::try_from(tool).is_ok())
        || text.parse::<FunctionId>().is_ok()
);

identifier!(
    /// The versions of another plugin that work: ranges as `>=1.1, <2`, several of them joined by `||`; at most 1,000 bytes.
    VersionRange,
    "a range of versions",
    "write comparisons joined by commas, such as `>=1.1, <2`",
    { "maxLength": 1000 },
    |text| text.len() <= 1000
        && text.split("||").all(|range| semver::VersionReq::parse(range.trim()).is_ok())
);

identifier!(
    /// Which functions a hook is called around: a function's ID in which `*` stands for any run of characters.
    CallPattern,
    "a pattern of functions",
    "write a function's ID in which `*` stands for any run of characters, such as `*.create_*`",
    { "pattern": "^[A-Za-z0-9_.*-]{1,200}$" },
    |text| (1..=200).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.*-".contains(&b))
);

identifier!(
    /// An edge's own name, drawn once when its store is made: 32 lower-case hex digits.
    EdgeId,
    "an edge's ID",
    "it must be 32 lower-case hex digits",
    { "pattern": "^[0-9a-f]{32}$" },
    |text| lower_hex(text, 32)
);

identifier!(
    /// The name of a secret, and so of the variable that processes get it in: `^[A-Za-z_][A-Za-z0-9_]{0,127}$`.
    SecretName,
    "a secret's name",
    "a letter or `_`, then up to 127 letters, digits and `_`",
    { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
    |text| {
        text.len() <= 128
            && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    }
);

identifier!(
    /// The name of a connection in its plugin's manifest: `^[A-Za-z][A-Za-z0-9_-]{0,62}$`.
    ConnectionName,
    "a connection's name",
    "a letter, then up to 62 letters, digits, `_` and `-`",
    { "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,62}$" },
    |text| {
        text.len() <= 63
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    }
);

impl FunctionGrant {
    /// The function; none where it is a whole tool.
    pub fn function(&self) -> Option<FunctionId> {
        self.0.parse().ok()
    }

    /// The tool, whole or the function's.
    pub fn tool(&self) -> &str {
        self.0.split_once('.').map_or(self.as_str(), |(tool, _)| tool)
    }
}

impl PluginVersion {
    /// Whether this comes before `other`, as Semantic Versioning orders them: build metadata do not count.
    pub fn is_older_than(&self, other: &Self) -> bool {
        match (semver::Version::parse(&self.0), semver::Version::parse(&other.0)) {
            (Ok(one), Ok(other)) => one.cmp_precedence(&other).is_lt(),
            _ => false,
        }
    }
}

impl VersionRange {
    /// Whether a version is in the range.
    pub fn matches(&self, version: &PluginVersion) -> bool {
        let Ok(version) = semver::Version::parse(&version.0) else { return false };
        let within = |range: &str| {
            semver::VersionReq::parse(range.trim()).is_ok_and(|r| r.matches(&version))
        };
        self.0.split("||").any(within)
    }
}

impl ChangeId {
    /// The ID over `parts`, each bounded by its length so that no two lists of parts read alike.
    pub fn over(parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        Self(hex(&hasher.finalize()))
    }
}

impl TokenId {
    /// An ID of eight random bytes.
    pub fn from_random(bytes: [u8; 8]) -> Self {
        Self(hex(&bytes))
    }
}

impl ApprovalId {
    /// An ID of sixteen random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }
}

impl RuleId {
    /// An ID of eight random bytes.
    pub fn from_random(bytes: [u8; 8]) -> Self {
        Self(hex(&bytes))
    }
}

impl PolicyMatch {
    /// The match, as decisions take it.
    pub fn to_match(&self) -> Match {
        self.0.parse().expect("its form is that of a match")
    }

    /// Whether every function that `other` is about is one that this is about.
    pub fn includes(&self, other: &Self) -> bool {
        match (self.to_match(), other.to_match()) {
            (Match::All, _) => true,
            (Match::Tool(tool), Match::Tool(of) | Match::Function { tool: of, .. }) => tool == of,
            (one, other) => one == other,
        }
    }
}

impl CallPattern {
    /// Whether this function is one of them.
    pub fn covers(&self, function: &FunctionId) -> bool {
        let (pattern, text) = (self.0.as_bytes(), function.as_str().as_bytes());
        let (mut at, mut seen) = (0, 0);
        // Behind the last `*`, and how far it reaches so far.
        let mut star: Option<(usize, usize)> = None;
        while seen < text.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    at += 1;
                    star = Some((at, seen));
                }
                Some(byte) if *byte == text[seen] => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    let Some((behind, reach)) = star else { return false };
                    star = Some((behind, reach + 1));
                    (at, seen) = (behind, reach + 1);
                }
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

impl CallId {
    /// An ID of sixteen random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }
}

impl EdgeId {
    /// An ID of sixteen random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }
}

/// Lower-case hex of `bytes`.
fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

/// A point in an edge's history; every committed change of what nodes hold has a higher one.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    JsonSchema,
    Serialize,
    Deserialize,
)]
#[serde(transparent)]
pub struct Revision(pub i64);

/// Where a remote tool's calls go: what its pin holds.
///
/// Either an origin (scheme, IDNA host and port, the default port and a trailing dot dropped;
/// RFC 6454), or, where the host is a connection's param, the template that says so. A template is
/// no place: the connection that fills it pins its own host. Any difference between two endpoints
/// is a move; the path is no part of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint(String);

impl Endpoint {
    /// The endpoint as `scheme://host[:port]`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the host is a connection's param, so that no origin stands in the manifest.
    pub fn is_template(&self) -> bool {
        self.0.contains('{')
    }
}

impl FromStr for Endpoint {
    type Err = IdError;

    /// Reads the endpoint out of a tool's `url:`, or an endpoint that was written by this type.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = |rule| IdError { given: shown(text), what: "an endpoint", rule };
        if text.contains('\\') {
            return Err(wrong("a `\\` in a URL is read differently by different programs"));
        }
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| wrong("it must start with `https://`"))?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return Err(wrong("its scheme must be `https`, or `http` for a loopback address"));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(wrong("user information does not belong into a URL"));
        }
        if authority.contains('{') {
            let plain = |c: char| c.is_ascii_alphanumeric() || "{}._-:".contains(c);
            return if authority.chars().all(plain) {
                Ok(Self(format!("{scheme}://{}", authority.to_ascii_lowercase())))
            } else {
                Err(wrong("a host with a placeholder holds letters, digits, `.`, `-` and `{NAME}`"))
            };
        }
        let url = url::Url::parse(&format!("{scheme}://{authority}/"))
            .map_err(|_| wrong("it must be `scheme://host[:port]`"))?;
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        // RFC 1035 has no empty label but the root, which is the one dot taken off above.
        if host.split('.').any(str::is_empty) {
            return Err(wrong(
                "its host has an empty label: two dots side by side, or one in front",
            ));
        }
        Ok(Self(match url.port() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl JsonSchema for Endpoint {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Endpoint")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Where a remote tool's calls go: `scheme://host[:port]`, or a template of it.",
            "type": "string",
            "pattern": "^https?://[^/?#@\\\\]+$",
        })
    }
}

impl Serialize for Endpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
