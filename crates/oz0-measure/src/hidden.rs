//! Characters that nobody sees, found in what a server lists before they are written out.

use std::collections::BTreeSet;

use oz0_listing::json::{self, Json};
use oz0_listing::{MEMBERS, Pointer, escape};

/// Places with hidden characters: the function's name as its server gives it, where, and which.
pub(crate) type Hidden = Vec<(String, Pointer, BTreeSet<char>)>;

/// Looks through the members that are listed of each function.
pub(crate) fn find(raw: &[&str]) -> Hidden {
    let mut found = Vec::new();
    for function in raw.iter().filter(|raw| may_hide(raw)).filter_map(|raw| json::parse(raw).ok()) {
        let name = function.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        for member in MEMBERS {
            if let Some(value) = function.get(member) {
                search(&name, value, &Pointer::of([member]), &mut found);
            }
        }
    }
    found
}

/// Plain ASCII without an escape has nothing to hide.
fn may_hide(raw: &str) -> bool {
    !raw.is_ascii() || raw.contains("\\u")
}

fn search(name: &str, value: &Json, at: &Pointer, found: &mut Hidden) {
    let hidden = |text: &str| -> BTreeSet<char> {
        let mut rest = text.chars().peekable();
        let mut found = BTreeSet::new();
        while let Some(c) = rest.next() {
            // Half of an ordinary line end hides nothing.
            if escape::is_invisible(c) && !(c == '\r' && rest.peek() == Some(&'\n')) {
                found.insert(c);
            }
        }
        found
    };
    match value {
        Json::String(text) => {
            let characters = hidden(text);
            if !characters.is_empty() {
                found.push((name.to_owned(), at.clone(), characters));
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(name, item, &at.child(index.to_string()), found);
            }
        }
        Json::Object(members) => {
            for (member, inner) in members.iter() {
                let characters = hidden(member);
                let at = at.child(member);
                if !characters.is_empty() {
                    found.push((name.to_owned(), at.clone(), characters));
                }
                search(name, inner, &at, found);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn each_place_is_named_with_its_characters() {
        let raw = "{\"name\":\"f\",\"description\":\"a\\u200bb\\r\\nc\",\"inputSchema\":{\"p\u{ad}\":1},\"_meta\":\"\u{202e}\"}";
        let found = find(&[raw]);
        let places: Vec<String> = found.iter().map(|(_, at, c)| format!("{at} {c:?}")).collect();
        assert_eq!(places, ["/description {'\\u{200b}'}", "/inputSchema/p\u{ad} {'\\u{ad}'}"]);
    }
}
