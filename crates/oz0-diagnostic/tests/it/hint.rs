use oz0_diagnostic::did_you_mean;
use proptest::prelude::*;

const KEYS: [&str; 12] = [
    "name",
    "version",
    "kind",
    "title",
    "description",
    "license",
    "egress",
    "tools",
    "connections",
    "requires",
    "requires_approval",
    "outputSchema",
];

#[test]
fn what_was_likely_meant_is_found() {
    for (unknown, meant) in [
        ("nmae", "name"),
        ("verison", "version"),
        ("Tools", "tools"),
        ("tool", "tools"),
        ("licence", "license"),
        ("requiresApproval", "requires_approval"),
        ("requires-approval", "requires_approval"),
        ("output_schema", "outputSchema"),
        ("desc", "description"),
        ("kinds", "kind"),
        ("connection", "connections"),
    ] {
        assert_eq!(did_you_mean(unknown, KEYS), Some(meant), "{unknown}");
    }
}

#[test]
fn what_is_far_from_every_word_gets_no_hint() {
    for unknown in
        ["", "x", "na", "author", "homepage", "repository", "日本", "_", &"n".repeat(5000)]
    {
        assert_eq!(did_you_mean(unknown, KEYS), None, "{unknown}");
    }
    assert_eq!(did_you_mean("a", ["b"]), None);
    assert_eq!(did_you_mean("A", ["a"]), Some("a"));
    assert_eq!(did_you_mean("name", []), None);
}

#[test]
fn the_nearest_wins_over_the_first() {
    assert_eq!(did_you_mean("title", ["titles_of", "tile", "titel"]), Some("titel"));
    assert_eq!(did_you_mean("egres", ["regress", "egress"]), Some("egress"));
}

proptest! {
    #[test]
    fn a_hint_is_one_of_the_known_and_never_the_word_itself(
        unknown in "\\PC{0,12}", known in proptest::collection::vec("\\PC{0,12}", 0..6)
    ) {
        if let Some(hint) = did_you_mean(&unknown, known.iter().map(String::as_str)) {
            prop_assert!(hint != unknown && known.iter().any(|word| word == hint));
        }
    }

    #[test]
    fn one_slip_in_a_long_word_is_always_seen(index in 0_usize..11, letter in "[a-z]") {
        let mut word = "description".to_owned();
        word.replace_range(index..=index, &letter);
        if word != "description" {
            prop_assert_eq!(did_you_mean(&word, KEYS), Some("description"));
        }
    }
}
