//! `sbom.cdx.json`: what a plugin's servers are installed from, as a bill of materials (`CycloneDX` 1.6, ECMA-424).
//!
//! It lists what the locks hold: `uv.lock` or `requirements.txt`, `package-lock.json`, and `locks/<tool>.lock` of package
//! tools. It is a function of these files alone. It says no time and has no random serial number, as other tools'
//! lists do, so two people who make it get equal bytes, and a changed list is a changed plugin; its serial number is made
//! of its content (RFC 9562, section 5.8: a UUID of version 8).
//!
//! A list of requirements does not say which package needs which: there all of them stand as needed by what is installed,
//! and the bill says that these needs are not known.
//! A package tool without a lock is in the list with the version that the manifest says, and the list then says of
//! itself that it is incomplete.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use oz0_diagnostic::{Diagnostic, Level};
use oz0_listing::Digest;
use oz0_plugin::manifest::{Manifest, PackageRef};
use oz0_plugin::{
    Closure, DependencyProblem, LoadError, LockedHash, LockedScope, PackageLock, Plugin,
    PythonDependencies, Requirements, check, normal_name,
};
use serde::Serialize;

/// The file's name, at the plugin's root.
pub const SBOM: &str = "sbom.cdx.json";

/// The bill of materials of a plugin, as the text of its file; or what is wrong with its locks.
///
/// # Errors
///
/// [`LoadError`] when a lock cannot be read, or is no longer what it was when the plugin was loaded.
pub fn sbom(
    plugin: &Plugin,
    manifest: &Manifest,
) -> Result<Result<String, Vec<Diagnostic>>, LoadError> {
    let mut materials = Materials::of(manifest);
    let mut problems: Vec<DependencyProblem> = Vec::new();
    let found = plugin.dependencies()?;
    problems.extend(found.unusable);
    match &found.python {
        Some(PythonDependencies::UvLock(lock)) => {
            materials.add(Ecosystem::Pypi, &lock.closure(), None);
        }
        Some(PythonDependencies::Requirements(list)) => {
            materials.add(Ecosystem::Pypi, &list.closure(), None);
        }
        None => {}
    }
    if let Some(lock) = &found.node {
        materials.add(Ecosystem::Npm, &lock.closure(), None);
    }
    for (id, tool) in &manifest.tools {
        let Some(package) = &tool.package else { continue };
        let source = match plugin.lock_text(&id.value)? {
            Ok(source) => source,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let Some((ecosystem, name, version)) = pinned(&package.value) else {
            materials.complete = false;
            continue;
        };
        let Some(source) = source else {
            materials.add_unlocked(ecosystem, name, version);
            continue;
        };
        let closure = match ecosystem {
            Ecosystem::Pypi => Requirements::read(&source).map(|list| list.closure()),
            Ecosystem::Npm => {
                PackageLock::read_tool(&source, name, version).map(|lock| lock.closure())
            }
        };
        match closure {
            Ok(closure) => materials.add(ecosystem, &closure, Some((name, version))),
            Err(problem) => problems.push(problem),
        }
    }
    let findings: Vec<Diagnostic> = problems
        .into_iter()
        .filter(|problem| problem.level == Level::Error)
        .map(|problem| {
            Diagnostic::new(&check::OZ_L001, problem.span, problem.message).help(problem.help)
        })
        .collect();
    Ok(if findings.is_empty() { Ok(materials.write()) } else { Err(findings) })
}

/// The package of a tool, where it is one release of an ecosystem whose locks are read.
fn pinned(package: &PackageRef) -> Option<(Ecosystem, &str, &str)> {
    match package {
        PackageRef::Pypi { name, version, .. } => Some((Ecosystem::Pypi, name, version.exact()?)),
        PackageRef::Npm { name, version } => Some((Ecosystem::Npm, name, version.exact()?)),
        PackageRef::Oci { .. } => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Pypi,
    Npm,
}

/// A package URL (ECMA-427).
fn purl(ecosystem: Ecosystem, name: &str, version: &str) -> String {
    let version = encoded(version);
    match ecosystem {
        Ecosystem::Pypi => format!("pkg:pypi/{}@{version}", encoded(&normal_name(name))),
        Ecosystem::Npm => match name.split_once('/') {
            Some((scope, name)) => {
                format!("pkg:npm/{}/{}@{version}", encoded(scope), encoded(name))
            }
            None => format!("pkg:npm/{}@{version}", encoded(name)),
        },
    }
}

/// Percent-encoded but for what ECMA-427 leaves as it is.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b".-_~:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A component while it is gathered: the same release in two locks is one.
#[derive(Debug)]
struct Part {
    /// Its scope, where npm has one: `@scope`.
    group: Option<String>,
    name: String,
    version: String,
    scope: LockedScope,
    hashes: BTreeSet<LockedHash>,
    licence: Option<String>,
    needs: BTreeSet<String>,
}

/// What is gathered, by package URLs.
struct Materials<'m> {
    manifest: &'m Manifest,
    parts: BTreeMap<String, Part>,
    /// What the plugin itself needs.
    direct: BTreeSet<String>,
    /// Whether every lock is there.
    complete: bool,
    /// Whether every lock says which package needs which.
    has_graph: bool,
}

impl<'m> Materials<'m> {
    fn of(manifest: &'m Manifest) -> Self {
        Self {
            manifest,
            parts: BTreeMap::new(),
            direct: BTreeSet::new(),
            complete: true,
            has_graph: true,
        }
    }

    /// Adds a lock's packages. Of a tool's lock, only the tool's package is what the plugin itself needs.
    fn add(&mut self, ecosystem: Ecosystem, closure: &Closure, tool: Option<(&str, &str)>) {
        self.has_graph &= closure.has_graph;
        let purls: Vec<String> = closure
            .packages
            .iter()
            .map(|package| purl(ecosystem, &package.name, &package.version))
            .collect();
        for (package, own) in closure.packages.iter().zip(&purls) {
            let (group, name) = split(ecosystem, &package.name);
            let part = self.parts.entry(own.clone()).or_insert_with(|| Part {
                group,
                name,
                version: package.version.clone(),
                scope: package.scope,
                hashes: BTreeSet::new(),
                licence: None,
                needs: BTreeSet::new(),
            });
            part.scope = part.scope.min(package.scope);
            part.hashes.extend(package.hashes.iter().cloned());
            part.licence = part.licence.take().or_else(|| package.licence.clone());
            part.needs.extend(package.needs.iter().map(|place| purls[*place].clone()));
            part.needs.remove(own);
        }
        let tool = tool.map(|(name, version)| purl(ecosystem, name, version));
        let direct = closure.direct.iter().map(|place| purls[*place].clone());
        match tool.filter(|tool| self.parts.contains_key(tool)) {
            Some(tool) => {
                let others: BTreeSet<String> = direct.filter(|other| *other != tool).collect();
                if let Some(part) = self.parts.get_mut(&tool) {
                    part.needs.extend(others);
                }
                self.direct.insert(tool);
            }
            None => self.direct.extend(direct),
        }
    }

    fn add_unlocked(&mut self, ecosystem: Ecosystem, name: &str, version: &str) {
        self.complete = false;
        let purl = purl(ecosystem, name, version);
        let (group, name) = split(ecosystem, name);
        self.parts.entry(purl.clone()).or_insert_with(|| Part {
            group,
            name,
            version: version.to_owned(),
            scope: LockedScope::Required,
            hashes: BTreeSet::new(),
            licence: None,
            needs: BTreeSet::new(),
        });
        self.direct.insert(purl);
    }

    fn write(&self) -> String {
        let manifest = self.manifest;
        let name = manifest.name.as_str();
        let version = manifest.version.value.to_string();
        let root = format!("pkg:generic/{}@{}", encoded(name), encoded(&version));
        let components: Vec<Component<'_>> =
            self.parts.iter().map(|(purl, part)| component(purl, part)).collect();
        let dependencies = std::iter::once((&root, &self.direct))
            .chain(self.parts.iter().map(|(purl, part)| (purl, &part.needs)))
            .map(|(purl, needs)| Dependency { purl, needs })
            .collect();
        let bom = Bom {
            format: "CycloneDX",
            spec_version: "1.6",
            serial_number: String::new(),
            version: 1,
            metadata: Metadata {
                component: Component {
                    kind: "application",
                    bom_ref: &root,
                    group: None,
                    name,
                    version: &version,
                    description: Some(manifest.description.as_str()),
                    scope: None,
                    hashes: Vec::new(),
                    licenses: licences(manifest.license.as_str()),
                    purl: None,
                },
            },
            components,
            dependencies,
            compositions: [
                Composition {
                    aggregate: if self.complete { "complete" } else { "incomplete" },
                    assemblies: Some([&root]),
                    dependencies: None,
                },
                Composition {
                    aggregate: match (self.complete, self.has_graph) {
                        (false, _) => "incomplete",
                        (true, false) => "unknown",
                        (true, true) => "complete",
                    },
                    assemblies: None,
                    dependencies: Some([&root]),
                },
            ],
        };
        let content = Digest::of(serde_json::to_string(&bom).expect(CANNOT_FAIL));
        let bom = Bom { serial_number: serial_number(content.as_bytes()), ..bom };
        serde_json::to_string_pretty(&bom).expect(CANNOT_FAIL) + "\n"
    }
}

const CANNOT_FAIL: &str = "texts and lists are JSON";

fn split(ecosystem: Ecosystem, name: &str) -> (Option<String>, String) {
    match (ecosystem, name.split_once('/')) {
        (Ecosystem::Npm, Some((scope, name))) => (Some(scope.to_owned()), name.to_owned()),
        (Ecosystem::Pypi, _) => (None, normal_name(name)),
        (Ecosystem::Npm, None) => (None, name.to_owned()),
    }
}

fn component<'p>(purl: &'p str, part: &'p Part) -> Component<'p> {
    Component {
        kind: "library",
        bom_ref: purl,
        group: part.group.as_deref(),
        name: &part.name,
        version: &part.version,
        description: None,
        scope: Some(match part.scope {
            LockedScope::Required => "required",
            LockedScope::Optional => "optional",
            LockedScope::Development => "excluded",
        }),
        hashes: part
            .hashes
            .iter()
            .map(|hash| Hash { alg: hash.algorithm, content: &hash.digits })
            .collect(),
        licenses: part.licence.as_deref().map(licences).unwrap_or_default(),
        purl: Some(purl),
    }
}

/// A licence as it is written: an expression where it is one of SPDX's, else a name.
fn licences(written: &str) -> Vec<Licence<'_>> {
    if written.trim().is_empty() {
        return Vec::new();
    }
    vec![if spdx::Expression::parse(written).is_ok() {
        Licence::Expression(written)
    } else {
        Licence::Named(LicenceName { name: written })
    }]
}

/// A UUID of version 8 and variant 10, of a digest's first bytes.
fn serial_number(digest: &[u8; 32]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0F | 0x80;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let hex =
        Digest::from_bytes([bytes, [0; 16]].concat().try_into().expect("twice 16 bytes")).hex();
    format!(
        "urn:uuid:{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..32]
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bom<'b> {
    #[serde(rename = "bomFormat")]
    format: &'static str,
    spec_version: &'static str,
    serial_number: String,
    version: u32,
    metadata: Metadata<'b>,
    components: Vec<Component<'b>>,
    dependencies: Vec<Dependency<'b>>,
    compositions: [Composition<'b>; 2],
}

#[derive(Serialize)]
struct Metadata<'b> {
    component: Component<'b>,
}

#[derive(Serialize)]
struct Component<'b> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref")]
    bom_ref: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'b str>,
    name: &'b str,
    version: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'b str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash<'b>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<Licence<'b>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<&'b str>,
}

#[derive(Serialize)]
struct Hash<'b> {
    alg: &'static str,
    content: &'b str,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Licence<'b> {
    Expression(&'b str),
    #[serde(rename = "license")]
    Named(LicenceName<'b>),
}

#[derive(Serialize)]
struct LicenceName<'b> {
    name: &'b str,
}

#[derive(Serialize)]
struct Dependency<'b> {
    #[serde(rename = "ref")]
    purl: &'b str,
    #[serde(rename = "dependsOn", skip_serializing_if = "BTreeSet::is_empty")]
    needs: &'b BTreeSet<String>,
}

#[derive(Serialize)]
struct Composition<'b> {
    aggregate: &'static str,
    /// Whose parts the list is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    assemblies: Option<[&'b str; 1]>,
    /// Whose needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<[&'b str; 1]>,
}

#[cfg(test)]
mod tests {
    use super::{Ecosystem, licences, purl, serial_number};

    #[test]
    fn package_urls_are_written_as_their_standard_has_them() {
        let table = [
            (Ecosystem::Pypi, "Typing_Extensions", "4.0", "pkg:pypi/typing-extensions@4.0"),
            (Ecosystem::Pypi, "torch", "2.0+cpu", "pkg:pypi/torch@2.0%2Bcpu"),
            (Ecosystem::Pypi, "a", "1!2", "pkg:pypi/a@1%212"),
            (
                Ecosystem::Npm,
                "@modelcontextprotocol/sdk",
                "1.32.2",
                "pkg:npm/%40modelcontextprotocol/sdk@1.32.2",
            ),
            (Ecosystem::Npm, "JSONStream", "1.0.0-rc.1", "pkg:npm/JSONStream@1.0.0-rc.1"),
        ];
        for (ecosystem, name, version, expected) in table {
            assert_eq!(purl(ecosystem, name, version), expected);
        }
    }

    #[test]
    fn a_serial_number_is_a_uuid_of_its_content() {
        assert_eq!(serial_number(&[0xFF; 32]), "urn:uuid:ffffffff-ffff-8fff-bfff-ffffffffffff");
        assert_eq!(serial_number(&[0; 32]), "urn:uuid:00000000-0000-8000-8000-000000000000");
    }

    #[test]
    fn a_licence_is_an_expression_or_a_name() {
        let written = |text| serde_json::to_string(&licences(text)).unwrap();
        assert_eq!(written("MIT OR Apache-2.0"), r#"[{"expression":"MIT OR Apache-2.0"}]"#);
        assert_eq!(written("SEE LICENSE IN x"), r#"[{"license":{"name":"SEE LICENSE IN x"}}]"#);
        assert_eq!(written(" "), "[]");
    }
}
