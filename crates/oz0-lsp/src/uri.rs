//! Addresses of documents, and the files that they are about.

use std::path::{Component, Path, PathBuf};

use tower_lsp_server::ls_types::Uri;
use url::Url;

/// The longest path that the system takes (`PATH_MAX`), in bytes.
const LONGEST: usize = 4096;

/// The file of an address; `None` where it is none of this machine's files, or its path is not one that leads straight to it:
/// a path that climbs (`%2e%2e%2f`) or holds a NUL was made to lead somewhere else, and one that is too long leads nowhere.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    // `file:a` is relative, and to nothing that is known here.
    let text = uri.as_str();
    let is_file = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
    let url = Url::parse(text).ok().filter(|_| is_file)?;
    let path = url.to_file_path().ok()?;
    let straight =
        path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
    let fits = path.as_os_str().len() <= LONGEST;
    (straight && !has_nul && fits).then(|| path.components().collect())
}

/// The address of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    Url::from_file_path(path).ok()?.as_str().parse().ok()
}
