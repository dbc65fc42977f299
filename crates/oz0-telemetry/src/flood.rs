//! So many events of one kind, and no more.
//!
//! A server or a client that wants to can make anything happen again and again, and a disk that its log has filled is an
//! edge that takes nothing. So each place in the code that logs has a bucket: a burst, then a few a second. What does not fit
//! is counted, and the count is said. `debug` and `trace` are for who has asked for everything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter};

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
    kind: &'static Metadata<'static>,
}

impl Flood {
    /// Whether one more fits.
    fn takes(&self, kind: &'static Metadata<'static>, now: Instant) -> bool {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(kind.callsite()).or_insert(Bucket {
            room: BURST,
            at: now,
            dropped: 0,
            kind,
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
    fn dropped(&self) -> Vec<(u64, &'static Metadata<'static>)> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets
            .values_mut()
            .filter(|bucket| bucket.dropped > 0)
            .map(|bucket| (std::mem::take(&mut bucket.dropped), bucket.kind))
            .collect()
    }

    /// Says what was left out, for as long as the process lives. The filter itself cannot: it is asked in the middle of an
    /// event.
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
                        of = kind.target(),
                        module = kind.module_path(),
                        line = kind.line(),
                        "more events of one kind came than are written"
                    );
                }
            }
        });
    }
}

impl<S: Subscriber> Filter<S> for Flood {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn callsite_enabled(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let kind = event.metadata();
        *kind.level() > Level::INFO || self.takes(kind, Instant::now())
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
