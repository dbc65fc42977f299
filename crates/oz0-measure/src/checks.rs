//! The codes of what measuring can find. They are the test node's own: neither house rules nor loader's checks.

use oz0_diagnostic::{Check, Level};

/// A server did not start, died, or did not list.
pub static SERVER_FAILED: Check =
    Check { code: "OZ-T001", name: "server-failed", level: Level::Error };
/// A function lists itself differently from one start to the next in equal surroundings.
pub static UNSTABLE_LISTING: Check =
    Check { code: "OZ-T002", name: "unstable-listing", level: Level::Error };
/// A function lists itself differently in other surroundings only.
pub static BOUND_TO_SURROUNDINGS: Check =
    Check { code: "OZ-T003", name: "bound-to-surroundings", level: Level::Warning };
/// A function that its server lists is left out of the listing.
pub static LEFT_OUT: Check =
    Check { code: "OZ-T004", name: "function-left-out", level: Level::Warning };
/// A function is listed, but its calls will be refused.
pub static UNCALLABLE: Check =
    Check { code: "OZ-T005", name: "uncallable-function", level: Level::Warning };
/// The manifest says something of a function that the server does not list.
pub static UNKNOWN_FUNCTION: Check =
    Check { code: "OZ-T006", name: "unknown-function", level: Level::Error };
/// A declared `unstable:` pointer cuts nothing.
pub static UNUSED_POINTER: Check =
    Check { code: "OZ-T007", name: "unused-unstable-pointer", level: Level::Warning };
/// A contract test failed, or could not run.
pub static CONTRACT_FAILED: Check =
    Check { code: "OZ-T008", name: "contract-tests-failed", level: Level::Error };
/// A server wrote something to its standard output that is no JSON-RPC message.
pub static STDOUT_JUNK: Check =
    Check { code: "OZ-T009", name: "junk-on-stdout", level: Level::Warning };
/// A tool's dependencies could not be locked or installed.
pub static ENVIRONMENT_FAILED: Check =
    Check { code: "OZ-T010", name: "environment-failed", level: Level::Error };
