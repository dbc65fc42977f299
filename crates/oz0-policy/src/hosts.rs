//! Hosts that serve what anyone can publish.
//!
//! A plugin that may reach such a host may download and run whatever somebody put there. That is a reason to look, never a
//! verdict: `data/hosts.toml` says what a host is and what it serves, and for some the exact hosts of the one system that
//! downloads from it (its companions). The linter, reviews of egress, the install screen and the console read this one list.
//!
//! The file groups hosts by the domain that they end in, so the names of package registries' hosts stand in it in pieces.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::DataError;

/// What kind of host it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Raw files, archives, releases and pages of a code host.
    CodeHost,
    /// A registry of packages.
    PackageRegistry,
    /// A registry of container images.
    ContainerRegistry,
    /// A network that delivers the files of public packages.
    PackageCdn,
    /// A hub of models and data sets.
    ModelHub,
    /// Buckets and blobs.
    ObjectStore,
    /// Pages and applications that anyone deploys below one domain.
    PageHost,
    /// Pasted texts.
    Paste,
    /// Files kept for a while.
    TemporaryFiles,
    /// Tunnels to anyone's machine.
    Tunnel,
    /// Servers that record whatever reaches them.
    CallbackCatcher,
    /// Files that people share, and the file servers of chats.
    FileShare,
    /// Short addresses that lead anywhere.
    Shortener,
}

impl Category {
    /// The category as a noun phrase: `a package registry`.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::CodeHost => "a code host",
            Self::PackageRegistry => "a package registry",
            Self::ContainerRegistry => "a container registry",
            Self::PackageCdn => "a public package CDN",
            Self::ModelHub => "a model hub",
            Self::ObjectStore => "an object store",
            Self::PageHost => "a host of anyone's pages",
            Self::Paste => "a paste site",
            Self::TemporaryFiles => "a temporary file host",
            Self::Tunnel => "a tunnel",
            Self::CallbackCatcher => "a callback catcher",
            Self::FileShare => "a file share",
            Self::Shortener => "a link shortener",
        }
    }
}

/// A host, or a pattern of hosts, where anyone can publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentHost<'t> {
    /// The host; `*` stands for any run of characters.
    pub pattern: String,
    /// What kind of host it is.
    pub category: Category,
    /// What it serves, as a noun phrase.
    pub serves: &'t str,
    /// The exact hosts of the one system that downloads from it.
    pub companions: Vec<&'t str>,
}

/// A group of the data file: hosts that end in one domain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group<'t> {
    category: Category,
    serves: &'t str,
    domain: &'t str,
    /// What stands before the domain; `@` is the domain itself.
    hosts: Vec<&'t str>,
    #[serde(default)]
    companions: Vec<&'t str>,
    /// Where it is known from, by the short names at the head of the file.
    source: Vec<&'t str>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'t> {
    #[serde(borrow)]
    sources: std::collections::BTreeMap<&'t str, &'t str>,
    #[serde(borrow)]
    group: Vec<Group<'t>>,
}

/// The data file.
const TEXT: &str = include_str!("../data/hosts.toml");

static HOSTS: LazyLock<Vec<ContentHost<'static>>> =
    LazyLock::new(|| read(TEXT).expect("a test reads the data file"));

/// Reads a text as the data file is read; the most exact host comes first. Strings in it have no escapes.
///
/// # Errors
///
/// [`DataError`] when the text is not of the file's shape: a group without hosts or with a source that the head does not name,
/// a host in capitals, a companion that is a pattern.
pub fn read(text: &str) -> Result<Vec<ContentHost<'_>>, DataError> {
    let file: File<'_> = toml::from_str(text)?;
    let mut hosts = Vec::new();
    for group in &file.group {
        if let Some(fault) = group.fault(&file.sources) {
            return Err(DataError::new(group.domain, fault));
        }
        for host in &group.hosts {
            hosts.push(ContentHost {
                pattern: match *host {
                    "@" => group.domain.to_owned(),
                    host => format!("{host}.{}", group.domain),
                },
                category: group.category,
                serves: group.serves,
                companions: group.companions.clone(),
            });
        }
    }
    // The most exact first, so that what is found among them is in this order too.
    hosts.sort_by_key(|host| {
        (host.pattern.matches('*').count(), std::cmp::Reverse(host.pattern.len()))
    });
    Ok(hosts)
}

impl Group<'_> {
    /// What is wrong with it, in a few words.
    fn fault(&self, sources: &std::collections::BTreeMap<&str, &str>) -> Option<&'static str> {
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*".contains(c);
        let is_host = |text: &str| {
            !text.is_empty()
                && text.chars().all(is_known)
                && !text.starts_with('.')
                && !text.ends_with('.')
        };
        if self.serves.trim().is_empty() {
            Some("does not say what it serves")
        } else if self.source.is_empty() {
            Some("has no source")
        } else if !self.source.iter().all(|name| sources.contains_key(name)) {
            Some("has a source that the head does not name")
        } else if self.hosts.is_empty() {
            Some("has no hosts")
        } else if !is_host(self.domain) || self.domain.contains('*') {
            Some("is no domain")
        } else if !self.hosts.iter().all(|host| *host == "@" || is_host(host)) {
            Some("has a host that is none")
        } else if !self.companions.iter().all(|host| is_host(host) && !host.contains('*')) {
            Some("has a companion that is no exact host")
        } else {
            None
        }
    }
}

/// Every content host, the most exact first.
pub fn all() -> &'static [ContentHost<'static>] {
    &HOSTS
}

/// The content hosts that a host, or a pattern in which `*` stands for any run of characters, reaches; the most exact first.
pub fn reached_by(pattern: &str) -> Vec<&'static ContentHost<'static>> {
    HOSTS.iter().filter(|host| overlap(pattern, &host.pattern)).collect()
}

/// Whether some host is one of both patterns. `*` stands for any run of characters, none among them, in either; letters
/// match in both cases. Symmetric.
///
/// Two patterns that both have a `*` overlap when what stands before the first and behind the last agrees as far as both have
/// it: between the two ends, each pattern's stars take in whatever the other wants there. Takes time in the lengths.
pub fn overlap(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim_end_matches('.'), right.trim_end_matches('.'));
    match (left.contains('*'), right.contains('*')) {
        (false, false) => left.eq_ignore_ascii_case(right),
        (true, false) => is_match(left.as_bytes(), right.as_bytes()),
        (false, true) => is_match(right.as_bytes(), left.as_bytes()),
        (true, true) => {
            agree(left.bytes(), right.bytes()) && agree(left.bytes().rev(), right.bytes().rev())
        }
    }
}

/// Whether two patterns agree up to the first `*` of either.
fn agree(left: impl Iterator<Item = u8>, right: impl Iterator<Item = u8>) -> bool {
    left.zip(right)
        .take_while(|(left, right)| *left != b'*' && *right != b'*')
        .all(|(left, right)| left.eq_ignore_ascii_case(&right))
}

/// Whether a host is one of a pattern: each `*` takes as little as lets the rest be found, and the last one what is left.
fn is_match(pattern: &[u8], host: &[u8]) -> bool {
    let (mut at, mut in_host) = (0, 0);
    // Behind the last `*` that was met, and where it has taken the host up to.
    let mut star: Option<(usize, usize)> = None;
    while in_host < host.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, in_host));
                at += 1;
            }
            Some(byte) if byte.eq_ignore_ascii_case(&host[in_host]) => {
                at += 1;
                in_host += 1;
            }
            _ => match &mut star {
                Some((behind, taken)) => {
                    *taken += 1;
                    (at, in_host) = (*behind, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_data_file_reads_and_names_each_host_once() {
        let hosts = read(TEXT).unwrap();
        let mut seen = BTreeSet::new();
        for host in &hosts {
            assert!(seen.insert(&host.pattern), "{} stands there twice", host.pattern);
        }
    }

    #[test]
    fn each_source_is_used_and_no_host_is_its_own_companion() {
        let file: File<'_> = toml::from_str(TEXT).unwrap();
        for (name, what) in &file.sources {
            assert!(!what.is_empty(), "{name}");
            assert!(file.group.iter().any(|group| group.source.contains(name)), "{name} is unused");
        }
        for host in read(TEXT).unwrap() {
            assert!(!host.companions.contains(&&*host.pattern), "{}", host.pattern);
        }
    }

    #[test]
    fn a_file_of_another_shape_is_refused_with_the_group_and_why() {
        let group = |change: (&str, &str)| {
            let text = "[sources]\nlots = \"a list\"\n[[group]]\ncategory = \"paste\"\nserves = \"texts\"\ndomain = \"a.example\"\nhosts = [\"@\"]\ncompanions = [\"api.a.example\"]\nsource = [\"lots\"]\n";
            assert!(text.contains(change.0), "{change:?}");
            text.replacen(change.0, change.1, 1)
        };
        assert_eq!(read(&group(("@", "raw"))).unwrap()[0].pattern, "raw.a.example");
        for (change, says) in [
            (("serves = \"texts\"", "serves = \" \""), "a.example: does not say what it serves"),
            (("source = [\"lots\"]", "source = []"), "a.example: has no source"),
            (("source = [\"lots\"]", "source = [\"few\"]"), "that the head does not name"),
            (("hosts = [\"@\"]", "hosts = []"), "a.example: has no hosts"),
            (("domain = \"a.example\"", "domain = \"*.example\""), "is no domain"),
            (("domain = \"a.example\"", "domain = \"A.example\""), "is no domain"),
            (("hosts = [\"@\"]", "hosts = [\"@\", \".raw\"]"), "has a host that is none"),
            (("api.a.example", "*.a.example"), "has a companion that is no exact host"),
            (("category = \"paste\"", "category = \"cloud\""), "cloud"),
            (("serves", "server"), "server"),
        ] {
            let error = read(&group(change)).unwrap_err().to_string();
            assert!(error.contains(says), "{change:?}: {error}");
        }
    }
}
