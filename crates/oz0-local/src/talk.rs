//! What happens, in words for a person.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oz0_api::NodeName;
use oz0_api::shown::Announcement;
use oz0_listing::escape;
use oz0_node::{DevEvent, Event, Tell};

/// An edge that is gone for less is not said to be lost.
const LOST_FOR: Duration = Duration::from_secs(3);
/// Set in the count of losses while the last one has been said.
const SAID: u64 = 1 << 63;

/// Who hears what happens: a line, or a few, at a time, with nothing in them that a terminal obeys.
#[derive(Clone)]
pub struct Say {
    say: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether a node's events are said: where there is a log, the node writes them there itself.
    events: bool,
}

impl Say {
    /// Says it to this function.
    pub fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { say: Arc::new(say), events: true }
    }

    /// Says it to this function, but for what is logged anyway.
    pub fn beside_log(say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { say: Arc::new(say), events: false }
    }

    /// Says a text that may quote what servers, files and other programs say.
    pub(crate) fn line(&self, text: &str) {
        (self.say)(&escape::text(text));
    }

    /// Where a node's events are said.
    pub(crate) fn node(&self, name: &NodeName) -> Tell {
        if !self.events {
            return Tell::default();
        }
        let (say, name) = (self.clone(), name.clone());
        let lost = Arc::new(AtomicU64::new(0));
        Tell::new(move |event| match event {
            // An edge that changes hands is back in a moment, and nobody needs to hear of it.
            Event::EdgeLost { .. } => {
                let (say, name, lost) = (say.clone(), name.clone(), Arc::clone(&lost));
                let mine = lost.fetch_add(1, Ordering::AcqRel) + 1;
                tokio::spawn(async move {
                    tokio::time::sleep(LOST_FOR).await;
                    let said = mine | SAID;
                    if lost
                        .compare_exchange(mine, said, Ordering::AcqRel, Ordering::Acquire)
                        .is_ok()
                    {
                        say.line(&words(&name, &event));
                    }
                });
            }
            Event::EdgeBack => {
                let before = lost.fetch_and(!SAID, Ordering::AcqRel);
                lost.fetch_add(1, Ordering::AcqRel);
                if before & SAID != 0 {
                    say.line(&words(&name, &event));
                }
            }
            event => say.line(&words(&name, &event)),
        })
    }

    /// What became of an edit in a plugin's folder.
    pub(crate) fn edit(&self, folder: &str, event: &DevEvent) {
        match event {
            DevEvent::Changed(status) => {
                self.line(&format!("{folder} was edited; {} starts anew", status.name));
            }
            DevEvent::Broken(error) => {
                self.line(&format!("{error}\nwhat was loaded before goes on"));
            }
            DevEvent::AsksMore { asks } => {
                self.line(&format!(
                    "the edit in {folder} is not taken: it asks for more than when this oz0 started: {}\nwhat was loaded \
                     before goes on; to grant it, start `oz0 up` or `oz0 mcp` again",
                    asks.join("; ")
                ));
            }
            DevEvent::NotTaken(error) => {
                self.line(&format!("the edit in {folder} is not taken: {error}"));
                if let Some(hint) = error.hint() {
                    self.line(&format!("hint: {hint}"));
                }
            }
            DevEvent::Removed(name) => {
                self.line(&format!(
                    "{name} was removed, so edits in {folder} are not followed any more; to have it back, run it again"
                ));
            }
            _ => {}
        }
    }
}

/// Nobody.
impl Default for Say {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Say {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Say")
    }
}

fn words(node: &NodeName, event: &Event) -> String {
    match event {
        Event::Waiting { plugin, tool, functions, moved } => {
            Announcement::of_tool(plugin, node, tool, functions, moved.as_ref()).to_string()
        }
        other => other.to_string(),
    }
}
