//! `setup.cfg`: an INI file as Python's `RawConfigParser` reads it, and setuptools' lists in it.
//!
//! The parser is strict: a section or an option that is there twice, or a line that is neither, makes setuptools stop. Such a file
//! is unread.

use std::collections::HashSet;
use std::ops::Range;

use super::reader::{Reader, text};
use super::requirements::{self, blank, line_end};
use crate::file::{File, Sink};
use crate::{How, Via};

/// An option: its section, its name, and its value's lines with where each begins.
#[derive(Debug)]
struct Setting<'t> {
    section: &'t str,
    name: &'t str,
    lines: Vec<(&'t str, usize)>,
}

pub(super) fn read(file: &File<'_>, sink: &mut Sink) {
    let Some(text) = text(file, sink) else { return };
    let mut reader = Reader { file, text, sink };
    let settings = match settings(text) {
        Ok(settings) => settings,
        Err((range, problem)) => {
            reader.unread(range, format!("is no INI file as setuptools reads it: {problem}"), None);
            return;
        }
    };
    for setting in &settings {
        // Older releases take a hyphen for an underscore; what is in DEFAULT is in every section.
        let name = setting.name.to_ascii_lowercase().replace('-', "_");
        let via = match (setting.section, &*name) {
            ("options" | "DEFAULT", "install_requires") => None,
            ("options" | "DEFAULT", "setup_requires" | "tests_require")
            | ("metadata", "requires_dist" | "setup_requires_dist") => Some(Via::List(name)),
            ("options.extras_require", _) => {
                Some(Via::List(format!("options.extras_require.{}", setting.name)))
            }
            _ => continue,
        };
        list(&mut reader, setting, via.as_ref());
    }
}

/// A list of requirements: one a line, or parted by semicolons where it is one line; or the names of files behind `file:`.
fn list(reader: &mut Reader<'_, '_, '_>, setting: &Setting<'_>, via: Option<&Via>) {
    let first = setting.lines.first().map_or("", |(line, _)| *line);
    if let Some(rest) = first.strip_prefix("file:") {
        let mut at = setting.lines[0].1 + "file:".len();
        let mut names: Vec<(&str, usize)> = Vec::new();
        for name in rest.split(',') {
            names.push((name, at));
            at += name.len() + 1;
        }
        for (line, at) in &setting.lines[1..] {
            let mut at = *at;
            for name in line.split(',') {
                names.push((name, at));
                at += name.len() + 1;
            }
        }
        for (name, at) in names {
            let trimmed = name.trim_matches(blank);
            if !trimmed.is_empty() {
                let at = at + (name.len() - name.trim_start_matches(blank).len());
                requirements::read_named(reader, trimmed, at..at + trimmed.len());
            }
        }
        return;
    }
    let several = setting.lines.len() > 1;
    for (line, at) in &setting.lines {
        let mut at = *at;
        let parts = if several { vec![*line] } else { line.split(';').collect() };
        for part in parts {
            // Lines of the value that the INI format does not know as such.
            let mut from = 0;
            while from < part.len() {
                let (end, next) =
                    if several { line_end(part, from) } else { (part.len(), part.len()) };
                requirement(reader, &part[from..end], at + from, via);
                from = next;
            }
            at += part.len() + 1;
        }
    }
}

fn requirement(reader: &mut Reader<'_, '_, '_>, line: &str, at: usize, via: Option<&Via>) {
    let line_text = line.split(" #").next().unwrap_or(line);
    let trimmed = line_text.trim_matches(blank);
    // What would be a marker of the requirement before it, had the list more than one line.
    let marker =
        ["python_version", "sys_platform", "platform_", "os_name", "implementation_", "extra"]
            .iter()
            .any(|word| {
                trimmed.starts_with(word)
                    && trimmed.contains(['=', '<', '>', '!'])
                    && trimmed.contains(['"', '\''])
            });
    if trimmed.is_empty() || trimmed.starts_with('#') || marker {
        return;
    }
    let start = at + (line.len() - line.trim_start_matches(blank).len());
    // A backslash joins lines here too; what stands before it is the requirement's name.
    let bare = trimmed.trim_end_matches('\\').trim_end_matches(blank);
    if bare.is_empty() {
        return;
    }
    reader.requirement_text(bare, &(start..start + bare.len()), How::Direct, via);
}

/// The options of an INI file, in their order.
fn settings(text: &str) -> Result<Vec<Setting<'_>>, (Range<usize>, String)> {
    let mut settings: Vec<Setting<'_>> = Vec::new();
    let mut sections: HashSet<&str> = HashSet::new();
    let mut options: HashSet<(&str, &str)> = HashSet::new();
    let mut section: Option<&str> = None;
    let (mut in_option, mut indent) = (false, 0);
    let mut next = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while next < text.len() {
        let start = next;
        let length = text[start..].find(['\n', '\r']);
        let end = length.map_or(text.len(), |length| start + length);
        next = if text[end..].starts_with("\r\n") { end + 2 } else { (end + 1).min(text.len()) };
        let line = &text[start..end];
        let value = line.trim_matches(blank);
        let at = start + (line.len() - line.trim_start_matches(blank).len());
        if value.starts_with(['#', ';']) {
            continue;
        }
        if value.is_empty() {
            if in_option && let Some(setting) = settings.last_mut() {
                setting.lines.push(("", start));
            }
            continue;
        }
        let here = line[..at - start].chars().count();
        if section.is_some() && in_option && here > indent {
            if let Some(setting) = settings.last_mut() {
                setting.lines.push((value, at));
            }
            continue;
        }
        indent = here;
        let header =
            value.strip_prefix('[').and_then(|rest| rest.rsplit_once(']')).map(|(name, _)| name);
        if let Some(name) = header.filter(|name| !name.is_empty()) {
            if name != "DEFAULT" && !sections.insert(name) {
                return Err((at..at + value.len(), format!("the section `{name}` is there twice")));
            }
            section = Some(name);
            in_option = false;
            continue;
        }
        let Some(section) = section else {
            return Err((at..at + value.len(), "its first line is no section".to_owned()));
        };
        let Some(delimiter) = value.find(['=', ':']).filter(|delimiter| *delimiter > 0) else {
            return Err((
                at..at + value.len(),
                "a line is neither a section nor an option".to_owned(),
            ));
        };
        let name = value[..delimiter].trim_end_matches(blank);
        if !options.insert((section, name)) {
            return Err((at..at + name.len(), format!("the option `{name}` is there twice")));
        }
        let rest = &value[delimiter + 1..];
        let front = rest.len() - rest.trim_start_matches(blank).len();
        let place = at + delimiter + 1 + front;
        settings.push(Setting { section, name, lines: vec![(rest.trim_matches(blank), place)] });
        in_option = true;
    }
    for setting in &mut settings {
        while setting.lines.len() > 1
            && setting.lines.last().is_some_and(|(line, _)| line.is_empty())
        {
            setting.lines.pop();
        }
    }
    Ok(settings)
}
