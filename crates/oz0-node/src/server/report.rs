//! What the edge is told of a server's listings, and what becomes of its answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oz0_api::node::{Outcome, Report, Verdict, Verdicts};
use oz0_api::{Client as Edge, ClientError, Code};
use oz0_listing::FunctionId;

use super::{Server, lock};
use crate::listed::{Answered, Gist, Listed, Reported};

/// Before a report that did not reach the edge is sent again: the first wait, and the longest.
const FIRST_REPORT_WAIT: Duration = Duration::from_millis(50);
const LONGEST_REPORT_WAIT: Duration = Duration::from_secs(5);

/// Something to tell the edge.
#[derive(Clone)]
pub(super) enum News {
    Listed(Arc<Listed>, Arc<Reported>),
    /// Why there is no listing, with what the server wrote.
    Unlisted(Arc<str>),
}

impl Server {
    /// Tells the edge what there is to tell, for ever: each listing that differs from the last one told.
    pub(super) async fn report(&self, edge: &Edge) {
        let mut news = self.news.subscribe();
        let mut sent: Option<Sent> = None;
        let mut wait = FIRST_REPORT_WAIT;
        loop {
            drop(news.borrow_and_update());
            let next = lock(&self.untold).front().cloned();
            let Some(next) = next else {
                if news.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                continue;
            };
            if self.forgotten.swap(false, Ordering::AcqRel) {
                sent = None;
            }
            let told = match (&sent, &next) {
                (Some(Sent::Listed(old, verdicts)), News::Listed(listed, new))
                    if *old == new.gist() =>
                {
                    listed.answered.send_replace(Answered::Said(verdicts.clone()));
                    true
                }
                (Some(Sent::Unlisted(old)), News::Unlisted(whole)) => old == whole,
                _ => false,
            };
            if !told {
                match edge.report(&self.report_of(&next)).await {
                    Ok(verdicts) => {
                        sent = Some(self.answered(next, verdicts));
                        wait = FIRST_REPORT_WAIT;
                    }
                    // It says no to this one, and there is a later one.
                    Err(ClientError::Problem(_)) if lock(&self.untold).len() > 1 => {}
                    Err(error) => {
                        // A plugin set that the edge no longer has: another is on its way.
                        let stale = matches!(&error, ClientError::Problem(problem) if problem.code == Code::Stale);
                        wait = if stale {
                            LONGEST_REPORT_WAIT
                        } else {
                            (wait * 2).min(LONGEST_REPORT_WAIT)
                        };
                        tokio::time::sleep(wait).await;
                        continue;
                    }
                }
            }
            lock(&self.untold).pop_front();
        }
    }

    fn report_of(&self, news: &News) -> Report {
        Report {
            plugin: self.plugin.clone(),
            version: self.version.clone(),
            digest: self.digest,
            tool: self.tool.clone(),
            endpoint: self.endpoint.clone(),
            outcome: match news {
                News::Listed(_, reported) => Outcome::Complete {
                    functions: reported.functions.clone(),
                    left_out: reported.left_out.clone(),
                },
                News::Unlisted(whole) => Outcome::Failed {
                    reason: whole.to_string(),
                    goes_on: lock(&self.goes_on).clone(),
                },
            },
        }
    }

    fn answered(&self, news: News, verdicts: Verdicts) -> Sent {
        match news {
            News::Unlisted(whole) => Sent::Unlisted(whole),
            News::Listed(listed, reported) => {
                let waiting = |(id, verdict): (&FunctionId, &Verdict)| {
                    matches!(verdict, Verdict::Waiting { .. }).then(|| id.clone())
                };
                let mut functions: Vec<FunctionId> =
                    verdicts.functions.iter().filter_map(waiting).collect();
                listed.answered.send_replace(Answered::Said(verdicts.functions.clone()));
                let reverted = {
                    let mut waiting = lock(&self.waiting);
                    let accepted =
                        |id: &FunctionId| verdicts.functions.get(id) == Some(&Verdict::Accepted);
                    let reverted = waiting.extract_if(.., |id| accepted(id)).collect();
                    waiting.extend(functions.iter().cloned());
                    reverted
                };
                let moved = verdicts.endpoint.as_ref().and_then(|_| {
                    functions = listed.functions.keys().cloned().collect();
                    Some((self.moved_from.clone()?, self.endpoint.clone()?))
                });
                if let Some(roster) = self.roster.upgrade() {
                    self.announce(&roster, verdicts.snapshot, functions, moved, reverted);
                    roster.heard(&self.plugin);
                }
                Sent::Listed(reported.gist(), verdicts.functions)
            }
        }
    }
}

/// What the edge was told last.
enum Sent {
    Listed(Gist, BTreeMap<FunctionId, Verdict>),
    Unlisted(Arc<str>),
}
