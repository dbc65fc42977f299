//! The time of day, and the time that goes on when somebody sets it.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use oz0_api::UnixMillis;

/// The time.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// How far the time of day may be from where this process counted it to without having been set.
const SLEW: i64 = 1_000;

/// The time of day, and how far it was set from where this process counted it to.
fn clock() -> (UnixMillis, i64) {
    static BEGAN: OnceLock<(Instant, UnixMillis)> = OnceLock::new();
    let (began, at) = BEGAN.get_or_init(|| (Instant::now(), now()));
    let ran = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
    let now = now();
    let set = now.0.saturating_sub(at.0.saturating_add(ran));
    (now, if set.abs() < SLEW { 0 } else { set })
}

/// The time by which whoever waits is waited for: the time of day, but where somebody set that while this process ran, on
/// which it is no longer and no shorter.
pub(super) fn steady() -> UnixMillis {
    let (now, set) = clock();
    UnixMillis(now.0.saturating_sub(set))
}

/// A steady time as people have it.
pub(super) fn time_of_day(steadily: i64) -> UnixMillis {
    UnixMillis(steadily.saturating_add(clock().1))
}
