//! What a lock holds, whatever its format: the packages, their hashes, and which needs which.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::Engine as _;
use toml::{Table, Value};

use super::requirements::{Requirements, normal_name};
use super::uv::UvLock;

/// The packages of one lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closure {
    /// The packages.
    pub packages: Vec<LockedPackage>,
    /// Those that are asked for directly, by their places in `packages`.
    pub direct: BTreeSet<usize>,
    /// Whether the lock says which package needs which. A list of requirements does not: all of them are direct then.
    pub has_graph: bool,
}

/// One release in a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockedPackage {
    /// Its name: normalised by PEP 503 for Python, with its scope for npm.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The hashes of its files, one of which is installed.
    pub hashes: BTreeSet<LockedHash>,
    /// The licence that the lock names, as it is written there.
    pub licence: Option<String>,
    /// Whether it is for development alone, or may be missing.
    pub scope: LockedScope,
    /// What it needs, by places in [`Closure::packages`].
    pub needs: BTreeSet<usize>,
}

/// When a locked package is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LockedScope {
    /// Always.
    #[default]
    Required,
    /// Where it can be.
    Optional,
    /// For whoever develops the plugin.
    Development,
}

/// A hash of a released file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct LockedHash {
    /// Its algorithm as `CycloneDX` and IANA call it: `SHA-256`, `SHA-384`, `SHA-512`.
    pub algorithm: &'static str,
    /// Its digits, hexadecimal and lower-case.
    pub digits: String,
}

impl LockedHash {
    /// Reads `sha256:` and digits, as Python's locks have them.
    fn of_python(text: &str) -> Option<Self> {
        let (algorithm, digits) = text.split_once(':')?;
        let (algorithm, len) = match algorithm {
            "sha256" => ("SHA-256", 64),
            "sha384" => ("SHA-384", 96),
            "sha512" => ("SHA-512", 128),
            _ => return None,
        };
        let digits = digits.to_ascii_lowercase();
        let is_hash = digits.len() == len && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(Self { algorithm, digits })
    }

    /// Reads `sha512-` and base64 (W3C Subresource Integrity), as npm's locks have them.
    pub(super) fn of_integrity(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha512-")?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(digits).ok()?;
        let mut digits = String::with_capacity(2 * bytes.len());
        for byte in &bytes {
            let _ = write!(digits, "{byte:02x}");
        }
        (bytes.len() == 64).then_some(Self { algorithm: "SHA-512", digits })
    }
}

impl Requirements {
    /// The packages of the list.
    pub fn closure(&self) -> Closure {
        let packages: Vec<LockedPackage> = self
            .iter()
            .map(|found| LockedPackage {
                name: found.name().to_owned(),
                version: found.version().to_owned(),
                hashes: found
                    .hashes()
                    .iter()
                    .filter_map(|hash| LockedHash::of_python(hash))
                    .collect(),
                ..LockedPackage::default()
            })
            .collect();
        Closure { direct: (0..packages.len()).collect(), packages, has_graph: false }
    }
}

impl UvLock {
    /// The packages of the lock, without the project itself.
    pub fn closure(&self) -> Closure {
        let all: Vec<&Table> = self
            .table()
            .get("package")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_table)
            .collect();
        let is_project = |table: &Table| {
            let from = table.get("source").and_then(Value::as_table);
            from.is_some_and(|from| !from.contains_key("registry"))
        };
        let releases: Vec<&Table> =
            all.iter().copied().filter(|table| !is_project(table)).collect();
        let text = |table: &Table, key: &str| {
            table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut places: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
        for (place, table) in releases.iter().enumerate() {
            let name = normal_name(&text(table, "name"));
            places.entry(name).or_default().push((text(table, "version"), place));
        }
        // A dependency says a version only where there are several.
        let find = |dependency: &Value| -> Vec<usize> {
            let name = dependency.get("name").and_then(Value::as_str).unwrap_or_default();
            let version = dependency.get("version").and_then(Value::as_str);
            places
                .get(&normal_name(name))
                .into_iter()
                .flatten()
                .filter(|(known, _)| version.is_none_or(|version| version == known))
                .map(|(_, place)| *place)
                .collect()
        };
        let listed = |list: Option<&Value>| -> BTreeSet<usize> {
            list.and_then(Value::as_array).into_iter().flatten().flat_map(&find).collect()
        };
        let grouped = |groups: Option<&Value>| -> BTreeSet<usize> {
            let groups = groups.and_then(Value::as_table);
            groups.into_iter().flat_map(Table::values).flat_map(|list| listed(Some(list))).collect()
        };
        let packages: Vec<LockedPackage> = releases
            .iter()
            .map(|table| {
                let files = table.get("wheels").and_then(Value::as_array).into_iter().flatten();
                let hashes = files
                    .chain(table.get("sdist"))
                    .filter_map(|file| file.get("hash").and_then(Value::as_str))
                    .filter_map(LockedHash::of_python)
                    .collect();
                // uv lists an extra's dependencies only where the extra is asked for.
                let mut needs = listed(table.get("dependencies"));
                needs.extend(grouped(table.get("optional-dependencies")));
                LockedPackage {
                    name: normal_name(&text(table, "name")),
                    version: text(table, "version"),
                    hashes,
                    needs,
                    ..LockedPackage::default()
                }
            })
            .collect();
        let projects: Vec<&Table> = all.iter().copied().filter(|table| is_project(table)).collect();
        let required: BTreeSet<usize> =
            projects.iter().flat_map(|table| listed(table.get("dependencies"))).collect();
        let optional: BTreeSet<usize> =
            projects.iter().flat_map(|table| grouped(table.get("optional-dependencies"))).collect();
        let development: BTreeSet<usize> =
            projects.iter().flat_map(|table| grouped(table.get("dev-dependencies"))).collect();
        let mut closure = Closure { packages, direct: BTreeSet::new(), has_graph: true };
        // The weakest first, so that what is needed for more is marked by that.
        for (from, scope) in [
            (&development, LockedScope::Development),
            (&optional, LockedScope::Optional),
            (&required, LockedScope::Required),
        ] {
            closure.mark(from, scope);
        }
        closure.direct = required.into_iter().chain(optional).chain(development).collect();
        closure
    }
}

impl Closure {
    /// Marks everything that is reached from these packages.
    fn mark(&mut self, from: &BTreeSet<usize>, scope: LockedScope) {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = from.iter().copied().collect();
        while let Some(place) = open.pop() {
            if seen.insert(place) {
                self.packages[place].scope = scope;
                open.extend(&self.packages[place].needs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oz0_diagnostic::SourceFile;

    use super::super::{PackageLock, Requirements, UvLock};
    use super::{Closure, LockedScope};

    /// `name version scope -> needs`, a line a package, and what is direct.
    fn shown(closure: &Closure) -> String {
        let name = |place: &usize| closure.packages[*place].name.clone();
        let mut lines: Vec<String> = closure
            .packages
            .iter()
            .map(|package| {
                let needs: Vec<String> = package.needs.iter().map(name).collect();
                let hashes: Vec<String> = package
                    .hashes
                    .iter()
                    .map(|hash| format!("{} {}", hash.algorithm, &hash.digits[..4]))
                    .collect();
                format!(
                    "{} {} {:?} {:?} -> {} [{}]",
                    package.name,
                    package.version,
                    package.scope,
                    package.licence,
                    needs.join(" "),
                    hashes.join(", ")
                )
            })
            .collect();
        let direct: Vec<String> = closure.direct.iter().map(name).collect();
        lines.push(format!("direct: {}", direct.join(" ")));
        lines.join("\n")
    }

    #[test]
    fn a_lock_of_uv_says_who_needs_whom() {
        let hash = "ab".repeat(32);
        let lock = format!(
            r#"
version = 1
[[package]]
name = "mine"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [{{ name = "Web_Kit" }}]
[package.dev-dependencies]
dev = [{{ name = "checker" }}]
[[package]]
name = "web-kit"
version = "2.0"
source = {{ registry = "https://example.org/simple" }}
dependencies = [{{ name = "base", marker = "os_name == 'nt'" }}, {{ name = "twice", version = "2" }}]
sdist = {{ url = "https://example.org/a", hash = "sha256:{hash}" }}
wheels = [{{ url = "https://example.org/b", hash = "sha256:{other}" }}]
[package.optional-dependencies]
fast = [{{ name = "quick" }}]
[[package]]
name = "base"
version = "1"
source = {{ registry = "https://example.org/simple" }}
[[package]]
name = "quick"
version = "1"
source = {{ registry = "https://example.org/simple" }}
[[package]]
name = "twice"
version = "1"
source = {{ registry = "https://example.org/simple" }}
[[package]]
name = "twice"
version = "2"
source = {{ registry = "https://example.org/simple" }}
[[package]]
name = "checker"
version = "9"
source = {{ registry = "https://example.org/simple" }}
dependencies = [{{ name = "base" }}, {{ name = "twice", version = "1" }}]
"#,
            other = "cd".repeat(32)
        );
        let lock = SourceFile::new("uv.lock", lock);
        let project = SourceFile::new("pyproject.toml", "[project]\nname = \"mine\"\n");
        let closure = UvLock::read(&lock, &project).unwrap().closure();
        insta::assert_snapshot!(shown(&closure), @r#"
        web-kit 2.0 Required None -> base quick twice [SHA-256 abab, SHA-256 cdcd]
        base 1 Required None ->  []
        quick 1 Required None ->  []
        twice 1 Development None ->  []
        twice 2 Required None ->  []
        checker 9 Development None -> base twice []
        direct: web-kit checker
        "#);
    }

    #[test]
    fn a_lock_of_npm_is_resolved_as_node_resolves_it() {
        let hash = format!("sha512-{}==", "A".repeat(86));
        let lock = format!(
            r#"{{"lockfileVersion": 3, "packages": {{
                "": {{"dependencies": {{"a": "^1"}}, "devDependencies": {{"t": "1"}}}},
                "node_modules/a": {{"version": "1.0.0", "integrity": "{hash}", "license": "MIT",
                    "dependencies": {{"@s/b": "^1", "c": "^2"}}, "optionalDependencies": {{"o": "1"}},
                    "peerDependencies": {{"absent": "1"}}}},
                "node_modules/@s/b": {{"version": "1.0.0", "integrity": "{hash}", "dependencies": {{"c": "^1"}}}},
                "node_modules/@s/b/node_modules/c": {{"version": "1.5.0", "integrity": "{hash}"}},
                "node_modules/c": {{"version": "2.0.0", "integrity": "{hash}"}},
                "node_modules/o": {{"version": "1.0.0", "integrity": "{hash}", "optional": true}},
                "node_modules/t": {{"version": "1.0.0", "integrity": "{hash}", "dev": true}}
            }}}}"#
        );
        let lock = SourceFile::new("package-lock.json", lock);
        let manifest = SourceFile::new("package.json", r#"{"dependencies": {"a": "^1"}}"#);
        let closure = PackageLock::read(&lock, &manifest).unwrap().closure();
        insta::assert_snapshot!(shown(&closure), @r#"
        @s/b 1.0.0 Required None -> c [SHA-512 0000]
        c 1.5.0 Required None ->  [SHA-512 0000]
        a 1.0.0 Required Some("MIT") -> @s/b c o [SHA-512 0000]
        c 2.0.0 Required None ->  [SHA-512 0000]
        o 1.0.0 Optional None ->  [SHA-512 0000]
        t 1.0.0 Development None ->  [SHA-512 0000]
        direct: a t
        "#);
        assert_eq!(closure.packages[0].needs.iter().next(), Some(&1), "the nearest one counts");
    }

    #[test]
    fn a_list_of_requirements_says_no_graph() {
        let text = format!(
            "B.b==1 --hash=sha256:{}\na==2+l --hash=sha512:{}\n",
            "0a".repeat(32),
            "0B".repeat(64)
        );
        let source = SourceFile::new("requirements.txt", text);
        let closure = Requirements::read(&source).unwrap().closure();
        insta::assert_snapshot!(shown(&closure), @r"
        b-b 1 Required None ->  [SHA-256 0a0a]
        a 2+l Required None ->  [SHA-512 0b0b]
        direct: b-b a
        ");
        assert!(!closure.has_graph);
        assert_eq!(closure.packages[0].scope, LockedScope::Required);
    }
}
