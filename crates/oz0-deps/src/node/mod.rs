//! JavaScript's dependency files and locks, each as its installer reads it, and lists of servers.

mod bun;
mod graph;
mod json;
mod package_json;
mod package_lock;
mod pnpm;
mod servers;
pub(crate) mod specifier;
mod yaml;
mod yarn;

use crate::Format;
use crate::file::{File, Sink};
use json::Dialect;

/// Reads a file of one of this module's formats.
pub(crate) fn read(format: Format, file: &File<'_>, sink: &mut Sink) {
    if format == Format::BunLockBinary {
        let help = "have Bun write it as text: bun install --save-text-lockfile; and remove it";
        sink.unread("", 0..0, "is Bun's binary lock, which is not read", Some(help.to_owned()));
        return;
    }
    let Some(text) = json::text(file, sink) else { return };
    match format {
        Format::PackageJson => json::read(file, text, Dialect::Strict, sink, |root, sink| {
            package_json::read(file, text, root, sink);
        }),
        Format::PackageLock => json::read(file, text, Dialect::Strict, sink, |root, sink| {
            package_lock::read(file, text, root, sink);
        }),
        Format::BunLock => json::read(file, text, Dialect::Commented, sink, |root, sink| {
            bun::read(file, text, root, sink);
        }),
        Format::McpServers => json::read(file, text, Dialect::Commented, sink, |root, sink| {
            servers::read(file, text, root, sink);
        }),
        Format::YarnLock => yarn::read(file, text, sink),
        Format::PnpmLock => pnpm::read(file, text, sink),
        _ => {}
    }
}
