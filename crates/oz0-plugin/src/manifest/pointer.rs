//! JSON pointers (RFC 6901): into a call's arguments, and at the unstable places of a function's listing.

use oz0_diagnostic::Check;
use oz0_listing::{Pointer, unstable};

use crate::check::OZ_L002;
use crate::decode::text::{Text, pattern};

/// A JSON pointer into a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPointer {
    text: String,
    pointer: Pointer,
}

impl JsonPointer {
    /// The pointer.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }
}

impl AsRef<str> for JsonPointer {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Text for JsonPointer {
    const WHAT: &'static str = "a JSON pointer";
    const RULE: &'static str = "write each step after a `/`, such as `/fields/description`, with `~` as `~0` and `/` as `~1`";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(r"^(/([^~/]|~[01])*)*$");

    fn parse(text: &str) -> Result<Self, String> {
        let pointer = text.parse().map_err(|_| "is not a JSON pointer".to_owned())?;
        Ok(Self { text: text.to_owned(), pointer })
    }
}

/// A place of a function's listing that differs from start to start: a keyword that only informs, of a subschema.
///
/// Which places may be declared so is [`oz0_listing::unstable::check`]'s to say, for here and for the files alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstablePointer(Pointer);

impl UnstablePointer {
    /// The pointer, from the top of the function's listing.
    pub fn pointer(&self) -> &Pointer {
        &self.0
    }
}

impl Text for UnstablePointer {
    const WHAT: &'static str = "a JSON pointer into a function's listing";
    const RULE: &'static str = "point at the `default`, `examples` or `description` of a subschema below `properties`, \
                                such as `/inputSchema/properties/at/default`";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(r"^(/([^~/]|~[01])*)+$");

    fn parse(text: &str) -> Result<Self, String> {
        let pointer: Pointer = text.parse().map_err(|_| "is not a JSON pointer".to_owned())?;
        unstable::check(&pointer)
            .map_err(|error| format!("cannot be declared unstable: {error}"))?;
        Ok(Self(pointer))
    }
}
