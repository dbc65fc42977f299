//! Links.
//!
//! What a link leads to inside of the tree is read where it is, by its real path and once, since the walk comes there anyway:
//! so no loop of folders has an end to look for. What is left is what the link itself changes. A link may give a file another
//! format (`requirements.txt` that leads to `wanted.data`), a folder another name (`node_modules/litellm`), and may lead into
//! the one place where the walk does not come, a checkout's `.git`.

use std::sync::PoisonError;

use super::disk::Target;
use super::failure::Failure;
use super::listing::Kind;
use super::queue::{Folder, Job};
use super::whole;
use super::worker::{Worker, is_bare, join, text};
use crate::Mention;
use crate::installed::{self, Place};

impl Worker<'_, '_> {
    /// Looks at the link `name` of a folder.
    pub(super) fn link(&mut self, folder: &Folder, name: &[u8], jobs: &mut Vec<Job>) {
        let Some(disk) = self.walk.disk else { return };
        let path = join(&folder.path, name);
        let shown = text(&path);
        let target = match disk.target(&path) {
            Ok(target) => target,
            Err(failure) => return self.failed(&path, &failure),
        };
        match target {
            Target::Nothing => {}
            Target::Outside => {
                self.installed(&shown, folder.place);
                self.named(&shown);
                let packed = self.walk.request.packed_links.as_ref();
                if packed.is_none_or(|links| links.contains(&*shown)) {
                    self.failed(&path, &Failure::Outside);
                } else {
                    self.found.links_out += 1;
                }
            }
            Target::Inside(real, Kind::Folder) => {
                self.installed(&shown, folder.place);
                if self.is_hidden(&real) {
                    if self.is_first(&real) {
                        let depth = real.split(|byte| *byte == b'/').count();
                        jobs.push(Job::Folder(Folder { path: real, depth, ..Folder::root() }));
                    }
                } else if installed::is_place(&shown) && !installed::is_place(&text(&real))
                    || crate::format::is_in_requirements(&shown)
                {
                    let alias = Some(path.clone());
                    let depth = folder.depth + 1;
                    let place = Place::Nowhere;
                    jobs.push(Job::Folder(Folder {
                        path: real,
                        alias,
                        depth,
                        place,
                        copied: false,
                    }));
                }
            }
            Target::Inside(real, _) => {
                self.named(&shown);
                if self.is_hidden(&real) && self.is_first(&real) {
                    jobs.push(Job::Stray(real.clone()));
                }
                let mut formats = self.formats(&shown);
                let own = self.formats(&text(&real));
                formats.retain(|format| !own.contains(format));
                // A script's own name may have an ending that says nothing, where the link's has none.
                let last = real.rsplit(|byte| *byte == b'/').next().unwrap_or(&real);
                let sniffed =
                    own.is_empty() && formats.is_empty() && is_bare(name) && !is_bare(last);
                if formats.is_empty() && !sniffed || folder.copied {
                    return;
                }
                let mut bytes = Vec::new();
                let outcome = disk
                    .file_at(&real)
                    .and_then(|opened| self.opened(&opened, &shown, formats, sniffed, &mut bytes));
                // What kind of thing it is that cannot be read, is said where it is.
                if let Err(failure) = outcome
                    && !matches!(failure, Failure::Special(_))
                {
                    self.failed(&path, &failure);
                }
            }
        }
    }

    /// Reads a file inside of a checkout's `.git`.
    pub(super) fn stray(&mut self, path: &[u8]) {
        let Some(disk) = self.walk.disk else { return };
        let shown = text(path);
        self.found.files += 1;
        self.named(&shown);
        let formats = self.formats(&shown);
        if formats.is_empty() {
            return;
        }
        let mut bytes = Vec::new();
        let outcome = disk
            .file_at(path)
            .and_then(|opened| self.opened(&opened, &shown, formats, false, &mut bytes));
        if let Err(failure) = outcome {
            self.failed(path, &failure);
        }
    }

    /// Says that a link has the name of an installed package.
    fn installed(&mut self, shown: &str, place: Place) {
        let wanted = self.walk.request.wanted;
        if let Some(found) = installed::folder(wanted, shown, place, |_| false) {
            self.found.mentions.push(Mention::of_whole(found.package, found.how, whole(shown)));
        }
    }

    /// Whether the walk does not come to this real path: it is inside of a checkout's `.git`.
    fn is_hidden(&self, real: &[u8]) -> bool {
        let Some(disk) = self.walk.disk else { return false };
        let parts: Vec<&[u8]> = real.split(|byte| *byte == b'/').collect();
        (1..=parts.len())
            .filter(|end| parts[end - 1] == b".git")
            .any(|end| disk.is_checkout(&parts[..end].join(&b'/')))
    }

    fn is_first(&self, real: &[u8]) -> bool {
        let mut strays = self.walk.strays.lock().unwrap_or_else(PoisonError::into_inner);
        strays.insert(real.to_vec())
    }
}
