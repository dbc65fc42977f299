//! The loader's checks: codes of their own, never lint rules, always errors.
//!
//! A file whose *shape* is wrong is OZ-L001, whatever file it is: the manifest, an eval, a listing. A value of the right
//! shape that names something wrongly is OZ-L002. They are kept apart because the first is answered by the schema, and
//! the second by looking at the rest of the plugin.

use oz0_diagnostic::{Check, Level};

/// A file of the plugin does not decode, or a key of it is unknown, missing or mistyped.
pub static OZ_L001: Check = Check { code: "OZ-L001", name: "does-not-decode", level: Level::Error };

/// A name, ID or address is malformed, or refers to nothing.
pub static OZ_L002: Check =
    Check { code: "OZ-L002", name: "malformed-or-dangling-name", level: Level::Error };

/// A tool or a harness takes the platform's own ID, `oz`.
pub static OZ_L003: Check = Check { code: "OZ-L003", name: "reserved-id", level: Level::Error };
