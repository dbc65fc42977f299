//! Folders that are copies of packages.
//!
//! A folder with a package's name may be the package or somebody's own adapter for it. It counts where packages are installed,
//! or where two or more of the package's own entries are in it.

use super::{name, stem};
use crate::{Ecosystem, How, Package, Wanted};

/// What a folder says of the folders in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing: one with a package's name may be anything of that name.
    Nowhere,
    /// What is directly in it are installed packages of Python.
    Python,
    /// What is directly in it are installed packages of npm.
    Node,
    /// What is directly in it may be packages of either.
    Any,
    /// The same, also in folders of it that are no packages themselves: `vendor/python/litellm`, but not what `vendor/other` has
    /// for its own use.
    Vendored,
}

/// A folder that is one of a package.
#[derive(Debug)]
pub(crate) struct Found<'w> {
    pub(crate) package: &'w Package,
    pub(crate) how: How,
    /// Whether it is certain that its files are the package's own, whose sources import it of course.
    pub(crate) owned: bool,
}

/// What a folder makes of a package when that is in it: its manifest.
const PACKAGE: [&str; 4] = ["__init__.py", "package.json", "pyproject.toml", "setup.py"];

/// What the folder at `path` tells of the folders in it, when the one that it is in tells `within`.
pub(crate) fn place(path: &str, within: Place, has: impl Fn(&str) -> bool) -> Place {
    match named_place(last(path)) {
        Place::Nowhere if within == Place::Vendored && !PACKAGE.iter().any(|name| has(name)) => {
            Place::Vendored
        }
        place => place,
    }
}

/// Whether a folder's name is that of a place for packages.
pub(crate) fn is_place(path: &str) -> bool {
    named_place(last(path)) != Place::Nowhere
}

fn named_place(name: &str) -> Place {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let vendor = name.trim_start_matches(['_', '.']);
    if name == "node_modules" {
        Place::Node
    } else if is("site-packages") || is("dist-packages") {
        Place::Python
    } else if is("lib") || is("libs") {
        Place::Any
    } else if is("third_party")
        || is("third-party")
        || is("thirdparty")
        || is("__pypackages__")
        || vendor.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("vendor"))
    {
        Place::Vendored
    } else {
        Place::Nowhere
    }
}

/// What the folder at `path` is by its name, by what the one that it is in tells, and by its entries.
pub(crate) fn folder<'w>(
    wanted: &'w Wanted,
    path: &str,
    within: Place,
    has: impl Fn(&str) -> bool,
) -> Option<Found<'w>> {
    let name = last(path);
    if let Some(package) = metadata(wanted, name) {
        let owned = stem(name, ".egg").is_some();
        return Some(Found { package, how: How::Vendored, owned });
    }
    let python = wanted.module(Ecosystem::PyPi, name);
    let node = wanted.package(Ecosystem::Npm, name);
    // Of two that have the name, the one that its manifest tells.
    let node_first = has("package.json") && !has("__init__.py");
    let named = if node_first { [node, python] } else { [python, node] };
    let whole =
        |package: &&Package| package.contents.iter().filter(|entry| has(entry)).count() >= 2;
    if let Some(package) = named.into_iter().flatten().find(whole) {
        return Some(Found { package, how: How::Vendored, owned: true });
    }
    let package = match within {
        Place::Nowhere => None,
        Place::Python => python,
        Place::Node => node,
        Place::Any | Place::Vendored => named.into_iter().flatten().next(),
    }?;
    let owned = matches!(within, Place::Python | Place::Node);
    Some(Found { package, how: How::Vendored, owned })
}

/// The package that a folder has metadata of, or is an egg of.
fn metadata<'w>(wanted: &'w Wanted, name: &str) -> Option<&'w Package> {
    let stem = [".dist-info", ".egg-info", ".egg"].iter().find_map(|ending| stem(name, ending))?;
    name::distribution(wanted, Ecosystem::PyPi, stem)
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
