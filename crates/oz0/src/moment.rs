//! Points in time as they are printed: RFC 3339, in UTC, to the second. A log that several people read has one clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oz0_api::UnixMillis;

/// A moment, such as `2026-05-01T12:00:00Z`.
pub(crate) fn shown(at: UnixMillis) -> String {
    let millis = u64::try_from(at.0).unwrap_or(0);
    match UNIX_EPOCH.checked_add(Duration::from_millis(millis)) {
        // The formatter knows four digits of a year.
        Some(time) if millis < 253_402_300_800_000 => {
            humantime::format_rfc3339_seconds(time).to_string()
        }
        _ => format!("{millis} ms"),
    }
}

/// A moment that somebody named: a time, or how long ago.
pub(crate) fn parse(text: &str) -> Option<UnixMillis> {
    let time = match humantime::parse_duration(text) {
        Ok(ago) => SystemTime::now().checked_sub(ago)?,
        Err(_) => humantime::parse_rfc3339_weak(text).ok()?,
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).ok().map(UnixMillis)
}
