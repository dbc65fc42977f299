//! Packages that hold a server: `pypi:NAME==VERSION`, `npm:NAME@VERSION`, `oci:IMAGE@sha256:DIGEST`.

use std::sync::LazyLock;

use oz0_diagnostic::Check;
use regex_lite::Regex;

use crate::check::OZ_L002;
use crate::decode::text::{Text, pattern};

/// A package of a public registry, pinned or not: lint judges what floats, and only a pinned one is installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PackageRef {
    /// A Python package (PEP 508 name and extras, PEP 440 version).
    Pypi {
        /// The name as it is written.
        name: String,
        /// The extras in its brackets.
        extras: Vec<String>,
        /// The version.
        version: Pin,
    },
    /// An npm package.
    Npm {
        /// The name, with its scope where it has one: `@scope/name`.
        name: String,
        /// The version.
        version: Pin,
    },
    /// A container image.
    Oci {
        /// The image's name, with its registry where it has one, without tag.
        image: String,
        /// The digest: `sha256:` and 64 lower-case hex digits; a tag is a range.
        digest: Pin,
    },
}

/// How much of a package's version is fixed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pin {
    /// Exactly one version, or one digest.
    Exact(String),
    /// A range, a tag, a channel: as it is written, operators included.
    Floating(String),
    /// Nothing is said.
    Absent,
}

impl Pin {
    /// The one version, where it is fixed.
    pub fn exact(&self) -> Option<&str> {
        match self {
            Self::Exact(version) => Some(version),
            Self::Floating(_) | Self::Absent => None,
        }
    }
}

impl PackageRef {
    /// The one version or digest, where the reference fixes it.
    pub fn exact(&self) -> Option<&str> {
        self.pin().exact()
    }

    /// What the reference says of the version.
    pub fn pin(&self) -> &Pin {
        match self {
            Self::Pypi { version, .. } | Self::Npm { version, .. } => version,
            Self::Oci { digest, .. } => digest,
        }
    }

    /// The package's or image's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Pypi { name, .. } | Self::Npm { name, .. } => name,
            Self::Oci { image, .. } => image,
        }
    }
}

impl std::fmt::Display for PackageRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pypi { name, extras, version } => {
                write!(f, "pypi:{name}")?;
                if !extras.is_empty() {
                    write!(f, "[{}]", extras.join(","))?;
                }
                match version {
                    Pin::Exact(version) => write!(f, "=={version}"),
                    Pin::Floating(range) => f.write_str(range),
                    Pin::Absent => Ok(()),
                }
            }
            Self::Npm { name, version } => match version {
                Pin::Exact(version) | Pin::Floating(version) => write!(f, "npm:{name}@{version}"),
                Pin::Absent => write!(f, "npm:{name}"),
            },
            Self::Oci { image, digest } => match digest {
                Pin::Exact(digest) => write!(f, "oci:{image}@{digest}"),
                Pin::Floating(tag) => write!(f, "oci:{image}:{tag}"),
                Pin::Absent => write!(f, "oci:{image}"),
            },
        }
    }
}

/// A version, as PEP 440's appendix B has it, with its epoch, suffixes and local label; `1.*` is none.
static PEP_440: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?i)v?([0-9]+!)?[0-9]+(\.[0-9]+)*",
        r"([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?[0-9]*)?",
        r"(-[0-9]+|[-_.]?(post|rev|r)[-_.]?[0-9]*)?([-_.]?dev[-_.]?[0-9]*)?",
        r"(\+[a-z0-9]+([-_.][a-z0-9]+)*)?$"
    ))
    .expect("a test compiles it")
});

fn pypi(text: &str) -> PackageRef {
    let end = text.find(['[', '=', '<', '>', '!', '~']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut extras = Vec::new();
    if let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        extras = inside.split(',').map(|extra| extra.trim().to_owned()).collect();
        rest = after;
    }
    let exact = rest.strip_prefix("==").filter(|version| PEP_440.is_match(version));
    let version = match exact {
        Some(version) => Pin::Exact(version.to_owned()),
        None if rest.is_empty() => Pin::Absent,
        None => Pin::Floating(rest.to_owned()),
    };
    PackageRef::Pypi { name: name.to_owned(), extras, version }
}

fn npm(text: &str) -> PackageRef {
    // The first `@` may be the scope's.
    let at = text.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
    let (name, version) = match at {
        None => (text, Pin::Absent),
        Some(at) => {
            let version = text[at + 1..].to_owned();
            let exact = semver::Version::parse(&version).is_ok();
            (&text[..at], if exact { Pin::Exact(version) } else { Pin::Floating(version) })
        }
    };
    PackageRef::Npm { name: name.to_owned(), version }
}

fn oci(text: &str) -> PackageRef {
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (text, None),
    };
    // A `:` before the last `/` is a port's.
    let tag_at = rest.rfind(':').filter(|at| !rest[*at..].contains('/'));
    let (image, tag) = match tag_at {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let digest = match (digest, tag) {
        (Some(digest), _) => Pin::Exact(digest.to_owned()),
        (None, Some(tag)) => Pin::Floating(tag.to_owned()),
        (None, None) => Pin::Absent,
    };
    PackageRef::Oci { image: image.to_owned(), digest }
}

impl Text for PackageRef {
    const WHAT: &'static str = "a package";
    const RULE: &'static str =
        "write pypi:NAME==VERSION, npm:NAME@VERSION or oci:IMAGE@sha256:DIGEST";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!(
        r"^(pypi:[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._-]+( *, *[A-Za-z0-9._-]+)*\])?",
        r"((===?|~=|!=|<=?|>=?)[A-Za-z0-9.!+*_-]+(, *(===?|~=|!=|<=?|>=?)[A-Za-z0-9.!+*_-]+)*)?",
        r"|npm:(@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*(@[A-Za-z0-9.^~<>=|*+ -]+)?",
        r"|oci:[a-z0-9][a-z0-9._-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?)$"
    ));

    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("pypi", rest)) => Ok(pypi(rest)),
            Some(("npm", rest)) => Ok(npm(rest)),
            Some(("oci", rest)) => Ok(oci(rest)),
            _ => Err("names no known kind of package".to_owned()),
        }
    }

    fn hint(text: &str) -> Option<String> {
        match text.split_once(':') {
            None if text.contains("==") => Some(format!("write pypi:{text}")),
            None if text.contains('@') => Some(format!("write npm:{text}")),
            Some(("pypi", rest)) if rest.contains('@') => {
                Some(format!("write pypi:{}", rest.replace('@', "==")))
            }
            Some(("npm", rest)) if rest.contains("==") => {
                Some(format!("write npm:{}", rest.replace("==", "@")))
            }
            _ => None,
        }
    }
}
