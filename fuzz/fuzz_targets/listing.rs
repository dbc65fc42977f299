//! A function's raw JSON: nothing panics, and what is read keeps its laws.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oz0_listing::{Listing, Pointer, diff, escape, json};

fuzz_target!(|text: &str| {
    // What both accept, both read alike, and nothing is accepted that serde_json refuses (which
    // stops one level of nesting earlier).
    if let Ok(value) = json::parse(text) {
        let canonical = value.canonical();
        assert_eq!(json::parse(&canonical).expect("canonical JSON parses").canonical(), canonical);
        assert_eq!(json::parse(&value.pretty()).expect("pretty JSON parses"), value);
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(oracle) => assert_eq!(json::Json::from(&oracle), value),
            Err(error) => assert!(error.to_string().starts_with("recursion limit")),
        }
    }
    let pointer: Pointer = "/inputSchema/properties/a/default".parse().expect("a pointer");
    for unstable in [&[][..], &[pointer][..]] {
        if let Ok(listing) = Listing::read(text, unstable) {
            assert!(!escape::has_invisible(listing.canonical()));
            let again = Listing::read(listing.canonical(), unstable).expect("a listing lists");
            assert_eq!(again.canonical(), listing.canonical());
            assert!(diff::compare(&listing, &again).pointers.is_empty());
            let bare = Listing::read(r#"{"name":"a","inputSchema":{"properties":{}}}"#, &[])
                .expect("a listing");
            let difference = diff::compare(&bare, &listing);
            assert_eq!(difference.labels.is_empty(), bare.hash() == listing.hash());
        }
    }
});
