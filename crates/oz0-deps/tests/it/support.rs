//! What is looked for, and trees to look in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use oz0_deps::{Ecosystem, Package, Reading, Request, Tree, Wanted, read};

/// The packages of `litellm`.
pub(crate) fn wanted() -> Wanted {
    let python = |name: &str, modules: &[&str]| Package {
        ecosystem: Ecosystem::PyPi,
        name: name.to_owned(),
        modules: owned(modules),
        repositories: Vec::new(),
        contents: Vec::new(),
        startup_files: Vec::new(),
    };
    let litellm = Package {
        repositories: owned(&["github.com/berriai/litellm"]),
        contents: owned(&[
            "main.py",
            "router.py",
            "utils.py",
            "cost_calculator.py",
            "_logging.py",
            "proxy",
            "llms",
            "model_prices_and_context_window_backup.json",
        ]),
        startup_files: owned(&["litellm_init.pth"]),
        ..python("litellm", &["litellm", "litellm_cli"])
    };
    let node = Package { ecosystem: Ecosystem::Npm, ..python("litellm", &["litellm"]) };
    Wanted::new(vec![
        litellm,
        python("litellm-proxy-extras", &["litellm_proxy_extras"]),
        python("litellm-enterprise", &["litellm_enterprise"]),
        node,
    ])
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Reads files in memory.
pub(crate) fn of_files(files: &[(&str, &[u8])]) -> Reading {
    let files: BTreeMap<String, &[u8]> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), *bytes)).collect();
    read(&Tree::Files(&files), &Request::new(&wanted()))
}

/// Reads a folder.
pub(crate) fn of_folder(folder: &Path) -> Reading {
    read(&Tree::Folder(folder), &Request::new(&wanted()))
}

/// Writes a file and the folders that it is in.
pub(crate) fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Mentions as lines: path, how, name; a place within the file where there is one.
pub(crate) fn mentions(reading: &Reading) -> Vec<String> {
    let line = |mention: &oz0_deps::Mention| {
        let (span, at) = (&mention.span, mention.span.start());
        let place =
            if span.text().is_empty() { String::new() } else { format!(":{at} {}", span.text()) };
        format!(
            "{}{place} {:?} {:?} {}",
            span.file().path(),
            mention.how,
            mention.ecosystem,
            mention.name
        )
    };
    reading.mentions.iter().map(line).collect()
}

/// What is unread, as lines: path and problem.
pub(crate) fn unread(reading: &Reading) -> Vec<String> {
    let line =
        |unread: &oz0_deps::Unread| format!("{}: {}", unread.span.file().path(), unread.problem);
    reading.unread.iter().map(line).collect()
}
