//! Sources and notebooks: what a program imports, and what a notebook's cells install.

mod decode;
mod javascript;
mod notebook;
mod python;
mod trace;

use std::borrow::Cow;

use crate::Format;
use crate::file::{File, Sink};

pub(crate) use decode::Undecodable;
pub(crate) use python::RequirementString;
pub(crate) use trace::Traces;

/// Reads a file of one of this module's formats.
pub(crate) fn read(format: Format, file: &File<'_>, sink: &mut Sink) {
    match format {
        Format::Python => python::read(file, sink),
        Format::Notebook => notebook::read(file, sink),
        Format::JavaScript => javascript::read(file, sink),
        Format::Component => javascript::read_component(file, sink),
        _ => {}
    }
}

/// A `setup.py` as text, with the strings in it that are requirements: those of its lists, not of its keywords.
///
/// What cannot be decoded is reported where the same file is read as a source.
pub(crate) fn python_requirement_strings(
    bytes: &[u8],
) -> Result<(Cow<'_, str>, Vec<RequirementString>), Undecodable> {
    let text = decode::python(bytes)?;
    let strings = python::requirement_strings(&text);
    Ok((text, strings))
}
