//! Writing the two files.

use super::{LISTING_FORMAT, ListingFile, SNAPSHOT_FORMAT, SnapshotFile};
use crate::json::{Json, Object};
use crate::{Function, LeftOut};

impl ListingFile {
    /// The file's text. Functions and what is left out are sorted here, whatever order they are in.
    pub fn write(&self) -> String {
        let mut left_out: Vec<_> = self.left_out.iter().collect();
        left_out.sort();
        let members = [
            ("format", text(LISTING_FORMAT)),
            ("source_digest", text(&self.source_digest)),
            ("functions", functions(&self.functions)),
            ("left_out", Json::Array(left_out.into_iter().map(left_out_entry).collect())),
        ];
        finish(members.into_iter().collect())
    }
}

impl SnapshotFile {
    /// The file's text. Functions are sorted here, whatever order they are in.
    pub fn write(&self) -> String {
        let mut members: Object = [
            ("format", text(SNAPSHOT_FORMAT)),
            ("tool", text(&self.tool)),
            ("functions", functions(&self.functions)),
        ]
        .into_iter()
        .collect();
        for (name, value) in [("listed_from", &self.listed_from), ("url", &self.url)] {
            if let Some(value) = value {
                members.insert(name, text(value));
            }
        }
        finish(members)
    }
}

fn finish(members: Object) -> String {
    let mut file = Json::Object(members).pretty();
    file.push('\n');
    file
}

fn text(text: &(impl ToString + ?Sized)) -> Json {
    Json::String(text.to_string())
}

fn functions(functions: &[Function]) -> Json {
    let mut functions: Vec<_> = functions.iter().collect();
    functions.sort_by(|a, b| a.id.cmp(&b.id));
    Json::Array(functions.into_iter().map(function).collect())
}

fn function(function: &Function) -> Json {
    let mut members: Object = [
        ("name", text(&function.id)),
        ("hash", text(&function.listing.hash())),
        ("listing", function.listing.value().clone()),
    ]
    .into_iter()
    .collect();
    if !function.unstable.is_empty() {
        let mut pointers = function.unstable.clone();
        pointers.sort();
        pointers.dedup();
        members.insert("unstable", Json::Array(pointers.iter().map(text).collect()));
    }
    if let Some(reason) = function.listing.uncallable() {
        members.insert("uncallable", text(reason));
    }
    Json::Object(members)
}

fn left_out_entry(entry: &LeftOut) -> Json {
    Json::Object(
        [("tool", text(&entry.tool)), ("name", text(&entry.name)), ("reason", text(&entry.reason))]
            .into_iter()
            .collect(),
    )
}
