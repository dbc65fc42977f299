//! Python's dependency files and locks, each as its installer reads it.
//!
//! The formats are three languages ([`decode`]) and two line formats (requirements files, `setup.cfg`). What differs is where in a
//! file the names are, and that is what each module here knows, and little else.
//!
//! A list of requirements that holds something else is unread: the installer refuses it, so nobody knows what a person meant.

mod conda;
mod conda_lock;
mod decode;
mod graph;
mod hatch;
pub(crate) mod include;
mod locks;
mod pipfile;
mod pixi;
mod pyproject;
mod reader;
mod requirement;
mod requirements;
mod setup_cfg;
mod setup_py;
mod url;

use crate::Format;
use crate::file::{File, Sink};
use decode::{json, toml, yaml};
use reader::decoded;

/// Reads a file of one of this module's formats.
pub(crate) fn read(format: Format, file: &File<'_>, sink: &mut Sink) {
    match format {
        Format::Pyproject => decoded(file, sink, toml, pyproject::read),
        Format::Pipfile => decoded(file, sink, toml, pipfile::read),
        Format::PipfileLock => decoded(file, sink, json, pipfile::read_lock),
        Format::SetupCfg => setup_cfg::read(file, sink),
        Format::SetupPy => setup_py::read(file, sink),
        Format::Requirements => requirements::read(file, sink),
        Format::Conda => decoded(file, sink, yaml, conda::read),
        Format::Pixi => decoded(file, sink, toml, pixi::read),
        Format::Hatch => decoded(file, sink, toml, hatch::read),
        Format::UvToml => decoded(file, sink, toml, pyproject::read_uv_toml),
        Format::UvLock => decoded(file, sink, toml, locks::read_uv),
        Format::PoetryLock => decoded(file, sink, toml, locks::read_poetry),
        Format::PdmLock => decoded(file, sink, toml, locks::read_pdm),
        Format::Pylock => decoded(file, sink, toml, locks::read_pylock),
        Format::CondaLock => decoded(file, sink, yaml, conda_lock::read),
        _ => {}
    }
}
