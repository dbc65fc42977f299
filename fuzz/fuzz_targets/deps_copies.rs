//! Any names of files and folders, and any `.pth` file: no panic, every place is inside of its text, and the answer does not
//! depend on the number of threads.
//!
//! Lines of the input are paths, up to a line that is empty; what follows is what every one of the files holds.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oz0_deps::{Ecosystem, Package, Reading, Request, Tree, Wanted, read};

static WANTED: LazyLock<Wanted> = LazyLock::new(|| {
    let package = |ecosystem, name: &str| Package {
        ecosystem,
        name: name.to_owned(),
        modules: vec![name.replace('-', "_")],
        repositories: vec![format!("github.com/berriai/{name}")],
        contents: vec!["main.py".to_owned(), "proxy".to_owned()],
        startup_files: vec!["litellm_init.pth".to_owned()],
    };
    Wanted::new(vec![
        package(Ecosystem::PyPi, "litellm"),
        package(Ecosystem::PyPi, "litellm-proxy-extras"),
        package(Ecosystem::Npm, "litellm"),
    ])
});

fn lines(files: &BTreeMap<String, &[u8]>, threads: usize) -> Vec<String> {
    let mut request = Request::new(&WANTED);
    request.threads = Some(threads);
    let Reading { mentions, unread, .. } = read(&Tree::Files(files), &request);
    let places = mentions.iter().map(|found| &found.span).chain(unread.iter().map(|found| &found.span));
    for span in places {
        assert!(span.file().text().get(span.range()).is_some());
    }
    let mentions = mentions.iter().map(|mention| format!("{mention:?}"));
    mentions.chain(unread.iter().map(|unread| format!("{unread:?}"))).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
    let (names, content) = bytes.split_at(end);
    let names = String::from_utf8_lossy(names);
    let content = content.get(2..).unwrap_or_default();
    let mut files: BTreeMap<String, &[u8]> =
        names.lines().take(16).map(|name| (name.to_owned(), content)).collect();
    files.insert("x.pth".to_owned(), content);
    assert_eq!(lines(&files, 1), lines(&files, 2));
});
