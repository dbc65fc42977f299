//! Real listings, where there are some on the machine: `OZ0_CORPUS` names a folder of JSON files,
//! each an object whose `tools` are what a server listed. They are their authors' and are not
//! part of this repository; without the variable there is nothing to do here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use oz0_listing::file::ListingFile;
use oz0_listing::{Digest, Listing, ToolId, diff, read_tool};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::listing::hash_by_the_oracle;

fn files() -> Vec<PathBuf> {
    let Ok(folder) = std::env::var("OZ0_CORPUS") else {
        return Vec::new();
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("OZ0_CORPUS is a folder")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

#[derive(serde::Deserialize)]
struct Server {
    tools: Vec<Box<RawValue>>,
}

fn functions(path: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let server: Server = serde_json::from_str(&text).unwrap();
    server.tools.iter().map(|raw| raw.get().to_owned()).collect()
}

#[test]
fn real_functions_hash_as_other_tools_hash_them() {
    let mut hashed = 0;
    for path in files() {
        let raw = functions(&path);
        for raw in &raw {
            let listing = Listing::read(raw, &[]).unwrap_or_else(|error| panic!("{error}: {raw}"));
            let value: Value = serde_json::from_str(raw).unwrap();
            assert_eq!(listing.hash().to_string(), hash_by_the_oracle(&value), "{raw}");
            hashed += 1;
        }
        let raw: Vec<_> = raw.iter().map(String::as_str).collect();
        let tool = read_tool(&ToolId::try_from("t").unwrap(), &raw, &BTreeMap::new());
        let file = ListingFile {
            source_digest: Digest::of(""),
            functions: tool.functions,
            left_out: tool.left_out,
        };
        assert_eq!(ListingFile::read(&file.write()).unwrap(), file);
    }
    println!("{hashed} functions");
}

/// Compares neighbouring versions of each server and prints what their changes are called.
#[test]
fn real_changes_have_labels() {
    let files = files();
    for pair in files.windows(2) {
        let server = |path: &PathBuf| {
            path.file_name().unwrap().to_string_lossy().split('@').next().unwrap().to_owned()
        };
        if server(&pair[0]) != server(&pair[1]) {
            continue;
        }
        let read = |path| -> BTreeMap<String, Listing> {
            functions(path)
                .iter()
                .map(|raw| Listing::read(raw, &[]).unwrap())
                .map(|listing| (listing.name().to_owned(), listing))
                .collect()
        };
        let (old, new) = (read(&pair[0]), read(&pair[1]));
        println!("{} -> {}", pair[0].display(), pair[1].display());
        for (name, old) in &old {
            let Some(new) = new.get(name).filter(|new| *new != old) else {
                continue;
            };
            let difference = diff::compare(old, new);
            assert!(!difference.labels.is_empty());
            let labels: Vec<_> = difference.labels.iter().map(ToString::to_string).collect();
            println!("  {name}: {}", labels.join("; "));
        }
    }
}
