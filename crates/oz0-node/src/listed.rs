//! What a server listed, as far as calls depend on it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use oz0_api::node::{LeftOut, ListedFunction, Verdict};
use oz0_listing::{FunctionId, ListingHash, ModelName, Pointer, ToolId, merge, read_tool};
use oz0_mcp::RawListing;
use serde_json::value::RawValue;
use tokio::sync::watch;

/// A complete listing.
#[derive(Debug)]
pub(crate) struct Listed {
    /// What it lists.
    pub(crate) functions: HashMap<FunctionId, Seen>,
    /// The model names of what is left out, where they have any.
    pub(crate) left_out: HashSet<ModelName>,
    /// What the edge said of it.
    pub(crate) answered: watch::Sender<Answered>,
}

/// A listed function.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The hash of its listing.
    pub(crate) hash: ListingHash,
    /// Why it cannot be called though it is listed.
    pub(crate) uncallable: Option<String>,
}

/// What became of the report of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The edge has not answered.
    NotYet,
    /// What stands on each function.
    Said(BTreeMap<FunctionId, Verdict>),
}

/// The same listing, as the edge hears of it.
#[derive(Debug, Clone)]
pub(crate) struct Reported {
    pub(crate) functions: Vec<ListedFunction>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// What tells one report from another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gist {
    functions: Vec<(FunctionId, ListingHash, Option<String>)>,
    left_out: Vec<LeftOut>,
}

impl Reported {
    /// Everything by which the edge would tell this from another report.
    pub(crate) fn gist(&self) -> Gist {
        let gist = |function: &ListedFunction| {
            (function.id.clone(), function.hash, function.uncallable.clone())
        };
        Gist {
            functions: self.functions.iter().map(gist).collect(),
            left_out: self.left_out.clone(),
        }
    }
}

/// Reads a raw listing. What two functions of one tool would be known to models as is neither's.
fn read(
    tool: &ToolId,
    raw: &RawListing,
    unstable: &BTreeMap<String, Vec<Pointer>>,
) -> (Listed, Reported) {
    let texts: Vec<&str> = raw.functions.iter().map(|function| function.get()).collect();
    let read = merge(vec![read_tool(tool, &texts, unstable)]);
    let mut left_out: Vec<LeftOut> = read.left_out.into_iter().map(LeftOut::from).collect();
    left_out.extend(raw.left_out.iter().map(|left_out| LeftOut {
        name: name_of(&left_out.function),
        reason: left_out.reason.clone(),
    }));
    let model_name = |left_out: &LeftOut| {
        FunctionId::new(tool, &left_out.name).ok().map(|id| ModelName::of(&id))
    };
    let names = left_out.iter().filter_map(model_name).collect();
    let mut functions = HashMap::with_capacity(read.functions.len());
    let mut reported = Vec::with_capacity(read.functions.len());
    for function in read.functions {
        let listing = RawValue::from_string(function.listing.canonical().to_owned())
            .expect("canonical JSON is JSON");
        reported.push(ListedFunction {
            id: function.id.clone(),
            hash: function.hash,
            listing,
            uncallable: function.uncallable.clone(),
        });
        functions
            .insert(function.id, Seen { hash: function.hash, uncallable: function.uncallable });
    }
    let answered = watch::Sender::new(Answered::NotYet);
    let listed = Listed { functions, left_out: names, answered };
    (listed, Reported { functions: reported, left_out })
}

fn name_of(function: &RawValue) -> String {
    let value: serde_json::Value = serde_json::from_str(function.get()).unwrap_or_default();
    let name = value.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
    oz0_listing::escape::line_within(name, 128).into_owned()
}

/// Reads one server's listings, one after another. One that is byte for byte the last is not read again.
#[derive(Default)]
pub(crate) struct Reader(Option<(RawListing, Arc<Listed>)>);

impl Reader {
    /// What a raw listing says, and what there is to report of it: nothing where it is the last one, unless it is to be read
    /// `afresh`.
    pub(crate) fn read(
        &mut self,
        tool: &ToolId,
        raw: RawListing,
        unstable: &BTreeMap<String, Vec<Pointer>>,
        afresh: bool,
    ) -> (Arc<Listed>, Option<Reported>) {
        if let Some((last, listed)) = &self.0
            && !afresh
            && same(last, &raw)
        {
            return (Arc::clone(listed), None);
        }
        let (listed, reported) = read(tool, &raw, unstable);
        let listed = Arc::new(listed);
        self.0 = Some((raw, Arc::clone(&listed)));
        (listed, Some(reported))
    }
}

/// Whether two raw listings are the same bytes.
fn same(one: &RawListing, other: &RawListing) -> bool {
    let bytes = |listing: &RawListing| listing.bytes;
    bytes(one) == bytes(other)
        && one.functions.len() == other.functions.len()
        && one.functions.iter().zip(&other.functions).all(|(a, b)| a.get() == b.get())
        && one.left_out.len() == other.left_out.len()
        && one
            .left_out
            .iter()
            .zip(&other.left_out)
            .all(|(a, b)| a.function.get() == b.function.get() && a.reason == b.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(description: &str) -> RawListing {
        let function = format!(r#"{{"name":"hello","description":"{description}"}}"#);
        RawListing {
            bytes: function.len(),
            functions: vec![RawValue::from_string(function).unwrap()],
            ..RawListing::default()
        }
    }

    #[test]
    fn equal_bytes_are_not_read_again() {
        let tool: ToolId = "team".try_into().unwrap();
        let none = BTreeMap::new();
        let mut reader = Reader::default();
        let mut read = |description: &str, afresh| {
            let (listed, reported) = reader.read(&tool, raw(description), &none, afresh);
            (Arc::as_ptr(&listed), reported.is_some())
        };
        let (first, reported) = read("Greets.", false);
        assert!(reported);
        assert_eq!(read("Greets.", false), (first, false), "the very same value");
        assert_eq!(read("Greets.", false), (first, false));
        // The same text in another notation is other bytes, and is read.
        let (other, reported) = read("Greet\\u0073.", false);
        assert!(reported && other != first);
        assert_eq!(read("Greet\\u0073.", false), (other, false));
        assert!(read("Greet\\u0073.", true).1, "whoever forgot it is told again");
    }
}
