//! The AI label: a line that says to people that a machine wrote what they read.
//!
//! It goes to the end of one text in a call's arguments, on a line of its own. Everything around that text stays as it
//! was written, byte for byte.

use std::borrow::Cow;
use std::collections::HashMap;

use oz0_listing::Pointer;
use oz0_mcp::server::Splice;
use serde_json::value::RawValue;

/// The arguments with the label at the end of the text at `pointer`; untouched where there is no such value, or it ends
/// with the label already. The error says why it cannot be put there.
pub(crate) fn labelled<'a>(
    arguments: &'a str,
    pointer: &Pointer,
    label: &str,
) -> Result<Cow<'a, str>, String> {
    let unreadable = |error: serde_json::Error| error.to_string();
    let mut at: &RawValue = serde_json::from_str(arguments).map_err(unreadable)?;
    for segment in pointer.segments() {
        let next = match at.get().as_bytes().first() {
            Some(b'{') => {
                let mut members: HashMap<Cow<'_, str>, &RawValue> =
                    serde_json::from_str(at.get()).map_err(unreadable)?;
                members.remove(segment.as_str())
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(at.get()).map_err(unreadable)?;
                index(segment.as_str()).and_then(|index| items.get(index).copied())
            }
            _ => None,
        };
        let Some(next) = next else { return Ok(Cow::Borrowed(arguments)) };
        at = next;
    }
    let literal = at.get();
    if !literal.starts_with('"') {
        return Err(format!("what stands at {pointer} is no text"));
    }
    let text: String = serde_json::from_str(literal).map_err(unreadable)?;
    if text.lines().next_back().is_some_and(|last| last.trim_end() == label) {
        return Ok(Cow::Borrowed(arguments));
    }
    let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let more = serde_json::Value::from(format!("{line}{label}")).to_string();
    // The text's own spelling, then the label's, between the quotes of the one and the other.
    let whole = [&literal[..literal.len() - 1], &more[1..]].concat();
    let mut splice = Splice::new(arguments);
    splice.replace_value(at, whole).map_err(|error| error.to_string())?;
    Ok(Cow::Owned(splice.apply()))
}

/// An array's index as RFC 6901 writes it.
fn index(segment: &str) -> Option<usize> {
    let plain = segment.bytes().all(|byte| byte.is_ascii_digit())
        && (segment == "0" || !segment.starts_with('0'));
    segment.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn label(arguments: &str, pointer: &str) -> Result<String, String> {
        labelled(arguments, &pointer.parse().unwrap(), "[AI-generated]").map(Cow::into_owned)
    }

    #[test]
    fn the_label_stands_on_a_line_of_its_own_and_nothing_else_moves() {
        for (before, pointer, after) in [
            (r#"{"n" : 1.50, "t": "Hi"}"#, "/t", r#"{"n" : 1.50, "t": "Hi\n[AI-generated]"}"#),
            (r#"{"t": "H\u0069"}"#, "/t", r#"{"t": "H\u0069\n[AI-generated]"}"#),
            (r#"{"t": ""}"#, "/t", r#"{"t": "[AI-generated]"}"#),
            (r#"{"t": "Hi\n"}"#, "/t", r#"{"t": "Hi\n[AI-generated]"}"#),
            (
                r#"{"a/b": [0, {"t": "\\"}]}"#,
                "/a~1b/1/t",
                r#"{"a/b": [0, {"t": "\\\n[AI-generated]"}]}"#,
            ),
            (r#"{"\u0074": "Hi"}"#, "/t", r#"{"\u0074": "Hi\n[AI-generated]"}"#),
        ] {
            assert_eq!(label(before, pointer).unwrap(), after);
            assert_eq!(label(after, pointer).unwrap(), after, "and it stands there once");
        }
    }

    #[test]
    fn what_is_absent_is_left_and_what_is_no_text_is_refused() {
        for (arguments, pointer) in [
            ("{}", "/t"),
            (r#"{"t": "x"}"#, "/t/u"),
            (r#"{"t": ["x"]}"#, "/t/01"),
            (r#"{"t": ["x"]}"#, "/t/-"),
        ] {
            assert_eq!(label(arguments, pointer).unwrap(), arguments);
        }
        for arguments in [r#"{"t": 1}"#, r#"{"t": null}"#, r#"{"t": ["x"]}"#, r#"{"t": {}}"#] {
            assert_eq!(label(arguments, "/t").unwrap_err(), "what stands at /t is no text");
        }
        assert!(label("{}", "").is_err());
    }

    proptest! {
        #[test]
        fn the_text_is_what_it_was_and_the_label(text in any::<String>(), other in any::<String>()) {
            let arguments = serde_json::json!({"other": other, "t": text}).to_string();
            let labelled: serde_json::Value =
                serde_json::from_str(&label(&arguments, "/t").unwrap()).unwrap();
            let now = labelled["t"].as_str().unwrap();
            prop_assert_eq!(labelled["other"].as_str().unwrap(), other);
            prop_assert!(now.starts_with(&text));
            prop_assert_eq!(now.lines().next_back(), Some("[AI-generated]"));
        }
    }
}
