//! What a modern client carries from one request to the next (`requestState`), protected.
//!
//! The client must hand it back as it is, yet nothing makes it: so it is bound by HMAC-SHA-256 to its principal, the
//! function, the arguments and a time. A server's own state travels inside, unread. It is not encrypted, since the
//! client would have got the server's state anyway.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::gateway::Principal;
use super::params::CallParams;

const TAG: usize = 32;
const TIME: usize = 8;

/// What is carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The number of a call that waits in this process.
    Parked([u8; 16]),
    /// The state of the server behind.
    Server(String),
}

#[derive(Debug)]
pub(crate) struct Seal {
    key: hmac::Key,
    random: SystemRandom,
}

impl Seal {
    pub(crate) fn new(key: Option<[u8; 32]>) -> Self {
        let random = SystemRandom::new();
        let key = key.unwrap_or_else(|| {
            let mut key = [0; 32];
            random.fill(&mut key).expect("the system gives random bytes");
            key
        });
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &key), random }
    }

    /// A number that nobody can guess.
    pub(crate) fn number(&self) -> [u8; 16] {
        let mut number = [0; 16];
        self.random.fill(&mut number).expect("the system gives random bytes");
        number
    }

    pub(crate) fn close(
        &self,
        state: &State,
        principal: &Principal,
        params: &CallParams,
        life: Duration,
    ) -> String {
        let until = now().saturating_add(life).as_secs();
        let mut text = vec![match state {
            State::Parked(_) => b'p',
            State::Server(_) => b's',
        }];
        text.extend_from_slice(&until.to_be_bytes());
        match state {
            State::Parked(number) => text.extend_from_slice(number),
            State::Server(state) => text.extend_from_slice(state.as_bytes()),
        }
        let tag = self.tag(&text, principal, params);
        text.extend_from_slice(tag.as_ref());
        BASE64.encode(text)
    }

    /// What was closed for this principal and call, if it was and still holds.
    pub(crate) fn open(
        &self,
        sealed: &str,
        principal: &Principal,
        params: &CallParams,
    ) -> Option<State> {
        let bytes = BASE64.decode(sealed).ok()?;
        let split = bytes.len().checked_sub(TAG).filter(|&split| split > TIME)?;
        let (text, tag) = bytes.split_at(split);
        hmac::verify(&self.key, &bound(text, principal, params), tag).ok()?;
        let (kind, rest) = text.split_first()?;
        let (until, state) = rest.split_at_checked(TIME)?;
        if u64::from_be_bytes(until.try_into().ok()?) < now().as_secs() {
            return None;
        }
        match kind {
            b'p' => Some(State::Parked(state.try_into().ok()?)),
            b's' => Some(State::Server(String::from_utf8(state.to_vec()).ok()?)),
            _ => None,
        }
    }

    fn tag(&self, text: &[u8], principal: &Principal, params: &CallParams) -> hmac::Tag {
        hmac::sign(&self.key, &bound(text, principal, params))
    }
}

fn bound(text: &[u8], principal: &Principal, params: &CallParams) -> Vec<u8> {
    // A client may write the arguments anew for its next request, in another order: their value is what is bound.
    let arguments = match params.arguments() {
        None => "{}".to_owned(),
        Some(arguments) => serde_json::from_str::<serde_json::Value>(arguments)
            .map_or_else(|_| arguments.to_owned(), |value| value.to_string()),
    };
    let mut all = Vec::new();
    for part in [text, principal.id().as_bytes(), params.name().as_bytes(), arguments.as_bytes()] {
        all.extend_from_slice(&(part.len() as u64).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
