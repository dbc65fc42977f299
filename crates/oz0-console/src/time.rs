//! Points in time as people read them: how long ago, and the time of day beside it, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use oz0_api::UnixMillis;
use oz0_api::moment::shown;

/// A moment.
pub(crate) struct Moment {
    /// `2026-05-01T12:00:00Z`.
    pub(crate) exact: String,
    /// `3 min ago`, `in 5 min`.
    pub(crate) said: String,
}

/// A moment as it is shown.
pub(crate) fn moment(at: UnixMillis) -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    Moment { exact: shown(at), said: said(now.saturating_sub(at.0)) }
}

/// How long ago, in milliseconds; in the future where that is negative.
fn said(ago: i64) -> String {
    let seconds = ago.unsigned_abs() / 1000;
    let span = match seconds {
        0..=4 => return "now".to_owned(),
        5..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min", seconds / 60),
        3600..=86_399 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    };
    if ago < 0 { format!("in {span}") } else { format!("{span} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_the_largest_unit() {
        let cases = [
            (0, "now"),
            (59_000, "59 s ago"),
            (61_000, "1 min ago"),
            (-300_000, "in 5 min"),
            (7_200_000, "2 h ago"),
            (200_000_000, "2 d ago"),
        ];
        for (ago, words) in cases {
            assert_eq!(said(ago), words);
        }
    }
}
