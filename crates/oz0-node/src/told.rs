//! What people were told of a server's failures, so that the same is said once.

use crate::host::STDERR;

/// What people were told last of a server that fails. The same is said once.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) failed: Option<String>,
    pub(crate) failures: u32,
    pub(crate) unlisted: Option<String>,
    pub(crate) unshared: bool,
}

/// What tells one failure from another: what the server said, if it said anything, for how its end is seen first is
/// chance; and no numbers, which are the times and processes of one try.
pub(crate) fn kind_of(reason: &str) -> String {
    let said = reason.split_once(STDERR).map_or(reason, |(_, said)| said);
    said.chars().filter(|c| !c.is_ascii_digit()).collect()
}
