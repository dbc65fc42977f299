//! What one client knows of the listing, so that it is told when it knows an old one, and only then.
//!
//! A change is measured by what that client last listed. Of a listing that is still being read, or was never asked for,
//! there is nothing to take back: a client that lists right after it has opened its connection would otherwise be told at
//! the same moment that what it just got has changed.

use tokio::sync::watch;

/// The revision that a client last listed; none before its first listing.
#[derive(Debug)]
pub(crate) struct Known(watch::Sender<Option<u64>>);

impl Known {
    /// Of a client that has not listed yet.
    pub(crate) fn nothing() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Of a client that may have listed before, where nobody can know what: it knows what there was until now.
    pub(crate) fn all_until(revision: u64) -> Self {
        Self(watch::Sender::new(Some(revision)))
    }

    /// The client is given this listing.
    pub(crate) fn lists(&self, revision: u64) {
        self.0.send_if_modified(|known| {
            let newer = known.is_none_or(|known| known < revision);
            if newer {
                *known = Some(revision);
            }
            newer
        });
    }

    /// Whether the client is to be told of this revision by somebody who has told it of `told`. Where it is, it counts as
    /// told.
    pub(crate) fn is_news(&self, revision: u64, told: &mut u64) -> bool {
        // Revisions rise: one that is lower than what was listed is on its way to be replaced.
        let news = self.0.borrow().is_some_and(|listed| listed.max(*told) < revision);
        if news {
            *told = revision;
        }
        news
    }

    /// What changes whenever the client lists another revision.
    pub(crate) fn changes(&self) -> watch::Receiver<Option<u64>> {
        self.0.subscribe()
    }

    /// Waits until there is news; false when there will be none.
    pub(crate) async fn news(&self, revision: &mut watch::Receiver<u64>, told: &mut u64) -> bool {
        let mut listed = self.changes();
        loop {
            let now = *revision.borrow_and_update();
            if self.is_news(now, told) {
                return true;
            }
            tokio::select! {
                changed = revision.changed() => if changed.is_err() { return false },
                _ = listed.changed() => {}
            }
        }
    }
}
