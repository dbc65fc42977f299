//! Compares two looks at one server.
//!
//! A function whose hash is the same in both is steady. For any other, the comparison says which parts of its listing moved,
//! by JSON pointer, with what stood there on either side: enough to name the likely cause.

use std::collections::BTreeMap;

use oz0_listing::json::Json;
use oz0_listing::{Function, LeftOut, Pointer, ToolListing, diff};

/// How one function of two looks differs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Movement {
    /// Parts of its listing moved.
    Moved(Vec<Part>),
    /// Only the first look listed it.
    OnlyFirst,
    /// Only the later look listed it.
    OnlyLater,
    /// It was left out for different reasons, or left out of one look only.
    LeftOut {
        /// Why the first look left it out, if it did.
        first: Option<String>,
        /// Why the later look left it out, if it did.
        later: Option<String>,
    },
}

/// One part of a listing that moved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Where in the function's listing.
    pub(crate) pointer: Pointer,
    /// What stood there first, in canonical JSON; nothing where there was no such part.
    pub(crate) first: Option<String>,
    /// What stands there later.
    pub(crate) later: Option<String>,
}

/// The functions of two looks at one tool that differ, by the function's name.
pub(crate) fn compare(first: &ToolListing, later: &ToolListing) -> BTreeMap<String, Movement> {
    let mut moved = BTreeMap::new();
    let before: BTreeMap<&str, &Function> = by_name(first);
    let after: BTreeMap<&str, &Function> = by_name(later);

    for (name, old) in &before {
        match after.get(name) {
            Some(new) if new.hash == old.hash => {}
            Some(new) => {
                moved.insert((*name).to_owned(), Movement::Moved(parts(old, new)));
            }
            None => {
                moved.insert((*name).to_owned(), Movement::OnlyFirst);
            }
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        moved.insert((*name).to_owned(), Movement::OnlyLater);
    }

    let (lost_before, lost_after) = (reasons(&first.left_out), reasons(&later.left_out));
    for name in lost_before.keys().chain(lost_after.keys()) {
        let (old, new) = (lost_before.get(name), lost_after.get(name));
        if old != new {
            let join = |reasons: Option<&Vec<&str>>| reasons.map(|all| all.join("; "));
            moved.insert(
                (*name).to_owned(),
                Movement::LeftOut { first: join(old), later: join(new) },
            );
        }
    }
    moved
}

fn by_name(listing: &ToolListing) -> BTreeMap<&str, &Function> {
    listing.functions.iter().map(|function| (function.id.function(), function)).collect()
}

fn reasons(left_out: &[LeftOut]) -> BTreeMap<&str, Vec<&str>> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in left_out {
        by_name.entry(&entry.name).or_default().push(&entry.reason);
    }
    by_name
}

fn parts(old: &Function, new: &Function) -> Vec<Part> {
    let text = |function: &Function, pointer: &Pointer| {
        function.listing.value().at(pointer).map(Json::canonical)
    };
    diff::compare(&old.listing, &new.listing)
        .pointers
        .into_iter()
        .map(|pointer| {
            let (first, later) = (text(old, &pointer), text(new, &pointer));
            Part { pointer, first, later }
        })
        .collect()
}
