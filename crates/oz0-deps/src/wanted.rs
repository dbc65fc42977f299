//! What is looked for.

use crate::source::Traces;

/// Where a package's name means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// The Python Package Index, and conda's channels, which use its names: case and runs of `-`, `_` and `.` do not count
    /// (PEP 503).
    PyPi,
    /// npm: a name is itself, letter by letter.
    Npm,
}

/// A package that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Where.
    pub ecosystem: Ecosystem,
    /// Its name, normalised as the ecosystem does.
    pub name: String,
    /// The modules that it brings: what a source imports, to the first dot. Of an npm package, its name.
    pub modules: Vec<String>,
    /// Its repositories, as `host/owner/name`, without case: a URL of one is the package by another name.
    pub repositories: Vec<String>,
    /// What stands in its folder: a folder of a module's name that is not where packages are installed is a copy of it when two or
    /// more of these are in it.
    pub contents: Vec<String>,
    /// Files of releases that did harm, beside its folders: a `.pth` file runs at every start of Python.
    pub startup_files: Vec<String>,
}

/// The packages that are looked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    packages: Vec<Package>,
    traces: Traces,
}

impl Wanted {
    /// These packages.
    pub fn new(packages: Vec<Package>) -> Self {
        let traces = Traces::new(&packages);
        Self { packages, traces }
    }

    /// All of them.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// What a source's bytes are looked through for.
    pub(crate) fn traces(&self) -> &Traces {
        &self.traces
    }

    /// The package that goes by `name`, which may be written in any way the ecosystem takes for the same.
    pub fn package(&self, ecosystem: Ecosystem, name: &str) -> Option<&Package> {
        let wanted = |package: &&Package| {
            package.ecosystem == ecosystem && same(ecosystem, name, &package.name)
        };
        self.packages.iter().find(wanted)
    }

    /// The package that brings the module `name`: a dotted name's first part.
    pub fn module(&self, ecosystem: Ecosystem, name: &str) -> Option<&Package> {
        let brings = |package: &&Package| {
            package.ecosystem == ecosystem && package.modules.iter().any(|module| module == name)
        };
        self.packages.iter().find(brings)
    }
}

/// Whether a written name means the package `name`, which is normalised.
fn same(ecosystem: Ecosystem, written: &str, name: &str) -> bool {
    match ecosystem {
        Ecosystem::Npm => written == name,
        Ecosystem::PyPi => folded(written).eq(name.bytes()),
    }
}

/// A name as PEP 503 normalises it.
fn folded(name: &str) -> impl Iterator<Item = u8> {
    let mut before = None;
    name.bytes().filter_map(move |byte| {
        let byte =
            if matches!(byte, b'-' | b'_' | b'.') { b'-' } else { byte.to_ascii_lowercase() };
        let repeated = byte == b'-' && before == Some(b'-');
        before = Some(byte);
        (!repeated).then_some(byte)
    })
}
