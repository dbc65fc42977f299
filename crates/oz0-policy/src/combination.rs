//! What an agent combines: private data, outside input, and a way to send out.
//!
//! Each of the three alone is harmless. An agent that has all of them, and may send without a person being asked, can be
//! talked by a text from outside into sending private data away, in one job and with every call allowed.

/// A function, or another part of an agent's surroundings, and what it brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Part<T> {
    /// What it is, for whoever tells people.
    pub what: T,
    /// It gives the agent private data.
    pub private: bool,
    /// It gives the agent text from outside.
    pub outside: bool,
    /// It changes or sends something.
    pub sends: bool,
    /// It may do so with nobody asked.
    pub unasked: bool,
}

/// What an agent combines, each ingredient with the parts that bring it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination<T> {
    /// Private data.
    pub private: Vec<T>,
    /// Outside input.
    pub outside: Vec<T>,
    /// Sending out.
    pub sending: Vec<T>,
    /// Of [`Combination::sending`], what may run with nobody asked.
    pub unasked: Vec<T>,
}

impl<T> Combination<T> {
    /// Whether all three come together and something is sent with nobody asked.
    pub fn is_open(&self) -> bool {
        !self.private.is_empty() && !self.outside.is_empty() && !self.unasked.is_empty()
    }
}

/// Puts the parts of one agent together.
pub fn combine<T: Clone>(parts: impl IntoIterator<Item = Part<T>>) -> Combination<T> {
    let mut combination =
        Combination { private: vec![], outside: vec![], sending: vec![], unasked: vec![] };
    for part in parts {
        if part.private {
            combination.private.push(part.what.clone());
        }
        if part.outside {
            combination.outside.push(part.what.clone());
        }
        if part.sends && part.unasked {
            combination.unasked.push(part.what.clone());
        }
        if part.sends {
            combination.sending.push(part.what);
        }
    }
    combination
}
