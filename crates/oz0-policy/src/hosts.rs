//! Hosts that serve what anyone can publish.
//!
//! A plugin that may reach such a host may download and run whatever somebody put there. That is a reason to look, never a
//! verdict: `data/hosts.toml` says what a host is and what it serves, and for some the exact hosts of the one system that
//! downloads from it (its companions). The linter, reviews of egress, the install screen and the console read this one list.
//!
//! The file groups hosts by the domain that they end in, so the names of package registries' hosts stand in it in pieces.

use std::sync::LazyLock;

use serde::Deserialize;

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
pub struct ContentHost {
    /// The host; `*` stands for any run of characters.
    pub pattern: String,
    /// What kind of host it is.
    pub category: Category,
    /// What it serves, as a noun phrase.
    pub serves: &'static str,
    /// The exact hosts of the one system that downloads from it.
    pub companions: Vec<String>,
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

static HOSTS: LazyLock<Vec<ContentHost>> =
    LazyLock::new(|| read(TEXT).expect("a test reads the data file"));

/// Reads a data file.
fn read(text: &'static str) -> Result<Vec<ContentHost>, String> {
    let file: File<'static> = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut hosts = Vec::new();
    for group in &file.group {
        if let Some(unknown) = group.source.iter().find(|name| !file.sources.contains_key(*name)) {
            return Err(format!("{}: there is no source {unknown}", group.domain));
        }
        for host in &group.hosts {
            hosts.push(ContentHost {
                pattern: match *host {
                    "@" => group.domain.to_owned(),
                    host => format!("{host}.{}", group.domain),
                },
                category: group.category,
                serves: group.serves,
                companions: group.companions.iter().map(|&host| host.to_owned()).collect(),
            });
        }
    }
    // The most exact first, so that what is found among them is in this order too.
    hosts.sort_by_key(|host| {
        (host.pattern.matches('*').count(), std::cmp::Reverse(host.pattern.len()))
    });
    Ok(hosts)
}

/// Every content host, the most exact first.
pub fn all() -> &'static [ContentHost] {
    &HOSTS
}

/// The content hosts that a host, or a pattern in which `*` stands for any run of characters, reaches; the most exact first.
pub fn reached_by(pattern: &str) -> Vec<&'static ContentHost> {
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
    fn each_group_has_what_it_serves_and_a_source_and_exact_companions() {
        let file: File<'_> = toml::from_str(TEXT).unwrap();
        for (name, what) in &file.sources {
            assert!(!what.is_empty(), "{name}");
            assert!(file.group.iter().any(|group| group.source.contains(name)), "{name} is unused");
        }
        for group in &file.group {
            let domain = group.domain;
            assert!(!group.serves.trim().is_empty(), "{domain}");
            assert!(!group.source.is_empty(), "{domain}");
            assert!(!group.hosts.is_empty(), "{domain}");
            assert_eq!(domain, domain.to_ascii_lowercase());
            for text in group.hosts.iter().chain(&group.companions).chain([&domain]) {
                let known =
                    |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*@".contains(c);
                assert!(text.chars().all(known), "{domain}: {text}");
                assert!(!text.starts_with('.') && !text.ends_with('.'), "{domain}: {text}");
            }
            for companion in &group.companions {
                assert!(!companion.contains(['*', '@']), "{domain}: {companion} is not exact");
                let own = group.hosts.iter().any(|host| {
                    companion
                        .strip_suffix(domain)
                        .is_some_and(|front| front.trim_end_matches('.') == *host)
                });
                assert!(!own, "{domain}: {companion} is its own companion");
            }
        }
    }
}
