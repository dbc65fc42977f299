//! Points in time as they are shown: RFC 3339, in UTC, to the second. What several people read has one clock.

use std::time::{Duration, UNIX_EPOCH};

use crate::id::UnixMillis;

/// A moment, such as `2026-05-01T12:00:00Z`.
pub fn shown(at: UnixMillis) -> String {
    let millis = u64::try_from(at.0).unwrap_or(0);
    match UNIX_EPOCH.checked_add(Duration::from_millis(millis)) {
        // The formatter knows four digits of a year.
        Some(time) if millis < 253_402_300_800_000 => {
            humantime::format_rfc3339_seconds(time).to_string()
        }
        _ => format!("{millis} ms"),
    }
}
