//! What happens, in words for a person.

use std::fmt;
use std::sync::Arc;

use oz0_api::NodeName;
use oz0_listing::escape;
use oz0_node::{DevEvent, Event, Tell};

/// Who hears what happens: a line, or a few, at a time, with nothing in them that a terminal obeys.
#[derive(Clone)]
pub struct Say(Arc<dyn Fn(&str) + Send + Sync>);

impl Say {
    /// Says it to this function.
    pub fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(say))
    }

    /// Says a text that may quote what servers, files and other programs say.
    pub(crate) fn line(&self, text: &str) {
        (self.0)(&escape::text(text));
    }

    /// Where a node's events are said.
    pub(crate) fn node(&self, name: &NodeName) -> Tell {
        let (say, name) = (self.clone(), name.clone());
        Tell::new(move |event| say.line(&words(&name, &event)))
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
            DevEvent::NotTaken(error) => {
                self.line(&format!("the edit in {folder} is not taken: {error}"));
                if let Some(hint) = error.hint() {
                    self.line(&format!("hint: {hint}"));
                }
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
        Event::Waiting { plugin, functions, .. } => {
            let names: Vec<&str> = functions.iter().map(AsRef::as_ref).collect();
            format!(
                "Tools of {plugin} changed on {node}: {}. Nodes do not call them until you approve: \
                 oz0 plugin approve-tools {plugin}",
                names.join(", ")
            )
        }
        other => other.to_string(),
    }
}
