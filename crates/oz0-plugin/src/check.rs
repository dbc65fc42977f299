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

/// The README is missing, empty, not UTF-8, above 256 KiB, or an image or link of its own points outside the plugin or to
/// no file.
pub static OZ_L010: Check =
    Check { code: "OZ-L010", name: "no-readable-readme", level: Level::Error };

/// The licence file is missing, or its text is not that of a licence that `license:` names.
pub static OZ_L011: Check = Check { code: "OZ-L011", name: "not-the-licence", level: Level::Error };

/// A file that no bundle holds: a link, a device, or a path that some system takes for another or cannot hold.
pub static OZ_L020: Check = Check { code: "OZ-L020", name: "unpackable-file", level: Level::Error };

/// Of the packed files: above 256 MiB together, 20,000 files, or a path of 240 bytes.
pub static OZ_L021: Check = Check { code: "OZ-L021", name: "too-large", level: Level::Error };
