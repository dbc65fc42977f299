//! Points in time that somebody names on a command line, and how they are shown.

use std::time::{SystemTime, UNIX_EPOCH};

use oz0_api::UnixMillis;
pub(crate) use oz0_api::moment::shown;

/// A moment that somebody named: a time, or how long ago.
pub(crate) fn parse(text: &str) -> Option<UnixMillis> {
    let time = match humantime::parse_duration(text) {
        Ok(ago) => SystemTime::now().checked_sub(ago)?,
        Err(_) => humantime::parse_rfc3339_weak(text).ok()?,
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).ok().map(UnixMillis)
}
