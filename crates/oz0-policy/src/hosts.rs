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

/// Reads a data file. A problem is told in one line.
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
    Ok(hosts)
}

/// Every content host, in the order of the data file.
pub fn all() -> &'static [ContentHost] {
    &HOSTS
}

/// The content hosts that a host, or a pattern in which `*` stands for any run of characters, reaches; the most exact first.
pub fn reached_by(pattern: &str) -> Vec<&'static ContentHost> {
    let mut found: Vec<&ContentHost> =
        HOSTS.iter().filter(|host| overlap(pattern, &host.pattern)).collect();
    found.sort_by_key(|host| {
        (host.pattern.matches('*').count(), std::cmp::Reverse(host.pattern.len()))
    });
    found
}

/// Whether some host is one of both patterns. `*` stands for any run of characters, none among them, in either; letters
/// match in both cases. Symmetric. Takes time in the product of the lengths, and a manifest bounds those.
pub fn overlap(left: &str, right: &str) -> bool {
    let left = left.trim_end_matches('.').as_bytes();
    let right = right.trim_end_matches('.').as_bytes();
    // A row for each prefix of `left`: whether a text can be both it and the prefix of `right` with that length.
    let mut row = vec![false; right.len() + 1];
    row[0] = true;
    for (at, byte) in right.iter().enumerate() {
        row[at + 1] = row[at] && *byte == b'*';
    }
    for byte in left {
        let mut next = vec![false; right.len() + 1];
        next[0] = row[0] && *byte == b'*';
        for (at, other) in right.iter().enumerate() {
            next[at + 1] = match (byte, other) {
                (b'*', _) => row[at + 1] || next[at],
                (_, b'*') => next[at] || row[at + 1],
                _ => row[at] && byte.eq_ignore_ascii_case(other),
            };
        }
        row = next;
    }
    row[right.len()]
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
