//! Which places may be declared unstable.

use oz0_listing::unstable::{UnstableError, check, nearest};
use oz0_listing::{Listing, Pointer};
use proptest::prelude::*;

fn pointer(text: &str) -> Pointer {
    text.parse().unwrap()
}

#[test]
fn a_text_of_a_property_s_schema_may_be_unstable() {
    for text in [
        "/inputSchema/properties/at/default",
        "/inputSchema/properties/at/examples",
        "/inputSchema/properties/at/description",
        "/outputSchema/properties/at/default",
        "/inputSchema/properties/default/default",
        "/inputSchema/properties/properties/default",
        "/inputSchema/properties/a/properties/b/description",
        "/inputSchema/properties/a/items/default",
        "/inputSchema/properties/a/items/0/default",
        "/inputSchema/properties/a/anyOf/1/default",
        "/inputSchema/properties/a/additionalProperties/default",
        "/inputSchema/properties/a/patternProperties/x/default",
        "/inputSchema/$defs/A/properties/b/default",
        "/inputSchema/allOf/0/properties/b/default",
        "/inputSchema/properties/a~1b/default",
    ] {
        assert_eq!(check(&pointer(text)), Ok(()), "{text}");
        assert_eq!(nearest(&pointer(text)), Some(pointer(text)));
    }
}

#[test]
fn what_matters_to_a_call_or_to_approval_may_not_be_unstable() {
    use UnstableError::{Entry, NotAKeyword, NotBelowProperties, NotInASchema};
    for (text, error) in [
        ("", NotInASchema),
        ("/description", NotInASchema),
        ("/name", NotInASchema),
        ("/title", NotInASchema),
        ("/annotations/readOnlyHint", NotInASchema),
        ("/annotations/properties/a/default", NotInASchema),
        ("/inputSchema", NotAKeyword),
        ("/inputSchema/default", NotBelowProperties),
        ("/inputSchema/description", NotBelowProperties),
        ("/inputSchema/$defs/A/default", NotBelowProperties),
        ("/inputSchema/additionalProperties/description", NotBelowProperties),
        ("/inputSchema/properties", NotAKeyword),
        ("/inputSchema/properties/default", Entry("properties")),
        ("/inputSchema/properties/a", Entry("properties")),
        ("/inputSchema/properties/a/properties/examples", Entry("properties")),
        ("/inputSchema/properties/a/$defs/description", Entry("$defs")),
        ("/inputSchema/properties/a/definitions/description", Entry("definitions")),
        ("/inputSchema/properties/a/patternProperties/default", Entry("patternProperties")),
        ("/inputSchema/properties/a/dependentSchemas/default", Entry("dependentSchemas")),
        ("/inputSchema/properties/a/enum", NotAKeyword),
        ("/inputSchema/properties/a/enum/0", NotAKeyword),
        ("/inputSchema/properties/a/type", NotAKeyword),
        ("/inputSchema/properties/a/title", NotAKeyword),
        ("/inputSchema/properties/a/const/default", NotAKeyword),
        ("/inputSchema/properties/a/x-unknown/default", NotAKeyword),
        ("/inputSchema/properties/a/default/3", NotAKeyword),
        ("/inputSchema/properties/a/anyOf/default", NotAKeyword),
        ("/inputSchema/properties/a/anyOf/01/default", NotAKeyword),
        ("/inputSchema/required", NotAKeyword),
    ] {
        assert_eq!(check(&pointer(text)), Err(error), "{text}");
    }
}

#[test]
fn a_place_within_an_unstable_value_leads_to_its_keyword() {
    let at = |text| nearest(&pointer(text)).map(|pointer| pointer.to_string());
    let default = Some("/inputSchema/properties/a/default".to_owned());
    assert_eq!(at("/inputSchema/properties/a/default/3/x"), default);
    assert_eq!(at("/inputSchema/properties/a/default/properties/b/default"), default);
    assert_eq!(at("/inputSchema/properties/a"), None);
    assert_eq!(at("/description"), None);
}

proptest! {
    /// Whatever may be cut, the function's own words, its properties and what they accept stay.
    #[test]
    fn nothing_that_may_be_cut_is_a_property_or_a_constraint(
        segments in prop::collection::vec(prop::sample::select(&[
            "properties", "default", "examples", "description", "$defs", "a", "anyOf", "items", "0",
            "enum", "inputSchema", "patternProperties", "required",
        ][..]), 0..7),
    ) {
        let pointer = Pointer::of(std::iter::once("inputSchema").chain(segments));
        let raw = r#"{"name":"a","description":"d","inputSchema":{"description":"d","default":{},
            "required":["default"],"properties":{"default":{"enum":["a"],"default":"x"},"a":{
            "anyOf":[{"properties":{"description":{"description":"e"}}}],"items":{"examples":[1]}}},
            "$defs":{"default":{"properties":{"a":{"default":1}}}}}}"#;
        let whole = Listing::read(raw, &[]).unwrap();
        let result = Listing::read(raw, std::slice::from_ref(&pointer));
        prop_assert_eq!(result.is_ok(), check(&pointer).is_ok());
        if let Ok(cut) = result && cut != whole {
            let difference = oz0_listing::diff::compare(&whole, &cut);
            prop_assert_eq!(difference.pointers, [pointer]);
        }
    }
}
