//! Folders of the operator that a server may use.
//!
//! A server sees nothing of its user's files, and some are there to work on them. Which folders that
//! is, only the person who runs oz0 says, at the command line or in their own settings, and never a
//! manifest: a plugin that could ask for a folder would ask for all of them.
//!
//! What is shared stands at the same path inside the sandbox as outside, since servers are told
//! their folders by arguments. Some folders are refused whoever asks, because a server that has
//! them has more than files: oz0's own data and credentials (whoever reads them approves), what the
//! system runs, what the kernel shows of the machine, and whole homes, in which there is always a
//! key to something. [`Shares`] are checked once, when they are made.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sandbox::root::SYSTEM;
use crate::surroundings::{Places, Variation};

/// What a server may do in a shared folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShareAccess {
    /// Read, and run what is there.
    Read,
    /// Everything.
    Write,
}

/// A folder of the host that a server sees at the same path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Where the operator named it, absolute: a server is given it by this name.
    path: PathBuf,
    /// The folder itself, without a link on the way. It is seen here too.
    source: PathBuf,
    access: ShareAccess,
}

impl Share {
    /// The path that the operator gave, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a server may do there.
    pub fn access(&self) -> ShareAccess {
        self.access
    }

    pub(crate) fn source(&self) -> &Path {
        &self.source
    }

    /// The paths that it is seen at, each once.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        let other = (self.path != self.source).then_some(self.path.as_path());
        std::iter::once(self.source.as_path()).chain(other)
    }
}

/// The folders that one plugin's servers may use. None of them lies in another that may be written:
/// a server could put a link in its place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shares(Vec<Share>);

/// A file or folder that is not to be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Where it is.
    pub path: PathBuf,
    /// What it is, such as "oz0's data folder".
    pub what: String,
    /// The least that is refused: [`ShareAccess::Write`] where reading does no harm.
    pub from: ShareAccess,
}

impl Protected {
    /// Something that no server may even read.
    pub fn secret(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), from: ShareAccess::Read }
    }

    /// Something that no server may write.
    pub fn fixed(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), from: ShareAccess::Write }
    }
}

/// Why a folder is not shared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// It cannot be looked at.
    #[error("cannot share {path}", path = path.display())]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a file.
    #[error("cannot share {path}: it is no folder", path = path.display())]
    NotAFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// Servers are given paths as text.
    #[error("cannot share {path}: its path is not UTF-8", path = path.display())]
    NotUtf8 {
        /// The path as it was given.
        path: PathBuf,
    },
    /// It is one of those that are not shared.
    #[error("cannot share {path}: {reason}", path = path.display())]
    Refused {
        /// The path as it was given.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl ShareError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } => "share the folder that it lies in",
            Self::Unreadable { .. } => "name a folder that exists",
            Self::NotUtf8 { .. } => "give the folder another name",
            Self::Refused { .. } => {
                "share the one folder that the server works on, and nothing above it"
            }
        }
    }
}

/// Folders that the system keeps for itself, and what they are.
const KEPT: [(&str, &str); 7] = [
    ("/proc", "the kernel shows the machine there"),
    ("/sys", "the kernel shows the machine there"),
    ("/dev", "the machine's devices are there"),
    ("/run", "the machine's daemons listen there"),
    ("/etc", "the machine's settings and passwords are there"),
    ("/boot", "the machine starts from it"),
    ("/oz0", "servers have folders of their own there"),
];

/// The system's folder in which people put things of their own.
const OPTIONAL: &str = "/opt";

impl Shares {
    /// No folder.
    pub fn none() -> Self {
        Self::default()
    }

    /// Checks that these folders exist and may be shared, `protected` being what else may not.
    ///
    /// A relative path is one of the working folder's. What is given twice is shared with the greater right.
    ///
    /// # Errors
    ///
    /// [`ShareError`] of the first that is not shared.
    pub fn new(
        given: impl IntoIterator<Item = (PathBuf, ShareAccess)>,
        protected: &[Protected],
    ) -> Result<Self, ShareError> {
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let protected: Vec<Protected> = protected
            .iter()
            .map(|one| Protected { path: real(&one.path), ..one.clone() })
            .collect();
        let mut shares: Vec<Share> = Vec::new();
        for (given, access) in given {
            let share = resolve(given, access)?;
            let refused =
                share.places().find_map(|path| refusal(path, access, home.as_deref(), &protected));
            if let Some(reason) = refused {
                return Err(ShareError::Refused { path: share.path, reason });
            }
            shares.push(share);
        }
        // The greater right first, so that the lesser one finds the folder there.
        shares.sort_by(|a, b| b.access.cmp(&a.access).then_with(|| a.path.cmp(&b.path)));
        let mut kept: Vec<Share> = Vec::new();
        for share in shares {
            if !kept.iter().any(|one| one.path == share.path) {
                kept.push(share);
            }
        }
        for inner in &kept {
            let outer = kept.iter().find(|outer| {
                outer.access == ShareAccess::Write
                    && outer.source != inner.source
                    && inner
                        .places()
                        .any(|path| outer.places().any(|outer| path.starts_with(outer)))
            });
            if let Some(outer) = outer {
                let reason =
                    format!("it lies in {}, which is shared as a whole", outer.path.display());
                return Err(ShareError::Refused { path: inner.path.clone(), reason });
            }
        }
        // An outer folder is mounted before what lies in it.
        kept.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self(kept))
    }

    /// Each folder.
    pub fn iter(&self) -> impl Iterator<Item = &Share> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The folder as it is, or as it would be if it were there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn resolve(given: PathBuf, access: ShareAccess) -> Result<Share, ShareError> {
    let unreadable = |source| ShareError::Unreadable { path: given.clone(), source };
    let source = given.canonicalize().map_err(unreadable)?;
    if !source.metadata().map_err(unreadable)?.is_dir() {
        return Err(ShareError::NotAFolder { path: given });
    }
    let mut path = std::path::absolute(&given).map_err(unreadable)?;
    // What `a/../b` is depends on whether `a` is a link.
    if path.components().any(|part| part == Component::ParentDir) {
        path.clone_from(&source);
    }
    if source.to_str().is_none() || path.to_str().is_none() {
        return Err(ShareError::NotUtf8 { path: given });
    }
    Ok(Share { path, source, access })
}

/// Why a server may not be given what stands at this path.
fn refusal(
    path: &Path,
    access: ShareAccess,
    home: Option<&Path>,
    protected: &[Protected],
) -> Option<String> {
    if path.parent().is_none() {
        return Some("everything on the machine is in it".to_owned());
    }
    for one in protected.iter().filter(|one| access >= one.from) {
        if path.starts_with(&one.path) {
            return Some(format!("it belongs to {}, {}", one.what, one.path.display()));
        }
        if one.path.starts_with(path) {
            return Some(format!("{} is in it: {}", one.what, one.path.display()));
        }
    }
    if home.is_some_and(|home| home.starts_with(path)) {
        return Some(
            "it holds a whole home, and with it the keys that are in every home".to_owned(),
        );
    }
    if let Some((kept, what)) = KEPT.iter().find(|(kept, _)| path.starts_with(kept)) {
        return Some(format!("it belongs to {kept}, and {what}"));
    }
    let system = SYSTEM.iter().find(|system| match **system {
        OPTIONAL => path == Path::new(OPTIONAL),
        system => path.starts_with(system),
    });
    if let Some(system) = system {
        return Some(format!("it belongs to {system}, of which servers see what they may already"));
    }
    [Variation::Standard, Variation::Other].into_iter().find_map(|variation| {
        let Places { folder, home, scratch, .. } = Places::fixed(variation);
        let own = [folder, home, scratch].into_iter().find(|own| own.starts_with(path))?;
        Some(format!("servers have a folder of their own at {}", own.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::ShareAccess::{Read, Write};
    use super::*;

    fn shares(given: &[(&Path, ShareAccess)]) -> Result<Shares, ShareError> {
        Shares::new(given.iter().map(|(path, access)| ((*path).to_owned(), *access)), &[])
    }

    fn reason(path: &str) -> String {
        shares(&[(Path::new(path), ShareAccess::Read)]).unwrap_err().to_string()
    }

    #[test]
    fn what_is_the_systems_or_everybodys_is_not_shared() {
        for path in ["/", "/proc", "/proc/self", "/sys", "/dev", "/etc", "/usr", "/usr/share"] {
            assert!(reason(path).starts_with(&format!("cannot share {path}: ")), "{path}");
        }
        assert_eq!(reason("/tmp"), "cannot share /tmp: servers have a folder of their own at /tmp");
        let home = std::env::home_dir().unwrap();
        assert!(reason(home.to_str().unwrap()).contains("whole home"));
    }

    #[test]
    fn neither_a_protected_folder_nor_one_in_it_or_above_it_is_shared() {
        let base = tempfile::tempdir().unwrap();
        let data = base.path().join("data");
        let inner = data.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        let beside = base.path().join("beside");
        std::fs::create_dir(&beside).unwrap();
        let link = base.path().join("link");
        std::os::unix::fs::symlink(&data, &link).unwrap();
        let share = |path: &Path, access, protected: Protected| {
            Shares::new([(path.to_owned(), access)], &[protected])
        };
        for path in [&data, &inner, &link, &base.path().to_owned()] {
            let secret = Protected::secret(&data, "oz0's data folder");
            assert!(share(path, ShareAccess::Read, secret).is_err(), "{}", path.display());
            let fixed = || Protected::fixed(&data, "the plugin's folder");
            assert!(share(path, ShareAccess::Read, fixed()).is_ok(), "{}", path.display());
            assert!(share(path, ShareAccess::Write, fixed()).is_err(), "{}", path.display());
        }
        let secret = Protected::secret(&data, "oz0's data folder");
        assert!(share(&beside, ShareAccess::Write, secret).is_ok());
    }

    #[test]
    fn nothing_lies_in_a_folder_that_is_shared_to_be_written() {
        let base = tempfile::tempdir().unwrap();
        let (outer, inner) = (base.path().join("outer"), base.path().join("outer/inner"));
        std::fs::create_dir_all(&inner).unwrap();
        assert!(shares(&[(&outer, Write), (&inner, Read)]).is_err());
        assert!(shares(&[(&inner, Write), (&outer, Write)]).is_err());
        assert_eq!(shares(&[(&inner, Write), (&outer, Read)]).unwrap().iter().count(), 2);
        let twice = shares(&[(&outer, Read), (&outer, Write)]).unwrap();
        assert_eq!(twice.iter().map(Share::access).collect::<Vec<_>>(), [Write]);
    }

    #[test]
    fn a_file_and_a_folder_that_is_not_there_are_errors() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(
            shares(&[(&file, ShareAccess::Read)]),
            Err(ShareError::NotAFolder { .. })
        ));
        assert!(matches!(
            shares(&[(&base.path().join("gone"), ShareAccess::Read)]),
            Err(ShareError::Unreadable { .. })
        ));
    }
}
