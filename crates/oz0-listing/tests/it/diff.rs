//! What a change is called.

use oz0_listing::Listing;
use oz0_listing::diff::{self, PieceKind, words};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate;

fn listing(function: &Value) -> Listing {
    Listing::read(&function.to_string(), &[]).unwrap()
}

fn labels(old: &Value, new: &Value) -> Vec<String> {
    let difference = diff::compare(&listing(old), &listing(new));
    difference.labels.iter().map(ToString::to_string).collect()
}

fn with(member: &str, value: Value) -> Value {
    let mut function = json!({"name": "f"});
    function[member] = value;
    function
}

/// The labels of a change of one parameter `p`, in both directions.
fn parameter(old: Value, new: Value) -> [Vec<String>; 2] {
    let schema = |p: Value| with("inputSchema", json!({"type": "object", "properties": {"p": p}}));
    let (old, new) = (schema(old), schema(new));
    [labels(&old, &new), labels(&new, &old)]
}

#[test]
fn an_equal_listing_has_no_difference() {
    let f = with("inputSchema", json!({"a": [1, {"b": 2}]}));
    assert_eq!(diff::compare(&listing(&f), &listing(&f)), diff::Difference::default());
}

#[test]
fn texts_are_called_by_their_members() {
    assert_eq!(
        labels(&with("description", json!("a")), &with("description", json!("b"))),
        ["description"]
    );
    assert_eq!(labels(&json!({"name": "f"}), &with("title", json!("b"))), ["title"]);
    assert_eq!(
        labels(
            &with("annotations", json!({"title": "a"})),
            &with("annotations", json!({"title": "b"}))
        ),
        ["title"]
    );
    assert_eq!(labels(&json!({"name": "f"}), &json!({"name": "g"})), ["name"]);
}

#[test]
fn parameters_are_added_and_removed() {
    let few = with("inputSchema", json!({"properties": {"a": {}}, "required": ["a"]}));
    let many = with(
        "inputSchema",
        json!({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "c"]}),
    );
    assert_eq!(labels(&few, &many), ["parameters: added b", "parameters: added c (required)"]);
    assert_eq!(labels(&many, &few), ["parameters: removed b", "parameters: removed c"]);
}

#[test]
fn a_parameter_that_accepts_more_is_widened_and_the_other_way_narrowed() {
    for (narrow, wide) in [
        (json!({"type": "string"}), json!({})),
        (json!({"type": "string"}), json!({"type": ["string", "null"]})),
        (json!({"type": "string"}), json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        (json!({"type": "integer"}), json!({"type": "number"})),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]})),
        (json!({"const": "a"}), json!({"enum": ["a", "b"]})),
        (json!({"type": "string", "enum": ["a"]}), json!({"type": "string"})),
        (json!({"enum": ["a"]}), json!({"type": "string"})),
        (json!({"type": "integer", "minimum": 1}), json!({"type": "integer", "minimum": 0})),
        (
            json!({"type": "integer", "exclusiveMinimum": 1}),
            json!({"type": "integer", "minimum": 1}),
        ),
        (json!({"type": "integer", "maximum": 1}), json!({"type": "integer", "maximum": 2})),
        (json!({"type": "string", "maxLength": 5}), json!({"type": "string"})),
        (json!({"type": "string", "pattern": "^a"}), json!({"type": "string"})),
        (json!({"type": "string", "format": "uri"}), json!({"type": "string"})),
        (json!({"type": "array", "items": {"type": "string"}}), json!({"type": "array"})),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": ["string", "null"]}}),
        ),
        (json!({"type": "object", "required": ["a"]}), json!({"type": "object"})),
        (json!({"type": "object", "additionalProperties": false}), json!({"type": "object"})),
        (
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}, "b": {}}}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "additionalProperties": {"type": ["string", "null"]}}),
        ),
        (
            json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}),
            json!({"type": ["string", "integer"]}),
        ),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), json!({"type": "string"})),
    ] {
        assert_eq!(
            parameter(narrow.clone(), wide.clone()),
            [["parameters: widened p"], ["parameters: narrowed p"]],
            "{narrow} {wide}"
        );
    }
}

#[test]
fn what_cannot_be_shown_to_accept_more_is_changed() {
    for (one, other) in [
        (json!({"type": "string"}), json!({"type": "integer"})),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]})),
        (json!({"pattern": "^a"}), json!({"pattern": "^b"})),
        (
            json!({"oneOf": [{"type": "string"}]}),
            json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}),
        ),
        (json!({"minimum": 1, "maximum": 2}), json!({"minimum": 0, "maximum": 1})),
        (json!({"x-mcp-header": "A"}), json!({"x-mcp-header": "B"})),
        (json!({"not": {"type": "string"}}), json!({"not": {"type": "integer"}})),
        (json!({"$ref": "https://example.com/a"}), json!({"type": "string"})),
        (
            json!({"properties": {"a": {"type": "string"}}, "patternProperties": {"^a": {}}}),
            json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "patternProperties": {"^b": {}}}),
        ),
    ] {
        assert_eq!(
            parameter(one.clone(), other.clone()),
            [["parameters: changed p"], ["parameters: changed p"]],
            "{one} {other}"
        );
    }
}

#[test]
fn a_parameter_that_becomes_required_is_narrowed() {
    let optional = with("inputSchema", json!({"properties": {"p": {}}}));
    let required = with("inputSchema", json!({"properties": {"p": {}}, "required": ["p"]}));
    assert_eq!(labels(&optional, &required), ["parameters: narrowed p"]);
    assert_eq!(labels(&required, &optional), ["parameters: widened p"]);
}

#[test]
fn what_only_describes_a_parameter_is_called_so() {
    assert_eq!(
        parameter(
            json!({"type": "string", "description": "a"}),
            json!({"type": "string", "description": "b"})
        ),
        [["parameters: description of p"], ["parameters: description of p"]]
    );
    assert_eq!(
        parameter(json!({"default": 1}), json!({"default": 2})),
        [["parameters: default of p"], ["parameters: default of p"]]
    );
}

#[test]
fn a_change_behind_a_reference_is_the_parameter_s() {
    let schema = |definition: Value| {
        with(
            "inputSchema",
            json!({"properties": {"p": {"$ref": "#/$defs/P"}, "q": {}}, "$defs": {"P": definition}}),
        )
    };
    assert_eq!(
        labels(&schema(json!({"enum": ["a"]})), &schema(json!({"enum": ["a", "b"]}))),
        ["parameters: widened p"]
    );
    assert_eq!(
        labels(&schema(json!({"description": "a"})), &schema(json!({"description": "b"}))),
        ["parameters: description of p"]
    );
    // Written in place: the same, in a notation that is not known as one, so it is said.
    let inline = with("inputSchema", json!({"properties": {"p": {"enum": ["a"]}, "q": {}}}));
    assert_eq!(labels(&schema(json!({"enum": ["a"]})), &inline), ["parameters: changed"]);
}

#[test]
fn recursive_schemas_are_compared() {
    let tree = |leaf: &str| {
        with(
            "inputSchema",
            json!({"properties": {"p": {"$ref": "#/$defs/T"}}, "$defs": {"T": {
                "type": "object",
                "properties": {"leaf": {"type": leaf}, "next": {"$ref": "#/$defs/T"}},
            }}}),
        )
    };
    assert_eq!(labels(&tree("integer"), &tree("number")), ["parameters: widened p"]);
    assert_eq!(labels(&tree("number"), &tree("integer")), ["parameters: narrowed p"]);
    // A reference that only leads to itself accepts nothing that could be shown.
    let knot = with(
        "inputSchema",
        json!({"properties": {"p": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"anyOf": [{"$ref": "#/$defs/T"}]}}}),
    );
    assert_eq!(labels(&tree("number"), &knot), ["parameters: changed p"]);
}

#[test]
fn the_frame_of_the_parameters_is_compared() {
    let open = with("inputSchema", json!({"type": "object", "properties": {"p": {}}}));
    let closed = with(
        "inputSchema",
        json!({"type": "object", "properties": {"p": {}}, "additionalProperties": false}),
    );
    assert_eq!(labels(&open, &closed), ["parameters: narrowed"]);
    assert_eq!(labels(&closed, &open), ["parameters: widened"]);
    let described =
        with("inputSchema", json!({"type": "object", "properties": {"p": {}}, "description": "x"}));
    assert_eq!(labels(&open, &described), ["parameters: description"]);
    let unused =
        with("inputSchema", json!({"type": "object", "properties": {"p": {}}, "$defs": {"x": {}}}));
    assert_eq!(labels(&open, &unused), ["parameters: changed"]);
    assert_eq!(labels(&json!({"name": "f"}), &open), ["parameters: added"]);
    assert_eq!(labels(&open, &json!({"name": "f"})), ["parameters: removed"]);
}

#[test]
fn the_output_is_called_as_a_whole() {
    let output = |schema: Value| with("outputSchema", schema);
    let none = json!({"name": "f"});
    let some = output(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
    );
    let wider = output(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let other = output(
        json!({"type": "object", "properties": {"a": {"type": "string", "description": "x"}}}),
    );
    assert_eq!(labels(&none, &some), ["output: added"]);
    assert_eq!(labels(&some, &none), ["output: removed"]);
    assert_eq!(labels(&some, &wider), ["output: widened"]);
    assert_eq!(labels(&wider, &some), ["output: narrowed"]);
    assert_eq!(labels(&wider, &other), ["output: description"]);
}

#[test]
fn hints_say_which_way_they_moved() {
    let hints = |value: Value| with("annotations", value);
    assert_eq!(
        labels(
            &hints(json!({"readOnlyHint": true, "destructiveHint": false})),
            &hints(json!({"readOnlyHint": false}))
        ),
        [
            "annotations: destructiveHint false -> true (by default)",
            "annotations: readOnlyHint true -> false",
        ]
    );
    assert_eq!(
        labels(
            &hints(json!({})),
            &hints(json!({"readOnlyHint": true, "x": 1, "openWorldHint": "no"}))
        ),
        [
            "annotations: openWorldHint",
            "annotations: readOnlyHint false (by default) -> true",
            "annotations: x"
        ]
    );
    assert_eq!(labels(&hints(json!({})), &hints(json!(7))), ["annotations: an object"]);
}

#[test]
fn a_default_spelled_out_is_a_change_and_called_so() {
    let none = json!({"name": "f"});
    for (hint, default) in [
        ("readOnlyHint", false),
        ("destructiveHint", true),
        ("idempotentHint", false),
        ("openWorldHint", true),
    ] {
        let spelled = with("annotations", json!({hint: default}));
        assert_ne!(listing(&none).hash(), listing(&spelled).hash());
        assert_eq!(
            labels(&none, &spelled),
            [format!("annotations: spelled out a default: {hint} {default}")]
        );
        assert_eq!(
            labels(&spelled, &none),
            [format!("annotations: left out a default: {hint} {default}")]
        );
        assert!(diff::compare(&listing(&none), &listing(&spelled)).is_notation_only());
    }
}

#[test]
fn another_notation_of_a_schema_is_called_so() {
    let schema = |schema: Value| with("inputSchema", schema);
    for (one, other, kinds) in [
        (
            json!({"type": "object"}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            "$schema",
        ),
        (
            json!({"definitions": {"A": {"$ref": "#/definitions/B"}, "B": {}}, "properties": {"p": {"$ref": "#/definitions/A"}}}),
            json!({"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {}}, "properties": {"p": {"$ref": "#/$defs/A"}}}),
            "definitions/$defs",
        ),
        (
            json!({"type": "object", "properties": {}}),
            json!({"type": "object"}),
            "defaults spelled out",
        ),
        (
            json!({"type": ["object"], "required": []}),
            json!({"type": "object", "additionalProperties": {}}),
            "defaults spelled out",
        ),
        (
            json!({"properties": {"p": {"items": true, "minLength": 0}}}),
            json!({"properties": {"p": {"uniqueItems": false}}}),
            "defaults spelled out",
        ),
        (json!({"required": ["a", "b"]}), json!({"required": ["b", "a"]}), "order"),
        (
            json!({"$schema": "x", "properties": {"p": {"type": ["null", "string"]}}}),
            json!({"properties": {"p": {"type": ["string", "null"], "minLength": 0}}}),
            "$schema, defaults spelled out, order",
        ),
    ] {
        let expected = [format!("notation only: {kinds}")];
        assert_eq!(labels(&schema(one.clone()), &schema(other.clone())), expected, "{one} {other}");
        assert_eq!(labels(&schema(other.clone()), &schema(one.clone())), expected);
        assert!(diff::compare(&listing(&schema(one)), &listing(&schema(other))).is_notation_only());
    }
}

#[test]
fn what_looks_like_notation_and_is_not_is_called_by_its_meaning() {
    // A property that is called as a keyword, and values that only look like schemas.
    let schema = |schema: Value| with("inputSchema", schema);
    assert_eq!(
        labels(
            &schema(json!({"properties": {"a": {}}})),
            &schema(json!({"properties": {"a": {}, "$schema": {}}}))
        ),
        ["parameters: added $schema"]
    );
    assert_eq!(
        labels(
            &schema(json!({"properties": {"a": {"default": {"required": []}}}})),
            &schema(json!({"properties": {"a": {"default": {}}}}))
        ),
        ["parameters: default of a"]
    );
    assert_eq!(
        labels(
            &schema(json!({"properties": {"a": {"const": ["b", "a"]}}})),
            &schema(json!({"properties": {"a": {"const": ["a", "b"]}}}))
        ),
        ["parameters: changed a"]
    );
}

#[test]
fn hidden_characters_that_were_added_come_first() {
    let old = json!({"name": "f", "description": "a\u{200B}b"});
    let new = json!({"name": "f", "description": "a\u{200B}b\u{E0041}\u{E0042}\u{200B}"});
    assert_eq!(labels(&old, &new), ["hidden characters: U+200B U+E0041 U+E0042", "description"]);
    assert_eq!(labels(&new, &old), ["description"]);
    let run: String = ('\u{E0041}'..='\u{E005A}').collect();
    let many = with("title", json!(run));
    assert_eq!(
        labels(&json!({"name": "f"}), &many)[0],
        "hidden characters: U+E0041 U+E0042 U+E0043 U+E0044 U+E0045 U+E0046 U+E0047 U+E0048 and 18 more"
    );
}

#[test]
fn new_and_gone_functions_are_called_so() {
    let f = listing(&with("description", json!("a\u{AD}")));
    let names = |difference: diff::Difference| {
        difference.labels.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(diff::appeared(&f)), ["new", "hidden characters: U+00AD"]);
    assert_eq!(names(diff::vanished(&f)), ["gone"]);
}

#[test]
fn every_place_that_moved_is_named_with_its_texts() {
    let old = json!({"name": "f", "description": "one", "inputSchema": {
        "properties": {"a": {"default": [1, 2]}, "b": {"default": [1, 2]}, "c/d": {}}, "required": ["a"]}});
    let new = json!({"name": "f", "description": "two", "inputSchema": {
        "properties": {"a": {"default": [1, 3]}, "b": {"default": [1]}, "e": {"type": "string"}}, "required": ["a"]}});
    let difference = diff::compare(&listing(&old), &listing(&new));
    insta::assert_debug_snapshot!(difference.texts);
    let pointers: Vec<_> = difference.texts.iter().map(|text| text.pointer.clone()).collect();
    assert_eq!(difference.pointers, pointers);
}

#[test]
fn words_are_compared_with_escapes_visible() {
    let diff = words("List the open issues.", "List the\u{200B} closed issues of a team.");
    assert_eq!(diff.plain(), r"List the{+\u{200B}+} [-open-]{+closed+} issues{+ of a team+}.");
    assert_eq!(diff.side(PieceKind::Added), "List the open issues.");
    assert_eq!(diff.side(PieceKind::Removed), r"List the\u{200B} closed issues of a team.");
    assert!(words("same", "same").pieces.iter().all(|piece| piece.kind == PieceKind::Same));
    assert!(words("", "").pieces.is_empty());
    assert_eq!(words("", "new").plain(), "{+new+}");
    // An escape is one word, and text that only begins like one is not.
    assert_eq!(words("a\u{200B}b", "a\u{200C}b").plain(), r"a[-\u{200B}-]{+\u{200C}+}b");
    assert_eq!(words("\\u{12\u{E9}", "\\u{13\u{E9}").plain(), "\\u{[-12\u{E9}-]{+13\u{E9}+}");
}

#[test]
fn a_terminal_shows_colours_and_no_sequence_of_a_server_s() {
    let diff = words("a b", "a \u{1b}[2Jc  d");
    insta::assert_debug_snapshot!(diff.ansi());
    assert_eq!(words("a b", "a  b").ansi(), "a\u{1b}[31m[- -]\u{1b}[0m\u{1b}[32m{+  +}\u{1b}[0mb");
}

#[test]
fn texts_that_are_too_long_to_compare_count_as_replaced() {
    let old = "a ".repeat(100_000);
    let new = "b ".repeat(100_000);
    let diff = words(&format!("same {old}end"), &format!("same {new}end"));
    let kinds: Vec<_> = diff.pieces.iter().map(|piece| piece.kind).collect();
    assert_eq!(kinds, [PieceKind::Same, PieceKind::Removed, PieceKind::Added, PieceKind::Same]);
}

/// Schemas that are made to be slow to compare end, and nothing is claimed about them.
#[test]
fn entangled_schemas_are_given_up() {
    let entangled = |leaf: &str| {
        let definitions: serde_json::Map<_, _> = (0..40)
            .map(|at| {
                let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
                let all = json!({"anyOf": [{"items": next}, {"not": {}, "items": next}, {"x": {}, "items": next}]});
                (format!("d{at}"), all)
            })
            .chain([("d40".to_owned(), json!({"type": leaf}))])
            .collect();
        with(
            "inputSchema",
            json!({"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
        )
    };
    assert_eq!(labels(&entangled("string"), &entangled("integer")), ["parameters: changed p"]);
}

proptest! {
    #[test]
    fn words_put_together_are_the_texts(old in any::<String>(), new in any::<String>()) {
        let diff = words(&old, &new);
        prop_assert_eq!(diff.side(PieceKind::Added), oz0_listing::escape::text(&old));
        prop_assert_eq!(diff.side(PieceKind::Removed), oz0_listing::escape::text(&new));
        prop_assert!(diff.pieces.windows(2).all(|pair| pair[0].kind != pair[1].kind));
    }

    /// A change always has a label and a place, and equal listings have neither.
    #[test]
    fn no_change_goes_without_a_label(old in generate::function(), new in generate::function()) {
        let (Ok(old), Ok(new)) = (Listing::read(&old.to_string(), &[]), Listing::read(&new.to_string(), &[])) else {
            return Ok(());
        };
        let difference = diff::compare(&old, &new);
        let equal = old.hash() == new.hash();
        prop_assert_eq!(difference.pointers.is_empty(), equal);
        prop_assert_eq!(difference.labels.is_empty(), equal);
        for text in &difference.texts {
            prop_assert_eq!(old.value().at(&text.pointer).is_some(), text.old.is_some());
            prop_assert_eq!(new.value().at(&text.pointer).is_some(), text.new.is_some());
        }
    }
}
