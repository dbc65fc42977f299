//! Requirements and constraints files, as pip reads them: `pip._internal.req.req_file` of pip 26.3 is what this follows, down to
//! the separators of lines, the beginnings of options and the words that pip does not look at.
//!
//! A file may name others, with `-r` and `-c`. Those that the walk reads by their own names are left to it; the others are read
//! here, where they are named, and say through which files they come.

mod encoding;
mod lines;
mod options;

use std::ops::Range;

use super::decode::Node;
use super::reader::Reader;
use super::requirement::Requirement;
use super::{include, url};
use crate::file::{File, Sink};
use crate::{Format, How, Package, Unread, Via, Wanted};
use lines::Line;
use options::{Options, Word};

pub(in crate::python) use lines::{blank, line_end};

/// Reads a requirements or constraints file: which of the two, its name or its folder's says.
pub(super) fn read(file: &File<'_>, sink: &mut Sink) {
    let constraint = file
        .path
        .split('/')
        .next_back()
        .is_some_and(|name| name.to_ascii_lowercase().contains("constraints"))
        || file
            .path
            .split('/')
            .rev()
            .skip(1)
            .any(|folder| folder.eq_ignore_ascii_case("constraints"));
    let mut includes = Includes::begin(file.path);
    read_bytes(file, sink, constraint, &mut includes);
}

fn read_bytes(file: &File<'_>, sink: &mut Sink, constraint: bool, includes: &mut Includes) {
    match encoding::decode(file.bytes) {
        Ok(text) => {
            let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let places = Places::of_file(start, text.len());
            let mut reader = Reader { file, text: &text, sink };
            read_text(&mut reader, &text[start..], &places, constraint, includes);
        }
        Err(error) => {
            let help = Some("save it as UTF-8".to_owned());
            sink.unread(&error.text, error.range, error.problem, help);
        }
    }
}

/// Reads what is in front of the file that names it: `file = …` of setuptools.
pub(super) fn read_named(reader: &mut Reader<'_, '_, '_>, path: &str, at: Range<usize>) {
    let mut includes = Includes::begin(reader.file.path);
    include(reader, path, at, false, &mut includes);
}

/// Reads lines that stand in another kind of file, each of them a string: a `pip:` list of conda's.
pub(super) fn read_lines_of(
    reader: &mut Reader<'_, '_, '_>,
    items: &[Node<'_>],
    via: Option<&Via>,
) {
    let (mut content, mut places) = (String::new(), Places::default());
    for item in items {
        let Some(text) = item.text() else {
            let problem = "has something in a list of requirements that is no string";
            reader.unread(item.range.clone(), problem, None);
            continue;
        };
        let exact = reader.text.get(item.range.clone()) == Some(text);
        places.0.push(Place { at: content.len(), shown: item.range.clone(), exact });
        content.push_str(text);
        content.push('\n');
    }
    let mut includes = Includes::begin(reader.file.path);
    includes.via = via.cloned();
    read_text(reader, &content, &places, false, &mut includes);
}

/// Where pieces of a content stand in the text that is shown.
#[derive(Debug, Default)]
struct Places(Vec<Place>);

#[derive(Debug)]
struct Place {
    at: usize,
    shown: Range<usize>,
    /// Whether the piece is written as it reads.
    exact: bool,
}

impl Places {
    fn of_file(start: usize, end: usize) -> Self {
        Self(vec![Place { at: 0, shown: start..end, exact: true }])
    }

    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let after = self.0.partition_point(|place| place.at <= range.start);
        let Some(place) = self.0.get(after.max(1) - 1) else { return 0..0 };
        if place.exact {
            let from = place.shown.start;
            let end = (from + range.end.saturating_sub(place.at)).min(place.shown.end);
            from + (range.start - place.at)..end
        } else {
            place.shown.clone()
        }
    }
}

/// The files that name each other, from the one that an installer begins with.
#[derive(Debug)]
struct Includes {
    chain: Vec<String>,
    /// With whether each was read as constraints: as requirements it says more.
    seen: Vec<(String, bool)>,
    /// The list that names what stands in the first file itself.
    via: Option<Via>,
}

impl Includes {
    fn begin(path: &str) -> Self {
        Self { chain: vec![path.to_owned()], seen: vec![(path.to_owned(), false)], via: None }
    }

    fn via(&self) -> Option<Via> {
        if self.chain.len() > 1 { Some(Via::Files(self.chain.clone())) } else { self.via.clone() }
    }
}

fn read_text(
    reader: &mut Reader<'_, '_, '_>,
    content: &str,
    places: &Places,
    constraint: bool,
    includes: &mut Includes,
) {
    let how = if constraint { How::Constraint } else { How::Direct };
    // pip stops at the first line that it refuses; the others are read all the same, for what they name.
    let mut refused = false;
    for line in lines::lines(content) {
        let (requirement, options_at) = options::split(&line.text);
        let place = |range: &Range<usize>| places.place(&line.place(range));
        let options = match Options::read(&line.text, options_at) {
            Ok(options) => options,
            Err(problem) => {
                if !std::mem::replace(&mut refused, true) {
                    let whole = place(&(0..line.text.len()));
                    reader.unread(whole, format!("has a line that pip refuses: {problem}"), None);
                }
                Options::default()
            }
        };
        let said = if !requirement.is_empty() {
            Some(Said::read(requirement, false, reader.file.wanted))
        } else if let Some(Word { text, range }) = &options.editable {
            let said = Said::read(text, true, reader.file.wanted);
            Some(said.moved(range, text.len()))
        } else {
            None
        };
        match said {
            Some(Said::Package(package, range)) => {
                let via = includes.via().or_else(|| {
                    let end = line.place(&(line.text.len() - 1..line.text.len())).end;
                    lines::needed_by(&content[end..])
                });
                reader.mention(package, how, place(&range), via);
            }
            Some(Said::Refused(problem)) if !refused => {
                refused = true;
                reader.unread(place(&(0..requirement_end(&line, options_at))), problem, None);
            }
            Some(Said::Unknown(problem)) => {
                reader.unread(place(&(0..requirement_end(&line, options_at))), problem, None);
            }
            Some(Said::Path(path)) => {
                if let Some(problem) = outside(reader.file.path, &path) {
                    reader.unread(place(&(0..requirement_end(&line, options_at))), problem, None);
                }
            }
            Some(Said::Refused(_) | Said::Nothing) => {}
            None => {
                let named = options.requirement.map(|word| (word, false));
                let named = named.or(options.constraint.map(|word| (word, true)));
                if let Some((word, constraint)) = named {
                    include(reader, &word.text, place(&word.range), constraint, includes);
                }
            }
        }
    }
}

fn requirement_end(line: &Line, options_at: usize) -> usize {
    let end = line.text[..options_at].trim_end_matches(blank).len();
    if end == 0 { line.text.len() } else { end }
}

/// What a line asks for.
#[derive(Debug)]
enum Said<'w> {
    Package(&'w Package, Range<usize>),
    /// Something of the machine's own.
    Path(String),
    /// What pip would not take.
    Refused(String),
    /// Something whose name is not known before it is installed.
    Unknown(String),
    /// Something else than what is looked for.
    Nothing,
}

impl<'w> Said<'w> {
    fn read(text: &str, editable: bool, wanted: &'w Wanted) -> Self {
        let trimmed = text.trim_matches(blank);
        let front = text.len() - text.trim_start_matches(blank).len();
        let moved = |range: Range<usize>| range.start + front..range.end + front;
        let bare = Requirement::read(trimmed);
        if is_url(trimmed) {
            let address =
                trimmed.split_once("; ").map_or(trimmed, |(address, _)| address).trim_end();
            return match url::package(address, url::Kind::Any, wanted) {
                Some((package, range)) => Self::Package(package, moved(range)),
                None if open(address) => Self::Unknown(OPEN.to_owned()),
                None if local(address) => Self::Path("/".to_owned()),
                None => Self::Nothing,
            };
        }
        if let Some(requirement) = &bare
            && (requirement.address.is_some() || !editable && !trimmed.contains('/'))
        {
            // `name.whl` is a file where pip is started, and no project of that name.
            if requirement.address.is_none()
                && let Some(file) = url::file_name(strip_extras(trimmed))
                && let Some(package) = wanted.package(crate::Ecosystem::PyPi, file)
            {
                return Self::Package(package, front..front + file.len());
            }
            return match requirement.package(trimmed, wanted) {
                Some((package, range)) => Self::Package(package, moved(range)),
                None => match &requirement.address {
                    Some(address) if open(&trimmed[address.clone()]) => {
                        Self::Unknown(OPEN.to_owned())
                    }
                    _ => Self::Nothing,
                },
            };
        }
        let path = strip_extras(trimmed.split(';').next().unwrap_or(trimmed).trim_end());
        if open(path) {
            return Self::Unknown(OPEN.to_owned());
        }
        if path.contains('/') && !path.contains(char::is_whitespace)
            || path.starts_with('.')
            || editable
        {
            // In a path a `#` is a letter like any other.
            let last = path.rsplit('/').next().unwrap_or(path);
            if let Some(file) = url::file_name(last)
                && let Some(package) = wanted.package(crate::Ecosystem::PyPi, file)
            {
                let start = path.len() - last.len();
                return Self::Package(package, moved(start..start + file.len()));
            }
            return match url::package(path, url::Kind::Any, wanted) {
                Some((package, range)) => Self::Package(package, moved(range)),
                None => Self::Path(path.to_owned()),
            };
        }
        Self::Refused("has a line that pip refuses: it is no requirement".to_owned())
    }

    /// What a word of a line's options says, in the line.
    fn moved(self, word: &Range<usize>, length: usize) -> Self {
        match self {
            Self::Package(package, range) if word.len() == length => {
                Self::Package(package, word.start + range.start..word.start + range.end)
            }
            Self::Package(package, _) => Self::Package(package, word.clone()),
            other => other,
        }
    }
}

const OPEN: &str = "names what it installs by a variable of the environment";

/// Whether a variable of the environment (`${NAME}`) decides what an address or a path is of: in its last part or its fragment,
/// or as all of it. One that stands for a password or a folder does not.
fn open(address: &str) -> bool {
    let variable = |text: &str| {
        text.match_indices("${").any(|(at, _)| {
            let rest = &text[at + 2..];
            let name =
                |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
            let length = rest.bytes().take_while(name).count();
            length > 0 && rest[length..].starts_with('}')
        })
    };
    let (path, fragment) = address.split_once('#').unwrap_or((address, ""));
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    // Behind the `@` of a repository is a version of it.
    let name = if last.starts_with("${") { last } else { last.split('@').next().unwrap_or(last) };
    let named = url::file_name(name).is_some_and(|file| !variable(file));
    variable(name) && !named || variable(fragment)
}

/// Without the extras behind a path: `./folder[extra]`.
fn strip_extras(path: &str) -> &str {
    match path.strip_suffix(']').and_then(|path| path.rsplit_once('[')) {
        Some((path, _)) => path,
        None => path,
    }
}

/// Whether pip takes it for an address, by its scheme.
fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let scheme = scheme.to_ascii_lowercase();
    let first = scheme.split('+').next().unwrap_or(&scheme);
    matches!(&*scheme, "http" | "https" | "file" | "ftp" | "ssh" | "sftp")
        || matches!(first, "git" | "hg" | "svn" | "bzr")
}

/// Whether it is a folder of the machine, whose name is not known: `file:` without a file's name.
fn local(address: &str) -> bool {
    let path = address.split(['#', '?']).next().unwrap_or(address);
    let last = path.rsplit('/').next().unwrap_or(path);
    address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
        && !address.contains("#egg=")
        && url::file_name(last).is_none()
}

/// What is wrong with a path: it leads out of the tree, from the file's folder and from the root.
fn outside(from: &str, path: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let inside = |folder: &str| include::join(folder, path).is_some();
    // A file that is named says what it is.
    let named = url::file_name(path.rsplit('/').next().unwrap_or(path)).is_some();
    (!named && !inside(folder) && !inside(""))
        .then(|| format!("installs `{path}`, which is outside, and not read"))
}

/// Reads the file that `-r` or `-c` names.
fn include(
    reader: &mut Reader<'_, '_, '_>,
    path: &str,
    at: Range<usize>,
    constraint: bool,
    includes: &mut Includes,
) {
    let help = || Some("carry what it needs with the plugin, in a file of its own".to_owned());
    let scheme = path.split_once(':').map_or("", |(scheme, _)| scheme);
    if ["http", "https", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        reader.unread(at, format!("includes `{path}` by its address, which is not read"), help());
        return;
    }
    let from = includes.chain.last().map_or(reader.file.path, |path| path);
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(target) = include::join(folder, path) else {
        reader.unread(at, format!("includes `{path}`, which is outside, and not read"), help());
        return;
    };
    let before =
        |(seen, as_constraint): &(String, bool)| *seen == target && (constraint || !as_constraint);
    if includes.seen.iter().any(before) {
        return;
    }
    if includes.seen.len() > reader.file.limits.includes {
        let most = reader.file.limits.includes;
        reader.unread(at, format!("includes more than {most} files"), None);
        return;
    }
    includes.seen.push((target.clone(), constraint));
    let bytes = match reader.file.tree.include(&target, reader.file.limits) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            reader.unread(at, format!("includes `{path}`, which is not there"), None);
            return;
        }
        Err(problem) => {
            reader.unread(at, format!("includes `{path}`, which {problem}"), None);
            return;
        }
    };
    if walked(&target) {
        return;
    }
    let file = File { path: &target, bytes: &bytes, ..*reader.file };
    let mut sink = Sink::new(&target);
    includes.chain.push(target.clone());
    read_bytes(&file, &mut sink, constraint, includes);
    includes.chain.pop();
    sink.close();
    reader.sink.mentions.append(&mut sink.mentions);
    let mut unread: Vec<Unread> = sink.unread;
    reader.sink.unread.append(&mut unread);
}

/// Whether the walk reads the file as a requirements file by its name.
fn walked(path: &str) -> bool {
    Format::of(path).contains(&Format::Requirements)
        && !path.split('/').any(|folder| folder == ".git")
}
