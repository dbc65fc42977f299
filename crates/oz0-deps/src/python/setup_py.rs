//! `setup.py`: the strings of its requirement lists, which [`source`](crate::source) finds in the program.
//!
//! A program may make its lists as it likes, so a string that is no requirement is passed over here: it need not be one. What
//! cannot be decoded is reported where the same file is read as a source.

use super::requirement::Requirement;
use super::requirements::{blank, line_end};
use super::url;
use crate::file::{File, Sink};
use crate::source::python_requirement_strings;
use crate::{How, Via};

pub(super) fn read(file: &File<'_>, sink: &mut Sink) {
    let Ok((text, strings)) = python_requirement_strings(file.bytes) else { return };
    for string in strings {
        let said = string.text();
        let via = (string.list != "install_requires").then(|| Via::List(string.list.clone()));
        let mut next = 0;
        while next < said.len() {
            let start = next;
            let (end, after) = line_end(said, start);
            next = after;
            let line = &said[start..end];
            let line = line.split(" #").next().unwrap_or(line);
            let found = match Requirement::read(line.trim_end_matches([' ', '\t', '\\'])) {
                Some(requirement) => requirement.package(line, file.wanted),
                None => {
                    let bare = line.trim_matches(blank);
                    let front = line.len() - line.trim_start_matches(blank).len();
                    url::package(bare, url::Kind::Any, file.wanted)
                        .map(|(package, range)| (package, range.start + front..range.end + front))
                }
            };
            if let Some((package, range)) = found {
                let range = string.source(start + range.start..start + range.end);
                sink.mention(package, How::Direct, &text, range, via.clone());
            }
        }
    }
}
