//! npm's `package-lock.json` and `package.json`, reduced to what says which releases are installed.
//!
//! npm runs the scripts of a dependency that is taken from git, whatever it is told of scripts, so nothing but releases of
//! the registry may stand in either file, each with a SHA-512 over its bytes. What npm is given is written anew from what
//! was parsed, without `resolved`: where a release is fetched from is the user's choice, and its hash says that it is the one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use oz0_diagnostic::{SourceFile, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::closure::{Closure, LockedHash, LockedPackage, LockedScope};
use super::problem::{DependencyProblem, shown};

const WRITE: &str = "have npm write it anew: npm install --package-lock-only";
const RELEASES: &str = "require releases of the registry only, by their versions";

/// What npm installs: a manifest and a lock, written anew.
#[derive(Debug, Clone)]
pub struct PackageLock {
    source: Arc<SourceFile>,
    lock: Lock,
    manifest: Value,
}

/// npm's lockfile version 2 and 3.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Lock {
    #[serde(rename = "lockfileVersion")]
    version: u64,
    #[serde(default)]
    packages: BTreeMap<String, Entry>,
}

type Specs = BTreeMap<String, String>;

/// The members of a package that take part in an install. The others are not handed on: no script, no address, and no
/// shrinkwrap of a package's own, which would name others without our having seen it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "npm's format has them")]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing)]
    resolved: Option<String>,
    /// For the list of what is installed; npm needs none of it.
    #[serde(skip_serializing)]
    license: Option<Value>,
    #[serde(skip_serializing)]
    link: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    integrity: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    in_bundle: bool,
    #[serde(skip_serializing_if = "is_false")]
    dev: bool,
    #[serde(skip_serializing_if = "is_false")]
    optional: bool,
    #[serde(skip_serializing_if = "is_false")]
    dev_optional: bool,
    #[serde(skip_serializing_if = "is_false")]
    peer: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    dependencies: Specs,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    dev_dependencies: Specs,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    optional_dependencies: Specs,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    peer_dependencies: Specs,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    peer_dependencies_meta: BTreeMap<String, PeerMeta>,
    #[serde(alias = "bundledDependencies", skip_serializing_if = "Option::is_none")]
    bundle_dependencies: Option<Bundle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Bin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<Words>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<Words>,
    #[serde(skip_serializing_if = "Option::is_none")]
    libc: Option<Words>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PeerMeta {
    optional: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Bundle {
    All(bool),
    Named(Vec<String>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Bin {
    One(String),
    Named(Specs),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The members of a manifest that say what to install.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Manifest {
    dependencies: Specs,
    dev_dependencies: Specs,
    optional_dependencies: Specs,
    peer_dependencies: Specs,
    peer_dependencies_meta: BTreeMap<String, PeerMeta>,
    overrides: Option<Value>,
}

impl PackageLock {
    /// Reads a lock and the `package.json` that it was locked from.
    ///
    /// # Errors
    ///
    /// The first entry that is not a release of the registry with its hash.
    pub fn read(
        lock: &Arc<SourceFile>,
        manifest: &Arc<SourceFile>,
    ) -> Result<Self, DependencyProblem> {
        let read: Manifest = serde_json::from_str(manifest.text()).map_err(|error| {
            DependencyProblem::at_line(
                manifest,
                error.line(),
                format!("this is no package.json: {error}"),
                "write a JSON object with the dependencies, each a name and a version",
            )
        })?;
        let specs = [
            &read.dependencies,
            &read.dev_dependencies,
            &read.optional_dependencies,
            &read.peer_dependencies,
        ];
        for (name, spec) in specs.into_iter().flatten() {
            check_spec(manifest, name, spec)?;
        }
        if let Some(overrides) = &read.overrides {
            check_overrides(manifest, overrides, 0)?;
        }
        let mut written = json!({
            "name": "oz0-environment",
            "version": "0.0.0",
            "private": true,
            "dependencies": read.dependencies,
            "devDependencies": read.dev_dependencies,
            "optionalDependencies": read.optional_dependencies,
            "peerDependencies": read.peer_dependencies,
            "peerDependenciesMeta": read.peer_dependencies_meta,
        });
        if let Some(overrides) = read.overrides {
            written["overrides"] = overrides;
        }
        Ok(Self { manifest: written, ..Self::read_lock(lock)? })
    }

    /// Reads a lock of one package alone, of exactly this version.
    ///
    /// # Errors
    ///
    /// As for [`PackageLock::read`], and a lock of anything else.
    pub fn read_tool(
        lock: &Arc<SourceFile>,
        name: &str,
        version: &str,
    ) -> Result<Self, DependencyProblem> {
        let found = Self::read_lock(lock)?;
        let other = |message: String| {
            let help = "lock it anew with: oz0 plugin test --relock";
            DependencyProblem::error(Span::start_of(lock), message, help)
        };
        let root = found.lock.packages.get("").cloned().unwrap_or_default();
        let others = [&root.dev_dependencies, &root.optional_dependencies, &root.peer_dependencies];
        let alone = root.dependencies.len() == 1 && others.iter().all(|others| others.is_empty());
        if !alone || root.dependencies.get(name).is_none_or(|wanted| wanted != version) {
            return Err(other(format!("the lock is not one of {name}@{version} alone")));
        }
        match found.lock.packages.get(&format!("node_modules/{name}")) {
            Some(Entry { version: Some(locked), name: alias, .. }) if locked == version => {
                if alias.as_ref().is_some_and(|alias| alias != name) {
                    return Err(other(format!("the lock holds another package as {name}")));
                }
            }
            Some(Entry { version: Some(locked), .. }) => {
                return Err(other(format!(
                    "the lock holds {name}@{}, and the manifest names {version}",
                    shown(locked)
                )));
            }
            _ => return Err(other(format!("the lock does not hold {name}@{version}"))),
        }
        Ok(found)
    }

    fn read_lock(source: &Arc<SourceFile>) -> Result<Self, DependencyProblem> {
        let mut lock: Lock = serde_json::from_str(source.text()).map_err(|error| {
            DependencyProblem::at_line(
                source,
                error.line(),
                format!("this is no lock of npm: {error}"),
                WRITE,
            )
        })?;
        if !matches!(lock.version, 2 | 3) {
            return Err(DependencyProblem::error(
                Span::start_of(source),
                format!("lockfile version {} is not read, only 2 and 3", lock.version),
                WRITE,
            ));
        }
        lock.version = 3;
        for (path, entry) in &lock.packages {
            check_entry(source, &lock, path, entry)?;
        }
        let root = lock.packages.entry(String::new()).or_default();
        *root = Entry {
            name: Some("oz0-environment".to_owned()),
            version: Some("0.0.0".to_owned()),
            dependencies: std::mem::take(&mut root.dependencies),
            dev_dependencies: std::mem::take(&mut root.dev_dependencies),
            optional_dependencies: std::mem::take(&mut root.optional_dependencies),
            peer_dependencies: std::mem::take(&mut root.peer_dependencies),
            peer_dependencies_meta: std::mem::take(&mut root.peer_dependencies_meta),
            ..Entry::default()
        };
        let manifest = json!({
            "name": "oz0-environment",
            "version": "0.0.0",
            "private": true,
            "dependencies": root.dependencies,
        });
        Ok(Self { source: Arc::clone(source), lock, manifest })
    }

    /// The lock's file.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The `package.json` for npm.
    pub fn manifest_text(&self) -> String {
        format!("{:#}\n", self.manifest)
    }

    /// The `package-lock.json` for npm.
    pub fn lock_text(&self) -> String {
        let mut value = serde_json::to_value(&self.lock).unwrap_or_default();
        value["name"] = json!("oz0-environment");
        value["version"] = json!("0.0.0");
        format!("{value:#}\n")
    }

    /// The packages of the lock, each at its place in `node_modules`.
    pub fn closure(&self) -> Closure {
        let places: BTreeMap<&str, usize> = self
            .lock
            .packages
            .keys()
            .filter(|place| !place.is_empty())
            .enumerate()
            .map(|(index, place)| (place.as_str(), index))
            .collect();
        let needs = |place: &str, entry: &Entry| -> BTreeSet<usize> {
            [
                &entry.dependencies,
                &entry.dev_dependencies,
                &entry.optional_dependencies,
                &entry.peer_dependencies,
            ]
            .into_iter()
            .flat_map(BTreeMap::keys)
            .filter_map(|name| resolve(&places, place, name))
            .collect()
        };
        let entries = self.lock.packages.iter().filter(|(place, _)| !place.is_empty());
        let packages = entries
            .map(|(place, entry)| {
                let named = place.rsplit_once("node_modules/").map_or("", |(_, name)| name);
                let hashes = entry.integrity.iter().flat_map(|hashes| hashes.split(' '));
                LockedPackage {
                    name: entry.name.clone().unwrap_or_else(|| named.to_owned()),
                    version: entry.version.clone().unwrap_or_default(),
                    hashes: hashes.filter_map(LockedHash::of_integrity).collect(),
                    licence: match &entry.license {
                        Some(Value::String(text)) => Some(text.clone()),
                        _ => None,
                    },
                    scope: if entry.dev {
                        LockedScope::Development
                    } else if entry.optional || entry.dev_optional {
                        LockedScope::Optional
                    } else {
                        LockedScope::Required
                    },
                    needs: needs(place, entry),
                }
            })
            .collect();
        let direct = self.lock.packages.get("").map(|root| needs("", root)).unwrap_or_default();
        Closure { packages, direct, has_graph: true }
    }

    /// Where the entry of a place in `node_modules` stands in the file.
    pub fn span_at(&self, place: &str) -> Span {
        span_of(&self.source, place)
    }

    /// Where the first package stands that npm names in what it said.
    pub fn named_in(&self, said: &str) -> Option<Span> {
        let place = self.lock.packages.keys().find(|place| {
            place.rsplit_once("node_modules/").is_some_and(|(_, name)| {
                said.contains(&format!("{name}@")) || said.contains(&format!("/{name}/-/"))
            })
        })?;
        Some(self.span_at(place))
    }
}

/// Which package a package at this place gets under a name: the nearest one upwards, as Node.js looks for it.
fn resolve(places: &BTreeMap<&str, usize>, place: &str, name: &str) -> Option<usize> {
    let mut folder = place;
    loop {
        let candidate = if folder.is_empty() {
            format!("node_modules/{name}")
        } else {
            format!("{folder}/node_modules/{name}")
        };
        if let Some(found) = places.get(candidate.as_str()) {
            return Some(*found);
        }
        folder = match folder.rfind("/node_modules/") {
            Some(at) => &folder[..at],
            None if folder.is_empty() => return None,
            None => "",
        };
    }
}

/// Where a member stands, as far as it can be found by its name.
fn span_of(source: &Arc<SourceFile>, member: &str) -> Span {
    let quoted = Value::from(member).to_string();
    match source.text().find(&quoted) {
        Some(at) => Span::new(source, at..at + quoted.len()),
        None => Span::start_of(source),
    }
}

fn check_entry(
    source: &Arc<SourceFile>,
    lock: &Lock,
    path: &str,
    entry: &Entry,
) -> Result<(), DependencyProblem> {
    let problem = |message: String, help: &str| {
        let message = format!("{} {message}", shown(path));
        Err(DependencyProblem::error(span_of(source, path), message, help))
    };
    let specs = [
        &entry.dependencies,
        &entry.dev_dependencies,
        &entry.optional_dependencies,
        &entry.peer_dependencies,
    ];
    for (name, spec) in specs.into_iter().flatten() {
        check_spec(source, name, spec)?;
    }
    if path.is_empty() {
        return Ok(());
    }
    if entry.link || !is_place(path) {
        return problem("is a folder, not a package of the registry".to_owned(), RELEASES);
    }
    if let Some(name) = entry.name.as_ref().filter(|name| !is_name(name)) {
        return problem(format!("has the name {}, which is none", shown(name)), WRITE);
    }
    if entry.version.as_ref().is_none_or(|version| semver::Version::parse(version).is_err()) {
        return problem("has no version by Semantic Versioning".to_owned(), RELEASES);
    }
    if let Some(wrong) = wrong_bin(entry) {
        return problem(format!("has a program with the name or path {}", shown(wrong)), WRITE);
    }
    if entry.in_bundle {
        if entry.resolved.is_some() || entry.integrity.is_some() {
            return problem(
                "is said to lie in another package, and to be fetched by itself".to_owned(),
                WRITE,
            );
        }
        if !lies_in_a_bundle(lock, path) {
            return problem(
                "is said to lie in another package, and none bundles it".to_owned(),
                WRITE,
            );
        }
        return Ok(());
    }
    if let Some(resolved) = entry.resolved.as_ref().filter(|from| !from.starts_with("https://")) {
        return problem(
            format!("is taken from {}, not from a registry by https", shown(resolved)),
            RELEASES,
        );
    }
    match &entry.integrity {
        None => problem("has no integrity hash".to_owned(), WRITE),
        Some(hash) if !is_sha512(hash) => {
            problem(format!("has {} for a hash, not a sha512-…", shown(hash)), WRITE)
        }
        Some(_) => Ok(()),
    }
}

/// Whether a package above it, which is a release with a hash, brings others in its own files.
fn lies_in_a_bundle(lock: &Lock, path: &str) -> bool {
    path.match_indices("/node_modules/").any(|(at, _)| {
        lock.packages.get(&path[..at]).is_some_and(|above| {
            !above.in_bundle
                && match &above.bundle_dependencies {
                    None | Some(Bundle::All(false)) => false,
                    Some(Bundle::All(true)) => true,
                    Some(Bundle::Named(names)) => !names.is_empty(),
                }
        })
    })
}

/// Whether it is `node_modules/NAME`, once or below such ones.
fn is_place(path: &str) -> bool {
    path.strip_prefix("node_modules/").is_some_and(|rest| rest.split("/node_modules/").all(is_name))
}

/// Whether it is a name of npm, a scope included.
fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
            && part != "node_modules"
    };
    name.len() <= 214
        && match name.strip_prefix('@').and_then(|name| name.split_once('/')) {
            Some((scope, name)) => plain(scope) && plain(name),
            None => plain(name),
        }
}

/// A program whose name or path leaves its place.
fn wrong_bin(entry: &Entry) -> Option<&str> {
    let is_path = |path: &str| {
        !path.starts_with('/')
            && path.split('/').all(|part| part != "..")
            && path.chars().all(|c| matches!(c, ' '..='~') && c != '\\')
    };
    match entry.bin.as_ref()? {
        Bin::One(path) => (!is_path(path)).then_some(path),
        Bin::Named(programs) => programs.iter().find_map(|(name, path)| {
            if !is_name(name) {
                return Some(name.as_str());
            }
            (!is_path(path)).then_some(path.as_str())
        }),
    }
}

/// One or more hashes of SHA-512 (W3C Subresource Integrity), and no other.
fn is_sha512(integrity: &str) -> bool {
    let is_one = |hash: &str| {
        hash.strip_prefix("sha512-")
            .and_then(|digits| base64::engine::general_purpose::STANDARD.decode(digits).ok())
            .is_some_and(|bytes| bytes.len() == 64)
    };
    !integrity.is_empty() && integrity.split(' ').all(is_one)
}

fn check_spec(source: &Arc<SourceFile>, name: &str, spec: &str) -> Result<(), DependencyProblem> {
    let message = if !is_name(name) {
        format!("{} is no name of a package", shown(name))
    } else if !is_spec(spec) {
        format!("{} is asked for as {}, not by a version", shown(name), shown(spec))
    } else {
        return Ok(());
    };
    Err(DependencyProblem::error(span_of(source, name), message, RELEASES))
}

/// Whether it asks the registry: a range, a tag, or `npm:` with another name. Git, folders, files and addresses have signs
/// that none of these has.
fn is_spec(spec: &str) -> bool {
    let spec = match spec.strip_prefix("npm:") {
        None => spec,
        Some(alias) => match alias.char_indices().skip(1).find(|(_, c)| *c == '@') {
            None => return is_name(alias),
            Some((at, _)) if is_name(&alias[..at]) => &alias[at + 1..],
            Some(_) => return false,
        },
    };
    let lower = spec.to_ascii_lowercase();
    !spec.starts_with(['.', '-'])
        && ![".tgz", ".tar.gz", ".tar"].iter().any(|end| lower.ends_with(end))
        && spec.chars().all(|c| c.is_ascii_alphanumeric() || " -_.+*^~<>=|,".contains(c))
}

fn check_overrides(
    source: &Arc<SourceFile>,
    overrides: &Value,
    depth: u8,
) -> Result<(), DependencyProblem> {
    let Some(members) = overrides.as_object().filter(|_| depth < 16) else {
        return Err(DependencyProblem::error(
            span_of(source, "overrides"),
            "overrides is no object of names and versions",
            RELEASES,
        ));
    };
    for (key, value) in members {
        let at = key.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
        let name = &key[..at.unwrap_or(key.len())];
        let range = at.map_or("", |at| &key[at + 1..]);
        if key != "." {
            check_spec(source, name, range)?;
        }
        match value {
            Value::String(value) if value.strip_prefix('$').is_some_and(is_name) => {}
            Value::String(value) if is_spec(value) => {}
            Value::String(value) => {
                return Err(DependencyProblem::error(
                    span_of(source, key),
                    format!("{} is asked for as {}, not by a version", shown(key), shown(value)),
                    RELEASES,
                ));
            }
            other => check_overrides(source, other, depth + 1)?,
        }
    }
    Ok(())
}
