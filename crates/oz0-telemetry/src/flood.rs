//! So many events of one kind, and no more.
//!
//! A server or a client that wants to can make anything happen again and again, and a disk that its log has filled is an
//! edge that takes nothing. So each place in the code that logs has a bucket: a burst, then a few a second. What does not fit
//! is counted, and the count is said. `debug` and `trace` are for who has asked for everything.
//!
//! It is asked where lines are written, and not as a filter: `tracing-subscriber` takes a filter that lets an event's place in
//! the code through and then not the event for a mistake, and what it keeps for the thread is wrong from then on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Level, Metadata};

use crate::target;

/// Events of one kind at once.
const BURST: f64 = 200.0;
/// And then, each second.
const A_SECOND: f64 = 20.0;
/// Between two looks whether something was left out.
const LOOK: Duration = Duration::from_secs(10);

/// Lets so many events of each kind through.
#[derive(Clone, Default)]
pub(crate) struct Flood(Arc<Mutex<HashMap<Identifier, Bucket>>>);

struct Bucket {
    room: f64,
    at: Instant,
    dropped: u64,
    kind: Kind,
}

/// Which kind of event it is, for people.
#[derive(Clone)]
struct Kind {
    target: String,
    module: Option<String>,
    line: Option<u32>,
}

impl Flood {
    /// Whether an event is written.
    pub(crate) fn lets_through(&self, kind: &Metadata<'_>) -> bool {
        *kind.level() > Level::INFO || self.takes(kind, Instant::now())
    }

    /// Whether one more fits.
    fn takes(&self, kind: &Metadata<'_>, now: Instant) -> bool {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(kind.callsite()).or_insert_with(|| Bucket {
            room: BURST,
            at: now,
            dropped: 0,
            kind: Kind {
                target: kind.target().to_owned(),
                module: kind.module_path().map(str::to_owned),
                line: kind.line(),
            },
        });
        let since = now.saturating_duration_since(bucket.at);
        bucket.room = (bucket.room + since.as_secs_f64() * A_SECOND).min(BURST);
        bucket.at = now;
        if bucket.room < 1.0 {
            bucket.dropped += 1;
            return false;
        }
        bucket.room -= 1.0;
        true
    }

    /// What did not fit since the last time this was asked.
    fn dropped(&self) -> Vec<(u64, Kind)> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets
            .values_mut()
            .filter(|bucket| bucket.dropped > 0)
            .map(|bucket| (std::mem::take(&mut bucket.dropped), bucket.kind.clone()))
            .collect()
    }

    /// Says what was left out, for as long as the process lives. Who writes an event cannot: it is asked in the
    /// middle of one.
    pub(crate) fn watch(&self) {
        let flood = self.clone();
        // Where there is no room for a thread, nobody is told, and the log is bounded all the same.
        let _ = std::thread::Builder::new().name("oz0-log".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                for (dropped, kind) in flood.dropped() {
                    tracing::warn!(
                        target: target::LOG,
                        dropped,
                        of = kind.target,
                        module = kind.module,
                        line = kind.line,
                        "more events of one kind came than are written"
                    );
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tracing::Callsite as _;

    use super::*;

    #[test]
    fn a_burst_fits_then_a_few_a_second_and_what_did_not_is_counted() {
        let flood = Flood::default();
        let site =
            tracing::callsite!(name: "test", kind: tracing::metadata::Kind::EVENT, fields: a);
        let kind = site.metadata();
        let now = Instant::now();
        let fits = |now| (0..1000).filter(|_| flood.takes(kind, now)).count();
        assert_eq!(fits(now), 200);
        let later = now + Duration::from_secs(1);
        assert_eq!(fits(later), 20);
        let dropped: Vec<u64> = flood.dropped().into_iter().map(|(count, _)| count).collect();
        assert_eq!(dropped, [800 + 980]);
        assert!(flood.dropped().is_empty());
    }
}
