//! One event stream: a response's body turned into messages, and what it takes to pick it up again.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use reqwest::header::HeaderValue;
use tokio::sync::oneshot;

use crate::core::{Core, Outcome};
use crate::sse::{Item, Reader};

/// Resumptions in a row that brought no event.
const FRUITLESS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(super) struct Stream {
    response: Response,
    reader: Reader,
    cap: usize,
    fruitless: u32,
    /// Where the stream stood and how long its server wants to be left alone, as of the last response.
    last: Option<String>,
    retry: Option<Duration>,
}

impl Stream {
    pub(super) fn new(response: Response, cap: usize) -> Self {
        Self { response, reader: Reader::new(cap), cap, fruitless: 0, last: None, retry: None }
    }

    /// Takes messages until the answer came, or the stream ended (`None`).
    pub(super) async fn run_until(
        &mut self,
        core: &Arc<Core>,
        during: Option<u64>,
        answer: &mut oneshot::Receiver<Outcome>,
    ) -> Option<Outcome> {
        let mut no_endpoint = None;
        tokio::select! {
            biased;
            outcome = &mut *answer => return Some(super::received(outcome)),
            _ = self.run_events(core, during, &mut no_endpoint) => {}
        }
        // The stream may have ended with the answer.
        answer.try_recv().ok()
    }

    /// Takes messages until the stream ends; says how many events came. `endpoint` is told the first event of that
    /// kind.
    pub(super) async fn run(
        &mut self,
        core: &Arc<Core>,
        mut endpoint: Option<oneshot::Sender<String>>,
    ) -> usize {
        self.run_events(core, None, &mut endpoint).await
    }

    async fn run_events(
        &mut self,
        core: &Arc<Core>,
        during: Option<u64>,
        endpoint: &mut Option<oneshot::Sender<String>>,
    ) -> usize {
        let mut count = 0;
        // A broken body and an ended one are the same to whoever waits: there will be no more.
        while let Ok(Some(chunk)) = self.response.chunk().await {
            self.reader.feed(&chunk, |item| match item {
                Item::Event(event) => {
                    count += 1;
                    if event.kind == "endpoint" {
                        if let Some(endpoint) = endpoint.take() {
                            let _ =
                                endpoint.send(String::from_utf8_lossy(&event.data).into_owned());
                        }
                    } else if (event.kind.is_empty() || event.kind == "message")
                        && !event.data.is_empty()
                    {
                        core.take(&event.data, during);
                    }
                }
                Item::TooLarge => {
                    core.waste("", "an event above the size limit");
                    match during {
                        Some(id) => core.too_large(id, "an event"),
                        None => core.oversized("an event"),
                    }
                }
            });
        }
        self.last = self.reader.last_id().map(ToOwned::to_owned).or(self.last.take());
        self.retry = self.reader.retry().or(self.retry);
        self.fruitless = if count == 0 { self.fruitless + 1 } else { 0 };
        count
    }

    /// The `Last-Event-ID` to ask with and how long to wait before; `None` where that is no use.
    pub(super) fn to_resume(&self) -> Option<(HeaderValue, Duration)> {
        let last = self.last.as_deref().filter(|_| self.fruitless < FRUITLESS)?;
        let last = HeaderValue::from_str(last).ok()?;
        Some((last, self.retry.unwrap_or(PAUSE).min(LONGEST_PAUSE)))
    }

    pub(super) fn go_on(&mut self, response: Response) {
        self.response = response;
        self.reader = Reader::new(self.cap);
    }
}
