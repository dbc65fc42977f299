//! Strict JSON and RFC 8785.

use oz0_listing::Digest;
use oz0_listing::json::{self, Json, JsonErrorKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::generate;

fn canonical(text: &str) -> String {
    json::parse(text)
        .unwrap_or_else(|error| panic!("{error} at {}: {text}", error.offset))
        .canonical()
}

fn refused(text: &str) -> (JsonErrorKind, usize) {
    let error = json::parse(text).expect_err(text);
    (error.kind, error.offset)
}

macro_rules! vectors {
    ($($name:ident $input:literal $output:literal),*) => {
        [$((
            $input,
            include_str!(concat!("../data/rfc8785/input/", stringify!($name), ".json")),
            $output,
            include_str!(concat!("../data/rfc8785/output/", stringify!($name), ".json")),
        )),*]
    };
}

/// The six published vectors. The digests' beginnings are stated, so that an edited file is not
/// taken for one of them.
#[test]
fn the_published_vectors_of_rfc_8785() {
    for (input_digest, input, output_digest, output) in vectors!(
        arrays "e503b6d71d1afa59" "099601b171cafed9",
        french "03676a951cd8753a" "d99d0ebdcb0033cb",
        structures "d66893805be17841" "605f65004ec2db76",
        unicode "4621864e014d4a80" "0d99aad92a125196",
        values "c4a041b503d6bc23" "2d5e01a318d0f087",
        weird "a3a905266bd4a49a" "6af595a9aa80110b"
    ) {
        assert_eq!(&Digest::of(input).hex()[..16], input_digest);
        assert_eq!(&Digest::of(output).hex()[..16], output_digest);
        assert_eq!(canonical(input), output);
        assert_eq!(canonical(output), output);
    }
}

/// RFC 8785 appendix B.
#[test]
fn the_number_samples_of_rfc_8785() {
    for (bits, text) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        assert_eq!(Json::<String>::Number(number + 0.0).canonical(), text);
        assert_eq!(canonical(&format!("{number:e}")), text);
        assert_eq!(canonical(text), text);
    }
}

/// A number is the double next to its text, also where `serde_json` without `float_roundtrip` reads
/// the double beside it, and hashes would differ between two builds.
#[test]
fn serde_json_float_roundtrip() {
    let text = "9.333973218779802e263";
    assert_eq!(canonical(text), "9.333973218779802e+263");
    let oracle: Value = serde_json::from_str(text).unwrap();
    assert_eq!(oracle.as_f64().unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits());
}

#[test]
fn numbers_are_written_in_one_way() {
    for (text, expected) in [
        ("1.0", "1"),
        ("1e0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e999999999999", "0"),
        ("1e-400", "0"),
        ("-1e-400", "0"),
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551615", "18446744073709552000"),
        ("1E+2", "100"),
    ] {
        assert_eq!(canonical(text), expected);
    }
}

#[test]
fn members_are_sorted_by_utf_16() {
    let names = [
        "\u{0}",
        "a",
        "\u{7F}",
        "\u{80}",
        "\u{D7FF}",
        "\u{1F602}",
        "\u{10FFFF}",
        "\u{E000}",
        "\u{FB33}",
        "\u{FFFD}",
    ];
    let members: Vec<_> = names
        .iter()
        .rev()
        .map(|name| format!("{}:0", serde_json::to_string(name).unwrap()))
        .collect();
    let object = json::parse(&format!("{{{}}}", members.join(","))).unwrap();
    assert_eq!(object.as_object().unwrap().names().collect::<Vec<_>>(), names);
    for name in names {
        assert_eq!(object.get(name), Some(&Json::Number(0.0)));
    }
    assert_eq!(object.get("b"), None);
}

#[test]
fn a_member_that_repeats_is_refused_at_any_depth() {
    use JsonErrorKind::RepeatedMember;
    let repeated = |name: &str| RepeatedMember(name.to_owned());
    assert_eq!(refused(r#"{"a":1,"a":1}"#), (repeated("a"), 7));
    assert_eq!(refused(r#"{"a":1,"b":2,"\u0061":3}"#), (repeated("a"), 13));
    assert_eq!(refused(r#"[{"x":[{"":1 , "y":2,"":{}}]}]"#), (repeated(""), 21));
    assert_eq!(refused(r#"{"b":1,"a":{"c":1},"a":2,"b":3}"#).1, 19);
    assert_eq!(refused("{\"\u{200B}\":1,\"\u{200B}\":2}").0, repeated("\\u{200B}"));
    // Not the same name: nothing is normalised.
    assert!(json::parse("{\"e\u{301}\":1,\"\u{E9}\":2}").is_ok());
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for (text, unit) in [
        (r#""\ud800""#, 0xD800),
        (r#""\udc00""#, 0xDC00),
        (r#""\ud800\ud800""#, 0xD800),
        (r#""\ud83dx""#, 0xD83D),
        (r#""\ud83d\n""#, 0xD83D),
        (r#""\uDFFF\uD800""#, 0xDFFF),
    ] {
        assert_eq!(refused(text), (JsonErrorKind::LoneSurrogate(unit), 1));
        assert_eq!(refused(&format!("{{{text}:1}}")).0, JsonErrorKind::LoneSurrogate(unit));
    }
    assert_eq!(canonical(r#""\ud83d\uDE02""#), "\"\u{1F602}\"");
}

#[test]
fn a_number_outside_a_double_is_refused() {
    for text in ["1e400", "-1e400", "1.8e308", "9e999999999999999999"] {
        assert_eq!(refused(text), (JsonErrorKind::NumberOutOfRange, 0));
    }
    assert_eq!(canonical("1.7976931348623157e308"), "1.7976931348623157e+308");
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(json::parse(&nested(128)).is_ok());
    assert_eq!(refused(&nested(129)), (JsonErrorKind::TooDeep(128), 128));
    assert_eq!(refused(&"[".repeat(1_000_000)).0, JsonErrorKind::TooDeep(128));
    let objects = format!("{}1{}", "{\"a\":".repeat(129), "}".repeat(129));
    assert_eq!(refused(&objects).0, JsonErrorKind::TooDeep(128));
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "NaN",
        "Infinity",
        "'a'",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\0\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "1 2",
        "[]]",
        "{}}",
        "\u{FEFF}{}",
        "//\n1",
        "\u{A0}1",
        "\"\u{E9}",
        "\"\\\u{E9}\"",
    ] {
        assert!(json::parse(text).is_err(), "{text:?}");
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text:?}");
    }
}

#[test]
fn files_are_written_with_two_spaces_a_level() {
    let value = json::parse(r#"{"b":[1,{"c":"x\n"},[],{}],"a":{}}"#).unwrap();
    insta::assert_snapshot!(value.pretty());
}

#[test]
fn objects_built_here_are_sorted_and_unique() {
    let mut object: json::Object =
        [("b", Json::Null), ("a", Json::Null), ("b", Json::Bool(true))].into_iter().collect();
    assert_eq!(Json::Object(object.clone()).canonical(), r#"{"a":null,"b":true}"#);
    object.insert("\u{FB33}", Json::Null);
    object.insert("\u{1F602}", Json::Null);
    object.insert("a", Json::Number(1.0));
    assert_eq!(object.remove("b"), Some(Json::Bool(true)));
    assert_eq!(Json::Object(object).canonical(), "{\"a\":1,\"\u{1F602}\":null,\"\u{FB33}\":null}");
}

fn by_the_oracle(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).unwrap()
}

/// 200,000 doubles of random bits, the same ones at every run.
#[test]
fn random_doubles_are_written_as_the_oracle_writes_them() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let bits = any::<u64>();
    let mut compared = 0;
    while compared < 200_000 {
        let number = f64::from_bits(bits.new_tree(&mut runner).unwrap().current());
        if number.is_finite() {
            let expected = by_the_oracle(&Value::from(number));
            assert_eq!(canonical(&format!("{number:e}")), expected);
            assert_eq!(canonical(&expected), expected);
            compared += 1;
        }
    }
}

proptest! {
    #[test]
    fn random_values_are_written_as_the_oracle_writes_them(value in generate::value()) {
        let expected = by_the_oracle(&value);
        prop_assert_eq!(canonical(&value.to_string()), expected.as_str());
        prop_assert_eq!(Json::from(&value).canonical(), expected.as_str());
        prop_assert_eq!(canonical(&expected), expected.as_str());
    }

    #[test]
    fn pretty_text_reads_as_the_same_value(value in generate::value()) {
        let value = json::parse(&value.to_string()).unwrap();
        prop_assert_eq!(&json::parse(&value.pretty()).unwrap(), &value);
        prop_assert_eq!(&Json::from(&Value::from(&value)), &value);
        prop_assert_eq!(&json::parse(&serde_json::to_string(&value).unwrap()).unwrap(), &value);
    }

    #[test]
    fn another_notation_of_a_value_is_the_same_value(value in generate::value(), seed in 1..u64::MAX) {
        let mut seed = seed;
        let rewritten = generate::rewritten(&value, &mut seed);
        prop_assert_eq!(canonical(&rewritten), canonical(&value.to_string()));
    }

    #[test]
    fn parsing_never_panics(text in any::<String>()) {
        let _ = json::parse(&text);
    }

    /// What the oracle refuses is refused; what it accepts is read alike, or refused for a reason
    /// that it does not know.
    #[test]
    fn broken_json_is_judged_as_the_oracle_judges_it(
        value in generate::value(),
        at in any::<prop::sample::Index>(),
        with in r#"[\[\]{}",:0-9eE.+\-\\untf ]{0,2}"#,
    ) {
        let mut text: Vec<char> = value.to_string().chars().collect();
        let at = at.index(text.len());
        text.splice(at..=at, with.chars());
        let text: String = text.into_iter().collect();
        match (json::parse(&text), serde_json::from_str::<Value>(&text)) {
            (Ok(value), Ok(oracle)) => prop_assert_eq!(value.canonical(), by_the_oracle(&oracle)),
            (Ok(_), Err(error)) => prop_assert!(false, "{} is refused by serde_json: {}", text, error),
            (Err(error), Ok(_)) => {
                prop_assert!(matches!(error.kind, JsonErrorKind::RepeatedMember(_)), "{}", text);
            }
            (Err(error), Err(_)) => prop_assert!(text.is_char_boundary(error.offset)),
        }
    }
}
