//! Where a command writes a file that it was given a path for: never over a part of the plugin that it is about.

use std::fs;
use std::path::Path;

use anyhow::Result;
use oz0_plugin::Plugin;

use crate::exit::Refused;

/// Refuses a path that is a file of the plugin's own: it would be lost, and the plugin would be another one.
pub(super) fn not_a_part(path: &Path, plugin: &Plugin) -> Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let (Ok(folder), Ok(root)) = (folder.canonicalize(), plugin.root().canonicalize()) else {
        return Ok(());
    };
    let place = folder.join(name);
    let part = place.strip_prefix(&root).ok().and_then(Path::to_str);
    if part.is_some_and(|part| plugin.file(part).is_some()) {
        return Err(Refused::new(format!("{} is a file of the plugin", path.display()))
            .hint("name another file to write")
            .into());
    }
    Ok(())
}

/// Refuses a path that is there and is no regular file: a device, a pipe or a link would be gone.
pub(super) fn regular(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(Refused::new(format!(
            "{} is no regular file, so it is not replaced",
            path.display()
        ))
        .hint("name a file to write, or a folder")
        .into()),
        _ => Ok(()),
    }
}
