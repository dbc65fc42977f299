//! The macros that declare the manifest: one declaration is the type, the decoder and the schema.

/// Declares a record: a mapping with fixed keys.
///
/// A field is `[need] field = "key": Type`, where the need is `required`, `optional` or `many` (a list or a map, empty
/// when left out). The doc comments become the schema's descriptions. After the fields come the constraints between keys
/// and, where a check needs the whole mapping, `then function`.
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $( $(#[doc = $field_doc:literal])+ [$need:ident] $field:ident = $key:literal: $type:ty, )+
        }
        $(constraints $constraints:expr;)?
        $(then $then:expr;)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $field_doc])+ pub $field: $crate::decode::declare::record!(@type $need $type), )+
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &oz0_yaml::Node, cx: &mut $crate::decode::Context<'_>) -> Option<Self> {
                const KEYS: &[&str] = &[$($key),+];
                const CONSTRAINTS: &[$crate::decode::Constraint] =
                    $crate::decode::declare::record!(@constraints $($constraints)?);
                let record = $crate::decode::Record::open(node, cx, KEYS, CONSTRAINTS)?;
                $( let $field = record.$need::<$type>(cx, $key); )+
                $( ($then)(node, cx); )?
                Some(Self { $($field: $field?,)+ })
            }

            fn schema(definitions: &mut $crate::decode::schema::Definitions) -> serde_json::Value {
                definitions.record(stringify!($name), |definitions| {
                    let mut object = $crate::decode::schema::Object::new(&[$($doc),+]);
                    $(
                        let schema = <$type as $crate::decode::Decode>::schema(definitions);
                        object.property($key, stringify!($need) == "required", &[$($field_doc),+], schema);
                    )+
                    $( object.constrain($constraints); )?
                    object.finish()
                })
            }
        }
    };
    (@constraints) => { &[] };
    (@constraints $constraints:expr) => { $constraints };
    (@type required $type:ty) => { $crate::Spanned<$type> };
    (@type optional $type:ty) => { Option<$crate::Spanned<$type>> };
    (@type many $type:ty) => { $type };
}
pub(crate) use record;

/// Declares a choice of fixed words.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident: $what:literal {
            $( $(#[doc = $word_doc:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[doc = $word_doc])+ $variant, )+
        }

        impl $name {
            /// The word that the manifest writes.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &oz0_yaml::Node, cx: &mut $crate::decode::Context<'_>) -> Option<Self> {
                const WORDS: &[&str] = &[$($word),+];
                match node.as_str() {
                    $( Some($word) => Some(Self::$variant), )+
                    Some(text) => {
                        let words = $crate::decode::listed(WORDS);
                        let help = match $crate::decode::nearest(text, WORDS) {
                            Some(near) => format!("did you mean `{near}`? It is one of {words}"),
                            None => format!("it is one of {words}"),
                        };
                        cx.malformed(node, &$crate::check::OZ_L001, $what, &help);
                        None
                    }
                    None => {
                        cx.mistyped(node, "a string");
                        None
                    }
                }
            }

            fn schema(_: &mut $crate::decode::schema::Definitions) -> serde_json::Value {
                serde_json::json!({"enum": [$($word),+]})
            }
        }
    };
}
pub(crate) use choice;
