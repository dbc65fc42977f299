//! What a legacy client was asked and has not answered yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::exchange::{Asked, Outgoing};
use super::gateway::AskError;
use crate::error::RpcError;
use crate::message;

type Answer = oneshot::Sender<Result<Box<RawValue>, AskError>>;

#[derive(Debug, Default)]
struct Open {
    last: u64,
    waiting: HashMap<u64, Answer>,
}

#[derive(Debug, Default)]
pub(crate) struct Questions(Mutex<Open>);

impl Questions {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request to send.
    pub(crate) fn ask(&self, asked: Asked) -> Outgoing {
        let mut open = self.open();
        open.last += 1;
        let id = open.last;
        open.waiting.insert(id, asked.answer);
        let params = match &asked.params {
            Some(params) => format!(r#","params":{params}"#),
            None => String::new(),
        };
        let method = message::quote(&asked.method);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}{params}}}"#).into()
    }

    /// Takes an answer; answers to nothing are dropped.
    pub(crate) fn answer(&self, id: &RawValue, outcome: Result<&RawValue, RpcError>) {
        let waiting = message::number(id).and_then(|id| self.open().waiting.remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(outcome.map(RawValue::to_owned).map_err(AskError::Answered));
        }
    }

    /// The notifications that take back what nobody waits for any more.
    pub(crate) fn taken_back(&self) -> Vec<Outgoing> {
        let mut open = self.open();
        let gone: Vec<u64> = open
            .waiting
            .iter()
            .filter(|(_, answer)| answer.is_closed())
            .map(|(id, _)| *id)
            .collect();
        let notification = |id: u64| {
            open.waiting.remove(&id);
            let params = format!(r#"{{"requestId":{id}}}"#);
            message::notification("notifications/cancelled", Some(&params)).into()
        };
        gone.into_iter().map(notification).collect()
    }
}
