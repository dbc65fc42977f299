//! Texts with a form: names, IDs, addresses, versions.

use oz0_diagnostic::{Check, Diagnostic};
use oz0_yaml::{Node, Value};
use regex_lite::Regex;
use serde_json::json;

use super::{Context, Decode, Definitions, brief};

/// A string of the manifest that has a form.
///
/// The form is one regular expression, and the decoder runs the very text that the schema publishes. What an expression
/// cannot say (a port's range, a resolved `..`) is [`Text::parse`]'s to refuse.
pub(crate) trait Text: Sized {
    /// What it is, for messages: "a plugin's name".
    const WHAT: &'static str;
    /// What it must look like, for people: "lower-case letters, digits and `-`, …".
    const RULE: &'static str;
    /// The form, in the syntax that ECMA 262 and Rust's `regex` share.
    const PATTERN: &'static str;
    /// The check that a malformed one fails.
    const CHECK: &'static Check;
    /// The compiled [`Text::PATTERN`].
    fn pattern() -> &'static Regex;
    /// Reads a text that has the form; an error says what else is wrong, in words that follow "`text`: ".
    fn parse(text: &str) -> Result<Self, String>;
    /// What the value names, to be resolved later.
    fn refer(&self, _node: &Node, _cx: &mut Context<'_>) {}
    /// A better hint than [`Text::RULE`] for a common mistake.
    fn hint(_text: &str) -> Option<String> {
        None
    }
    /// Whether the value is the platform's own ID, which only OZ-L003 speaks of.
    fn reserved(_text: &str) -> bool {
        false
    }
}

impl<T: Text> Decode for T {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let Some(text) = node.as_str() else {
            // A number that only wants quotes gets them from the general hint; one that is not enough, such as the
            // version 1.4, is told what is.
            let text = cx.span(node.range.clone()).text().to_owned();
            let number = matches!(node.value, Value::Int(_) | Value::BigInt(_) | Value::Float(_));
            let hint = (number && !T::pattern().is_match(&text))
                .then(|| T::hint(&text).unwrap_or_else(|| T::RULE.to_owned()));
            cx.mistyped_with(node, "a string", hint);
            return None;
        };
        if T::reserved(text) {
            let message =
                format!("{}: the ID `{}` is the platform's own", cx.subject(), brief(text));
            let diagnostic =
                Diagnostic::new(&crate::check::OZ_L003, cx.span(node.range.clone()), message)
                    .help("give it another ID, such as one that begins with the plugin's name");
            cx.misshape(diagnostic);
            return None;
        }
        if !T::pattern().is_match(text) {
            let rule = T::hint(text).unwrap_or_else(|| T::RULE.to_owned());
            cx.malformed(node, T::CHECK, T::WHAT, &rule);
            return None;
        }
        match T::parse(text) {
            Ok(value) => {
                value.refer(node, cx);
                Some(value)
            }
            Err(why) => {
                let message = format!("{}: `{}` {why}", cx.subject(), brief(text));
                let diagnostic = Diagnostic::new(T::CHECK, cx.span(node.range.clone()), message);
                cx.report(diagnostic.help(T::RULE));
                None
            }
        }
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        let mut schema = json!({"type": "string", "pattern": T::PATTERN});
        if T::reserved("oz") {
            schema["not"] = json!({"const": "oz"});
        }
        schema
    }
}

/// Declares the constant and the accessor of a [`Text`]'s form.
macro_rules! pattern {
    ($pattern:expr) => {
        const PATTERN: &'static str = $pattern;

        fn pattern() -> &'static regex_lite::Regex {
            static COMPILED: std::sync::LazyLock<regex_lite::Regex> =
                std::sync::LazyLock::new(|| {
                    regex_lite::Regex::new($pattern).expect("a test compiles every pattern")
                });
            &COMPILED
        }
    };
}
pub(crate) use pattern;

/// Declares a text that is kept as it is written: the type, its form, and how it reads.
macro_rules! text {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident: $what:literal, $check:expr, $pattern:expr, $rule:literal;
        $($extra:item)*
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text as it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl $crate::decode::text::Text for $name {
            const WHAT: &'static str = $what;
            const RULE: &'static str = $rule;
            const CHECK: &'static oz0_diagnostic::Check = $check;
            $crate::decode::text::pattern!($pattern);

            fn parse(text: &str) -> Result<Self, String> {
                Ok(Self(text.to_owned()))
            }

            $($extra)*
        }
    };
}
pub(crate) use text;
