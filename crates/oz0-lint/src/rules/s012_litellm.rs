//! The page of this rule, `s012_litellm.md`, says what it finds, what it must not find, and why.
//!
//! What the files name, `oz0-deps` reads; what that means is decided here. A place is a finding of its own, with two
//! exceptions, or a finding would be lost among thousands: what stands in a copy of the package is summed up in the copy's
//! finding, and what an installed package does over and over, in one finding a package.

mod manifest;
mod packages;

use std::collections::BTreeMap;

use oz0_deps::{Ecosystem, Format, How, Mention, Reading, Request, Tree, Unread, Via};
use oz0_diagnostic::{Level, Span};
use oz0_listing::escape;
use oz0_plugin::{Plugin, Reason};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use packages::{Forbidden, row, wanted};

const METADATA: Metadata = Metadata {
    code: "OZ-S012",
    name: "litellm",
    plain: Plain::On(Level::Error),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s012_litellm.md"),
};

pub(super) static RULE: Rule = Rule::of_files(METADATA, check);

/// How many other places a finding about several shows.
const RELATED: usize = 4;

fn check(plugin: &Plugin, sink: &mut Sink) {
    let wanted = wanted();
    let started = manifest::read(plugin, &wanted);
    for named in &started.named {
        let row = row(named.ecosystem, &named.name);
        let message = if named.is_package {
            format!("a tool's server is {}", package(row))
        } else {
            format!("a command of the manifest starts {}", package(row))
        };
        sink.push(Finding::at(&named.span, message).help(row.instead));
    }
    for span in &started.unread {
        let message = "a command of the manifest installs what a file lists that is not in the plugin, so it may bring LiteLLM unseen";
        let help = "name a file of the plugin by its path from the plugin's folder";
        sink.push(Finding::at(span, message).help(help));
    }
    let mut request = Request::new(&wanted);
    request.formats = locks(plugin, started.formats);
    let links = plugin.unpackable().iter().filter(|found| found.reason == Reason::Link);
    request.packed_links = Some(links.map(|link| link.path.clone()).collect());
    let files = plugin.files_in_memory();
    let unsaved = plugin.unsaved();
    let tree = match &files {
        Some(files) => Tree::Files(files),
        None if unsaved.is_empty() => Tree::Folder(plugin.root()),
        None => Tree::Unsaved { folder: plugin.root(), files: &unsaved },
    };
    let reading = oz0_deps::read(&tree, &request);
    sink.links_out(reading.links_out);
    tell(reading, sink);
}

/// The formats of the locks of package tools, which their names do not tell: by the tool's package, else by their first
/// character.
fn locks(plugin: &Plugin, known: BTreeMap<String, Format>) -> BTreeMap<String, Format> {
    let mut locks = known;
    for file in plugin.packed() {
        let name = file.path.strip_prefix("locks/").and_then(|name| name.strip_suffix(".lock"));
        if name.is_none_or(|name| name.contains('/')) || locks.contains_key(&file.path) {
            continue;
        }
        // A file that changed meanwhile is read, and told of, by whoever reads all of it.
        let start = plugin.read_file(file, 1024).unwrap_or_default();
        let is_json = start.trim_ascii_start().starts_with(b"{");
        let format = if is_json { Format::PackageLock } else { Format::Requirements };
        locks.insert(file.path.clone(), format);
    }
    locks
}

/// A copy of a forbidden package, and what stands in it.
struct Copy {
    mention: Mention,
    folder: String,
    names: usize,
    unread: usize,
}

fn tell(reading: Reading, sink: &mut Sink) {
    let (copies, mentions): (Vec<Mention>, Vec<Mention>) =
        reading.mentions.into_iter().partition(|mention| mention.how == How::Vendored);
    let mut copies = Copies::of(copies);
    let mut installed: BTreeMap<(String, How, String), Vec<Mention>> = BTreeMap::new();
    for mention in mentions {
        let path = mention.span.file().path();
        // What harms at every start of Python is told wherever it lies.
        if mention.how != How::StartupFile
            && let Some(copy) = copies.around(path)
        {
            copy.names += 1;
        } else if let Some(package) = installed_package(path)
            && matches!(mention.how, How::Import | How::InstallLine)
        {
            let key = (package.to_owned(), mention.how, mention.name.clone());
            installed.entry(key).or_default().push(mention);
        } else {
            sink.push(finding(&mention));
        }
    }
    for ((package, ..), mentions) in installed {
        sink.push(of_installed(&package, &mentions));
    }
    let mut of_packages: BTreeMap<String, Vec<Unread>> = BTreeMap::new();
    // What is too large is an error whatever it is: a name may stand in it.
    for unread in reading.unread.into_iter().chain(reading.large) {
        let path = unread.span.file().path();
        if let Some(copy) = copies.around(path) {
            copy.unread += 1;
        } else if let Some(package) = installed_package(path) {
            of_packages.entry(package.to_owned()).or_default().push(unread);
        } else {
            sink.push(not_read(&unread, &[]));
        }
    }
    for unread in of_packages.into_values() {
        if let Some((first, others)) = unread.split_first() {
            sink.push(not_read(first, others));
        }
    }
    for copy in copies.0.into_values() {
        sink.push(of_copy(&copy));
    }
}

/// Copies by their folders, none of which lies in another.
struct Copies(BTreeMap<String, Copy>);

impl Copies {
    fn of(mentions: Vec<Mention>) -> Self {
        let mut copies = Self(BTreeMap::new());
        let mut mentions: Vec<(String, Mention)> =
            mentions.into_iter().map(|mention| (folder(&mention), mention)).collect();
        // A folder comes before what lies in it.
        mentions.sort_by(|a, b| a.0.cmp(&b.0));
        for (folder, mention) in mentions {
            if let Some(above) = copies.around(&folder) {
                above.names += 1;
            } else {
                let copy = Copy { mention, folder: folder.clone(), names: 0, unread: 0 };
                copies.0.insert(folder, copy);
            }
        }
        copies
    }

    /// The copy that a path is or lies in.
    fn around(&mut self, path: &str) -> Option<&mut Copy> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let folder = ends.map(|end| &path[..end]).find(|folder| self.0.contains_key(*folder))?;
        self.0.get_mut(folder)
    }
}

/// The folder of a copy: its mention's path, or, where a file in it says what it is, that file's folder.
fn folder(mention: &Mention) -> String {
    let path = mention.span.file().path();
    let is_metadata = path.ends_with("/package.json");
    let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    let folder = if is_metadata { folder } else { path };
    folder.trim_end_matches('/').to_owned()
}

/// The folder of the installed package that a path lies in.
fn installed_package(path: &str) -> Option<&str> {
    const PLACES: [&str; 4] = ["site-packages", "dist-packages", "node_modules", "__pypackages__"];
    let mut at = 0;
    let mut begins = None;
    for part in path.split('/') {
        at += part.len() + 1;
        if PLACES.contains(&part) {
            begins = Some(at);
        }
    }
    let begins = begins.filter(|at| *at < path.len())?;
    let rest = &path[begins..];
    let skipped = if rest.starts_with('@') { rest.find('/')? + 1 } else { 0 };
    let end = rest[skipped..].find('/').map_or(rest.len(), |at| at + skipped);
    Some(&path[..begins + end])
}

/// The package as people read it.
fn package(row: &Forbidden) -> String {
    let place = match row.ecosystem {
        Ecosystem::PyPi => "PyPI",
        Ecosystem::Npm => "npm",
    };
    if row.name.eq_ignore_ascii_case(row.family) {
        format!("{} (`{}` of {place})", row.family, row.name)
    } else {
        format!("`{}` of {place}, which is {}'s", row.name, row.family)
    }
}

fn finding(mention: &Mention) -> Finding {
    let row = row(mention.ecosystem, &mention.name);
    let package = package(row);
    let path = mention.span.file().path();
    // A tool's lock is written by oz0, in a format that people write their wishes in.
    let is_lock = path.starts_with("locks/") && mention.how == How::Direct;
    let how = if is_lock { How::Locked } else { mention.how };
    let via = mention.via.as_ref();
    let message = match how {
        How::Direct => format!("{package} is a direct dependency{}", asked(via)),
        How::Constraint => {
            format!("{package} is installed where something asks for it{}", asked(via))
        }
        How::Locked if is_lock => {
            format!("{package} is locked for the tool's package{}", pulled(via))
        }
        How::Locked => format!("{package} is locked{}", pulled(via)),
        How::Archive => format!("the plugin carries an archive of {package}"),
        How::Import => format!("{package} is imported{}", asked(via)),
        How::InstallLine => format!("a cell installs {package}"),
        How::Command => format!("a server's command starts {package}"),
        How::StartupFile => return startup(mention, row),
        _ => format!("{package} is in the plugin{}", asked(via)),
    };
    Finding::at(&mention.span, message).help(row.instead)
}

/// A file that runs at every start of Python.
fn startup(mention: &Mention, row: &Forbidden) -> Finding {
    let path = mention.span.file().path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let message = format!(
        "`{}` came with the compromised releases {} of {}, and runs whenever a Python starts beside it",
        escape::line(name),
        row.compromised,
        row.family
    );
    let help = "remove the whole environment; take every secret that a Python of it could read for stolen, and replace it; \
                then build it anew without LiteLLM";
    Finding::at(&mention.span, message).help(help)
}

/// Where it is asked for.
fn asked(via: Option<&Via>) -> String {
    match via {
        Some(Via::List(list)) => format!(", in `{}`", escape::line(list)),
        Some(Via::Alias(alias)) => format!(", as `{}`", escape::line(alias)),
        Some(Via::Files(files)) => {
            let files: Vec<String> =
                files.iter().map(|file| escape::line(file).into_owned()).collect();
            format!(", by way of {}", files.join(" → "))
        }
        Some(Via::Packages(packages)) => format!(", for {}", chain(packages)),
        _ => String::new(),
    }
}

/// Who pulled it in.
fn pulled(via: Option<&Via>) -> String {
    match via {
        Some(Via::List(list)) => format!(", and `{}` asks for it", escape::line(list)),
        Some(Via::Packages(packages)) => format!("; {} pulls it in", chain(packages)),
        via => asked(via),
    }
}

/// Packages that need each other, the middle of many left out.
fn chain(packages: &[String]) -> String {
    let shown: Vec<String> =
        packages.iter().map(|one| format!("`{}`", escape::line(one))).collect();
    match shown.as_slice() {
        [first, second, .., last] if shown.len() > 6 => {
            format!("{first} → {second} → … ({} more) → {last}", shown.len() - 3)
        }
        all => all.join(" → "),
    }
}

fn of_copy(copy: &Copy) -> Finding {
    let row = row(copy.mention.ecosystem, &copy.mention.name);
    let package = package(row);
    let mut message = format!("a copy of {package} is in `{}`", escape::line(&copy.folder));
    if let Some(Via::Alias(alias)) = &copy.mention.via {
        message = format!("a copy of {package} is installed as `{}`", escape::line(alias));
    }
    let places =
        |count: usize| if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    if copy.names > 0 {
        message = format!("{message}, with {} in it that name LiteLLM", places(copy.names));
    }
    if copy.unread > 0 {
        message = format!("{message}; {} of it could not be read", places(copy.unread));
    }
    Finding::at(&copy.mention.span, message).help(row.instead)
}

/// What an installed package does, once or often.
fn of_installed(folder: &str, mentions: &[Mention]) -> Finding {
    let first = &mentions[0];
    let row = row(first.ecosystem, &first.name);
    let name = folder.rsplit("/node_modules/").next().unwrap_or(folder);
    let name = name.rsplit_once("-packages/").map_or(name, |(_, name)| name);
    let verb = if first.how == How::Import { "imports" } else { "installs" };
    let often = match mentions.len() {
        1 => String::new(),
        count => format!(", in {count} places"),
    };
    let message = format!("the installed `{}` {verb} {}{often}", escape::line(name), package(row));
    let others = mentions.iter().skip(1).map(|mention| &mention.span);
    related(Finding::at(&first.span, message), others, "and here").help(row.instead)
}

fn not_read(unread: &Unread, others: &[Unread]) -> Finding {
    let path = unread.span.file().path();
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("the plugin");
    let more = match others.len() {
        0 => String::new(),
        count => format!("; nor could {count} more of this package be read"),
    };
    let message = format!(
        "`{}` {}, so it may name LiteLLM unseen{more}",
        escape::line(name),
        escape::line(&unread.problem)
    );
    let help = unread.help.clone();
    let finding = Finding::at(&unread.span, message)
        .help(help.unwrap_or_else(|| "make it readable, or take it out of the plugin".to_owned()));
    related(finding, others.iter().map(|unread| &unread.span), "and this one")
}

fn related<'s>(
    finding: Finding,
    spans: impl Iterator<Item = &'s Span>,
    message: &'static str,
) -> Finding {
    spans.take(RELATED).fold(finding, |finding, span| finding.related(span, message))
}
