//! Copies of packages: installed, vendored, packed; known by the names of folders, metadata and archives.
//!
//! Nothing is unpacked and no metadata is read: an installer goes by these names too, and a copy under another name is out of
//! reach for both.

mod folder;
mod name;
mod pth;

pub(crate) use self::folder::{Place, folder, is_place, place};
use crate::file::{File, Sink};
use crate::{Ecosystem, Format, How, Package, Wanted};

/// Endings of archives that an installer takes, with what is in them.
const ARCHIVES: [(&str, &[Ecosystem]); 12] = [
    (".tar.gz", &[Ecosystem::PyPi, Ecosystem::Npm]),
    (".tgz", &[Ecosystem::Npm, Ecosystem::PyPi]),
    (".zip", &[Ecosystem::PyPi, Ecosystem::Npm]),
    (".tar.bz2", &[Ecosystem::PyPi]),
    (".tbz2", &[Ecosystem::PyPi]),
    (".tbz", &[Ecosystem::PyPi]),
    (".tar.xz", &[Ecosystem::PyPi]),
    (".txz", &[Ecosystem::PyPi]),
    (".tar.zst", &[Ecosystem::PyPi]),
    (".tar.lzma", &[Ecosystem::PyPi]),
    (".tar.z", &[Ecosystem::PyPi]),
    (".tar", &[Ecosystem::PyPi, Ecosystem::Npm]),
];

/// What a file is by its name.
pub(crate) fn file<'w>(wanted: &'w Wanted, path: &str) -> Option<(&'w Package, How)> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let harmful = |package: &&Package| package.startup_files.iter().any(|file| file == name);
    if let Some(package) = wanted.packages().iter().find(harmful) {
        return Some((package, How::StartupFile));
    }
    let ending = name.rsplit_once('.')?.1;
    let named = |stem: &str| name::distribution(wanted, Ecosystem::PyPi, stem);
    match &*ending.to_ascii_lowercase() {
        "whl" => Some((name::wheel(wanted, stem(name, ".whl")?)?, How::Archive)),
        "conda" => Some((name::conda(wanted, stem(name, ".conda")?)?, How::Archive)),
        "egg" => Some((named(stem(name, ".egg")?)?, How::Archive)),
        "egg-info" => Some((named(stem(name, ".egg-info")?)?, How::Vendored)),
        "egg-link" => Some((named(stem(name, ".egg-link")?)?, How::Vendored)),
        "pth" => Some((name::editable(wanted, stem(name, ".pth")?)?, How::Vendored)),
        "py" => Some((name::finder(wanted, stem(name, ".py")?)?, How::Vendored)),
        "json" if folders.rsplit('/').next() == Some("conda-meta") => {
            Some((name::conda(wanted, stem(name, ".json")?)?, How::Vendored))
        }
        _ => Some((archive(wanted, name)?, How::Archive)),
    }
}

/// The package that an archive holds, by its name.
fn archive<'w>(wanted: &'w Wanted, name: &str) -> Option<&'w Package> {
    let (ending, ecosystems) = ARCHIVES.iter().find(|(ending, _)| stem(name, ending).is_some())?;
    let stem = stem(name, ending)?;
    let held = |ecosystem: &Ecosystem| name::distribution(wanted, *ecosystem, stem);
    ecosystems
        .iter()
        .find_map(held)
        .or_else(|| name::yarn_cached(wanted, stem).filter(|_| *ending == ".zip"))
        .or_else(|| name::conda(wanted, stem).filter(|_| *ending == ".tar.bz2"))
}

/// A name without an ending, in whatever case.
fn stem<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(ending.len())?;
    let is = name.is_char_boundary(at) && name[at..].eq_ignore_ascii_case(ending);
    is.then(|| &name[..at])
}

/// Reads a file of one of this module's formats.
pub(crate) fn read(format: Format, file: &File<'_>, sink: &mut Sink) {
    if format == Format::Pth {
        pth::read(file, sink);
    }
}
