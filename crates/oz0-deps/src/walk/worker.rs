//! One thread of the walk.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::disk::{Disk, Opened};
use super::failure::{Failure, size};
use super::listing::{Kind, Listing};
use super::queue::{Folder, Job};
use super::{Walk, checkout, memory, whole};
use crate::file::{File, Sink};
use crate::installed::{self, Place};
use crate::{Format, Mention, Reading, Tree, Unread};

/// Files of one folder that a thread reads before others may help with the rest.
const TOGETHER: usize = 128;
/// The bytes in which a `#!` line ends.
const LINE: usize = 256;

pub(super) struct Worker<'w, 'a> {
    pub(super) walk: &'w Walk<'a>,
    pub(super) found: Reading,
    /// Used again and again: the folder's entries, the file's path, the file's bytes.
    listing: Listing,
    path: Vec<u8>,
    bytes: Vec<u8>,
}

/// Where the files of a folder are: on disk its descriptor.
type Handle = Option<OwnedFd>;

impl<'w, 'a> Worker<'w, 'a> {
    pub(super) fn new(walk: &'w Walk<'a>) -> Self {
        Self {
            walk,
            found: Reading::default(),
            listing: Listing::default(),
            path: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Does what there is to do, until all is done.
    pub(super) fn run(mut self) -> Reading {
        let mut first = true;
        while let Some(job) = self.walk.queue.next(first) {
            first = false;
            if self.walk.is_over() {
                continue;
            }
            let path = job.path().to_vec();
            if catch_unwind(AssertUnwindSafe(|| self.job(job))).is_err() {
                self.unread(&path, "was not read to its end: the walk has a defect", None);
            }
        }
        self.found
    }

    fn job(&mut self, job: Job) {
        match job {
            Job::Folder(folder) => self.folder(folder),
            Job::Files(folder, names) => match self.open(&folder) {
                Ok(handle) => {
                    for name in names {
                        self.file(handle.as_ref(), &folder, &name);
                    }
                }
                Err(failure) => self.failed(folder.shown(), &failure),
            },
            Job::Stray(path) => self.stray(&path),
        }
    }

    /// Reads a folder: what it is, what is in it.
    fn folder(&mut self, mut folder: Folder) {
        let limits = &self.walk.request.limits;
        if self.walk.folders.fetch_add(1, Ordering::Relaxed) >= limits.files {
            let problem = format!("there are more than {} folders", limits.files);
            return self.over(folder.shown(), &problem);
        }
        if folder.depth > limits.folders_deep {
            let problem = format!("lies in more than {} folders", limits.folders_deep);
            return self.unread(folder.shown(), &problem, Some("take it out"));
        }
        let mut listing = std::mem::take(&mut self.listing);
        match self
            .open(&folder)
            .and_then(|handle| self.list(&folder, &handle, &mut listing).map(|()| handle))
        {
            Ok(handle) => {
                self.judge(&mut folder, &listing);
                self.entries(folder, &handle, &mut listing);
            }
            Err(failure) => self.failed(folder.shown(), &failure),
        }
        self.listing = listing;
    }

    fn open(&self, folder: &Folder) -> Result<Handle, Failure> {
        self.walk.disk.map(|disk| disk.folder(&folder.path)).transpose()
    }

    fn list(&self, folder: &Folder, handle: &Handle, listing: &mut Listing) -> Result<(), Failure> {
        listing.clear();
        match (self.walk.disk, handle, self.walk.tree) {
            (Some(_), Some(handle), _) => Disk::list(handle, listing)?,
            (_, _, Tree::Files(files)) => memory::list(files, &text(&folder.path), listing),
            (_, _, Tree::Folder(_) | Tree::Unsaved { .. }) => {}
        }
        if let Tree::Unsaved { files, .. } = self.walk.tree {
            memory::list_new(files, &text(&folder.path), listing);
        }
        if self.walk.ordered {
            listing.sort();
        }
        Ok(())
    }

    /// Says what the folder itself is, and learns what that means for what is in it.
    fn judge(&mut self, folder: &mut Folder, listing: &Listing) {
        if folder.depth == 0 {
            return;
        }
        let shown = text(folder.shown()).into_owned();
        let wanted = self.walk.request.wanted;
        let has = |name: &str| listing.has(name);
        // In a copy that is found already only metadata tells something new, and what a link leads to is judged where it is.
        let within = if folder.copied { Place::Nowhere } else { folder.place };
        let known = folder.copied || folder.alias.is_some();
        if let Some(found) = installed::folder(wanted, &shown, within, |name| !known && has(name)) {
            self.found.mentions.push(Mention::of_whole(found.package, found.how, whole(&shown)));
            folder.copied |= found.owned;
        }
        folder.place = installed::place(&shown, folder.place, has);
    }

    fn entries(&mut self, folder: Folder, handle: &Handle, listing: &mut Listing) {
        let folder = Arc::new(folder);
        let mut jobs = Vec::new();
        // Files that stand together in an ordered walk, or are too many for one thread in another.
        let mut files: Vec<Vec<u8>> = Vec::new();
        let mut own = 0;
        for (name, kind) in listing.iter() {
            match kind {
                Kind::Folder => {
                    if name == b".git" && self.is_checkout(&folder) {
                        continue;
                    }
                    if self.walk.ordered && !files.is_empty() {
                        jobs.push(Job::Files(Arc::clone(&folder), std::mem::take(&mut files)));
                    }
                    jobs.push(Job::Folder(folder.child(name)));
                }
                Kind::File if self.walk.ordered => files.push(name.to_vec()),
                Kind::File if own < TOGETHER => own += 1,
                Kind::File => {
                    files.push(name.to_vec());
                    if files.len() == TOGETHER {
                        jobs.push(Job::Files(Arc::clone(&folder), std::mem::take(&mut files)));
                    }
                }
                Kind::Link if folder.alias.is_none() => self.link(&folder, name, &mut jobs),
                Kind::Special(kind) if folder.alias.is_none() => {
                    self.failed(&join(folder.shown(), name), &Failure::Special(kind));
                }
                Kind::Link | Kind::Special(_) => {}
            }
        }
        if !files.is_empty() {
            jobs.push(Job::Files(Arc::clone(&folder), files));
        }
        if self.walk.ordered {
            jobs.reverse();
        }
        self.walk.queue.push(&mut jobs);
        if !self.walk.ordered {
            let files = listing.iter().filter(|(_, kind)| *kind == Kind::File).take(TOGETHER);
            for (name, _) in files {
                self.file(handle.as_ref(), &folder, name);
            }
        }
    }

    /// Reads a file of a folder.
    fn file(&mut self, handle: Option<&OwnedFd>, folder: &Folder, name: &[u8]) {
        if self.walk.is_over() {
            return;
        }
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.extend_from_slice(folder.shown());
        push(&mut path, name);
        let limit = self.walk.request.limits.files;
        if self.walk.files.fetch_add(1, Ordering::Relaxed) >= limit {
            self.over(&path, &format!("there are more than {limit} files"));
        } else {
            self.counted_file(handle, folder, name, &path);
        }
        self.path = path;
    }

    fn counted_file(
        &mut self,
        handle: Option<&OwnedFd>,
        folder: &Folder,
        name: &[u8],
        path: &[u8],
    ) {
        let shown = text(path);
        let mut formats = self.formats(&shown);
        if folder.alias.is_some() {
            let real = join(&folder.path, name);
            let real = self.formats(&text(&real));
            formats.retain(|format| !real.contains(format));
            if formats.is_empty() {
                return;
            }
        } else {
            self.found.files += 1;
            self.named(&shown);
        }
        if folder.copied && formats.iter().any(|format| format.is_source()) {
            formats.retain(|format| !format.is_source());
            self.found.in_copies += 1;
        }
        let sniffed = formats.is_empty() && !folder.copied && is_bare(name);
        let mut bytes = std::mem::take(&mut self.bytes);
        let unsaved = match self.walk.tree {
            Tree::Unsaved { .. } => self.walk.tree.unsaved(&text(&join(&folder.path, name))),
            _ => None,
        };
        let read = match (self.walk.disk, handle, self.walk.tree) {
            (Some(_), Some(handle), _) if unsaved.is_none() => {
                if formats.is_empty() && !sniffed {
                    Disk::len(handle, name).map(|len| self.passed_over(&shown, len))
                } else {
                    Disk::file(handle, name).and_then(|opened| {
                        self.opened(&opened, &shown, formats, sniffed, &mut bytes)
                    })
                }
            }
            (_, _, Tree::Files(files)) => {
                let bytes = files.get(&*shown).copied().unwrap_or_default();
                self.in_memory(&shown, formats, sniffed, bytes)
            }
            (_, _, Tree::Unsaved { .. }) => {
                self.in_memory(&shown, formats, sniffed, unsaved.unwrap_or_default())
            }
            (_, _, Tree::Folder(_)) => Ok(()),
        };
        self.bytes = bytes;
        if let Err(failure) = read {
            self.failed(path, &failure);
        }
    }

    /// Reads an open file, after a look at its first line when its name says nothing.
    pub(super) fn opened(
        &mut self,
        opened: &Opened,
        shown: &str,
        mut formats: Vec<Format>,
        sniffed: bool,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if sniffed {
            opened.head(LINE, bytes)?;
            match script(bytes) {
                Some(format) => formats.push(format),
                None => {
                    self.passed_over(shown, opened.len());
                    return Ok(());
                }
            }
        }
        opened.read(self.walk.request.limits.file_bytes, bytes)?;
        self.read(shown, &formats, bytes);
        Ok(())
    }

    fn in_memory(
        &mut self,
        shown: &str,
        mut formats: Vec<Format>,
        sniffed: bool,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        if sniffed {
            formats.extend(script(&bytes[..bytes.len().min(LINE)]));
        }
        if formats.is_empty() {
            self.passed_over(shown, bytes.len() as u64);
            return Ok(());
        }
        let limit = self.walk.request.limits.file_bytes;
        if bytes.len() as u64 > limit {
            return Err(Failure::too_large(limit));
        }
        self.read(shown, &formats, bytes);
        Ok(())
    }

    /// What a file is to readers, by its name and by what the caller knows.
    pub(super) fn formats(&self, path: &str) -> Vec<Format> {
        let mut formats = Format::of(path);
        if let Some(format) = self.walk.request.formats.get(path)
            && !formats.contains(format)
        {
            formats.push(*format);
        }
        formats
    }

    /// Lets the readers of its formats read a file.
    fn read(&mut self, path: &str, formats: &[Format], bytes: &[u8]) {
        let request = self.walk.request;
        let file = File {
            path,
            bytes,
            wanted: request.wanted,
            tree: self.walk.tree,
            limits: &request.limits,
        };
        let mut sink = Sink::new(path);
        for format in formats {
            if catch_unwind(AssertUnwindSafe(|| format.read(&file, &mut sink))).is_err() {
                let problem =
                    format!("was not read to its end: the reader of {format:?} files has a defect");
                self.unread(path.as_bytes(), &problem, None);
            }
        }
        sink.close();
        if !sink.mentions.is_empty() || !sink.unread.is_empty() {
            self.keep(path, &mut sink);
        }
    }

    /// Says what a file is by its name alone.
    pub(super) fn named(&mut self, path: &str) {
        if let Some((package, how)) = installed::file(self.walk.request.wanted, path) {
            self.found.mentions.push(Mention::of_whole(package, how, whole(path)));
        }
    }

    fn passed_over(&mut self, path: &str, len: u64) {
        let limit = self.walk.request.limits.file_bytes;
        if len > limit {
            let unread = unread(path.as_bytes(), &Failure::too_large(limit));
            self.found.large.push(unread);
        }
    }

    /// Whether the folder called `.git` in it is a repository's.
    fn is_checkout(&mut self, folder: &Folder) -> bool {
        let git = join(&folder.path, b".git");
        match (self.walk.disk, self.walk.tree) {
            (Some(disk), _) => disk.is_checkout(&git),
            (_, Tree::Files(files)) => {
                let git = text(&git);
                let head =
                    files.get(&format!("{git}/HEAD")).is_some_and(|head| checkout::is_head(head));
                let has = |folder: &str| memory::has_folder(files, &format!("{git}/{folder}"));
                head && has("objects") && has("refs")
            }
            (_, Tree::Folder(_) | Tree::Unsaved { .. }) => false,
        }
    }

    /// There is more than may be: the walk ends, with the place at which it did.
    fn over(&mut self, path: &[u8], why: &str) {
        if !self.walk.over.swap(true, Ordering::Relaxed) {
            let problem = format!("was not read, nor what comes after it: {why}");
            self.unread(path, &problem, Some("take out what the plugin does not need"));
        }
        self.walk.queue.clear();
    }

    /// Keeps what was found in a file, with its text and those of files that it includes.
    fn keep(&mut self, path: &str, sink: &mut Sink) {
        let spans = sink.mentions.iter().map(|found| &found.span);
        let spans = spans.chain(sink.unread.iter().map(|found| &found.span));
        let mut texts: Vec<_> =
            spans.map(|span| (Arc::as_ptr(span.file()), span.file().text().len())).collect();
        texts.sort_unstable();
        texts.dedup();
        let bytes = texts.iter().map(|(_, bytes)| bytes).sum();
        let most = self.walk.request.limits.found_bytes;
        if self.walk.kept.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > most {
            return self.over(
                path.as_bytes(),
                &format!("the files with findings are larger than {} together", size(most as u64)),
            );
        }
        self.found.mentions.append(&mut sink.mentions);
        self.found.unread.append(&mut sink.unread);
    }

    pub(super) fn failed(&mut self, path: &[u8], failure: &Failure) {
        self.found.unread.push(unread(path, failure));
    }

    fn unread(&mut self, path: &[u8], problem: &str, help: Option<&str>) {
        let (span, help) = (whole(&text(path)), help.map(str::to_owned));
        self.found.unread.push(Unread { span, problem: problem.to_owned(), help });
    }
}

fn unread(path: &[u8], failure: &Failure) -> Unread {
    let (span, problem) = (whole(&text(path)), failure.to_string());
    Unread { span, problem, help: failure.help().map(str::to_owned) }
}

impl Job {
    fn path(&self) -> &[u8] {
        match self {
            Self::Folder(folder) => folder.shown(),
            Self::Files(folder, _) => folder.shown(),
            Self::Stray(path) => path,
        }
    }
}

impl Folder {
    pub(super) fn root() -> Self {
        Self { path: Vec::new(), alias: None, depth: 0, place: Place::Nowhere, copied: false }
    }

    /// The path that it is shown by.
    pub(super) fn shown(&self) -> &[u8] {
        self.alias.as_deref().unwrap_or(&self.path)
    }

    fn child(&self, name: &[u8]) -> Self {
        Self {
            path: join(&self.path, name),
            alias: self.alias.as_ref().map(|alias| join(alias, name)),
            depth: self.depth + 1,
            place: self.place,
            copied: self.copied,
        }
    }
}

pub(super) fn text(path: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(path)
}

pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    push(&mut path, name);
    path
}

fn push(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Whether a name has no ending that says what the file is: `pip`, `pip3.11`, `.profile`.
pub(super) fn is_bare(name: &[u8]) -> bool {
    let name = name.strip_prefix(b".").unwrap_or(name);
    match name.iter().rposition(|byte| *byte == b'.') {
        None => true,
        Some(dot) => name[dot + 1..].iter().all(u8::is_ascii_digit),
    }
}

/// What the file is that begins with these bytes, by its `#!` line.
fn script(bytes: &[u8]) -> Option<Format> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = bytes.strip_prefix(b"#!")?.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let line = std::str::from_utf8(line).unwrap_or_default();
    // The interpreter may stand behind `env` and its options, and have a version.
    let mut words = line.split_ascii_whitespace().map(|word| {
        let program = word.rsplit('/').next().unwrap_or(word);
        program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
    });
    words.find_map(|word| match word {
        "python" | "pypy" | "pythonw" | "ipython" | "uv" | "pipx" => Some(Format::Python),
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Some(Format::JavaScript),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_bare, script};
    use crate::Format;

    #[test]
    fn a_script_is_known_by_its_interpreter() {
        for line in [
            "#!/usr/bin/python",
            "#!/usr/bin/env python3",
            "#! /opt/x/bin/python3.12 -I\nimport x",
            "#!/usr/bin/env -S uv run --script\n",
            "#!/usr/bin/env -S python3 -u\r\n",
            "#!/usr/bin/env -S pipx run\n",
            "#!/usr/bin/env ipython\n",
            "\u{feff}#!/usr/bin/env python3\n",
        ] {
            assert_eq!(script(line.as_bytes()), Some(Format::Python), "{line}");
        }
        assert_eq!(script(b"#!/usr/bin/env node\n"), Some(Format::JavaScript));
        for line in
            ["", "#!", "#!/bin/sh\npython x", "python3", "# !/usr/bin/python", "#!/bin/pythonista"]
        {
            assert_eq!(script(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn digits_are_no_ending() {
        for name in ["pip", "pip3.11", ".profile", "x."] {
            assert!(is_bare(name.as_bytes()), "{name}");
        }
        for name in ["x.so", "x.py.1a", ".x.txt"] {
            assert!(!is_bare(name.as_bytes()), "{name}");
        }
    }
}
