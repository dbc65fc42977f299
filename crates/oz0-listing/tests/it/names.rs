//! IDs, model names, digests and pointers.

use oz0_listing::{Digest, FunctionId, IdError, ListingHash, ModelName, Pointer, ToolId};
use proptest::prelude::*;

fn tool(text: &str) -> ToolId {
    ToolId::try_from(text).unwrap()
}

fn function(text: &str) -> FunctionId {
    text.parse().unwrap()
}

#[test]
fn a_tool_id_is_a_letter_and_62_more_characters() {
    let longest = format!("a{}", "b".repeat(62));
    for text in ["a", "Z", "team", "a-b_c9", "ozone", "OZ", "oz0", &longest] {
        assert_eq!(tool(text).as_str(), text);
    }
    let too_long = format!("{longest}b");
    for text in ["", "9a", "-a", "_a", "a.b", "a b", "\u{E9}", "a\u{200B}", &too_long] {
        assert!(matches!(ToolId::try_from(text), Err(IdError::Malformed { .. })), "{text}");
    }
}

#[test]
fn oz_is_the_platform_s_own() {
    assert_eq!(ToolId::try_from("oz"), Err(IdError::Reserved));
    assert_eq!("oz.delegate".parse::<FunctionId>(), Err(IdError::Reserved));
}

#[test]
fn an_id_error_shows_what_cannot_be_seen() {
    let error = ToolId::try_from("a\u{200B}\nb").unwrap_err().to_string();
    assert_eq!(
        error,
        "`a\\u{200B}\\u{A}b` is not a tool ID: a letter, then at most 62 letters, digits, `_` and `-`"
    );
    assert!(ToolId::try_from("x".repeat(9000).as_str()).unwrap_err().to_string().len() < 300);
}

#[test]
fn a_function_id_splits_at_its_first_dot() {
    let id = function("a.b.c");
    assert_eq!((id.tool(), id.function(), id.as_str()), (tool("a"), "b.c", "a.b.c"));
    assert_eq!(FunctionId::new(&tool("a"), "b.c").unwrap(), id);
    let longest = "x".repeat(128);
    assert!(FunctionId::new(&tool("a"), &longest).is_ok());
    for name in ["", "a b", "a/b", "\u{FEFF}a", "\u{E9}", &format!("{longest}x")] {
        assert!(FunctionId::new(&tool("a"), name).is_err(), "{name}");
    }
    for text in ["", "a", "a.", ".b", "9.b"] {
        assert!(text.parse::<FunctionId>().is_err(), "{text}");
    }
}

#[test]
fn a_model_name_has_no_dots() {
    assert_eq!(ModelName::of(&function("a.b__c")).as_str(), "a__b__c");
    assert_eq!(ModelName::of(&function("a__b.c")).as_str(), "a__b__c");
    assert_eq!(ModelName::of(&function("a.b.c")).as_str(), "a__b__c");
}

#[test]
fn a_model_name_above_64_characters_is_cut_to_64() {
    let whole = format!("a__{}", "x".repeat(61));
    assert_eq!(ModelName::of(&function(&whole.replacen("__", ".", 1))).as_str(), whole);

    let whole = format!("a__{}", "x".repeat(62));
    let cut = ModelName::of(&function(&whole.replacen("__", ".", 1)));
    let hash = Digest::of(&whole).hex();
    assert_eq!(cut.as_str(), format!("a__{}_{}", "x".repeat(52), &hash[..8]));
    assert_eq!(cut.as_str().len(), 64);
}

#[test]
fn a_digest_has_one_text() {
    let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let digest = Digest::of("");
    assert_eq!(digest.to_string(), text);
    assert_eq!(text.parse::<Digest>().unwrap(), digest);
    assert_eq!(text.parse::<ListingHash>().unwrap().digest(), digest);
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{text}\"")).unwrap(), digest);
    for other in [
        &text.to_uppercase(),
        &text[..70],
        &text[7..],
        &text.replace('e', "E"),
        &format!("{text}0"),
    ] {
        assert!(other.parse::<Digest>().is_err(), "{other}");
    }
}

#[test]
fn a_pointer_is_rfc_6901() {
    // The examples of RFC 6901 section 5.
    for (text, segments) in [
        ("", vec![]),
        ("/foo/0", vec!["foo", "0"]),
        ("/", vec![""]),
        ("/a~1b", vec!["a/b"]),
        ("/m~0n", vec!["m~n"]),
        ("/~01", vec!["~1"]),
        ("/ ", vec![" "]),
    ] {
        let pointer: Pointer = text.parse().unwrap();
        assert_eq!(pointer.segments(), segments);
        assert_eq!(pointer.to_string(), text);
    }
    for text in ["foo", "#/foo", "/~", "/a~2", "/a~"] {
        assert!(text.parse::<Pointer>().is_err(), "{text}");
    }
    let above: Pointer = "/a".parse().unwrap();
    assert!(above.child("b").is_within(&above) && above.is_within(&above));
    assert!(!above.is_within(&above.child("b")) && !Pointer::of(["ab"]).is_within(&above));
}

proptest! {
    #[test]
    fn ids_are_their_text(text in "[A-Za-z][A-Za-z0-9_-]{0,8}\\.[A-Za-z0-9_.-]{1,80}") {
        prop_assume!(!text.starts_with("oz."));
        let id: FunctionId = text.parse().unwrap();
        prop_assert_eq!(id.to_string(), text.as_str());
        prop_assert_eq!(&FunctionId::new(&id.tool(), id.function()).unwrap(), &id);
        let json = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(&serde_json::from_str::<FunctionId>(&json).unwrap(), &id);
        let model_name = ModelName::of(&id);
        prop_assert!(model_name.as_str().len() <= 64);
        prop_assert!(model_name.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
    }

    #[test]
    fn pointers_are_their_text(segments in prop::collection::vec(any::<String>(), 0..5)) {
        let pointer = Pointer::of(segments.clone());
        let again: Pointer = pointer.to_string().parse().unwrap();
        prop_assert_eq!(again.segments(), segments);
    }

    #[test]
    fn no_text_makes_a_name_panic(text in any::<String>()) {
        let _ = (ToolId::try_from(text.as_str()), text.parse::<FunctionId>());
        let _ = (text.parse::<Pointer>(), text.parse::<Digest>());
    }
}
