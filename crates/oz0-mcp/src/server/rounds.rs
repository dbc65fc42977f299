//! A modern server's `InputRequiredResult`, for clients of either era.

use serde_json::value::RawValue;

use super::codes;
use super::exchange::result_type;
use super::gateway::{AskError, Asker, Peer};
use super::splice::Splice;
use crate::error::RpcError;
use crate::message::{Members, quote, string};

/// Things one result may ask for.
const QUESTIONS: usize = 32;

/// What a server wants before it goes on.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    result: &'a RawValue,
    questions: Vec<Question<'a>>,
    /// Its state, decoded.
    pub(crate) state: Option<String>,
    state_text: Option<&'a RawValue>,
}

#[derive(Debug)]
struct Question<'a> {
    key: String,
    method: String,
    params: Option<&'a RawValue>,
}

impl<'a> Wanted<'a> {
    /// `None` for any result but an `InputRequiredResult`.
    pub(crate) fn read(result: &'a RawValue) -> Result<Option<Self>, RpcError> {
        if result_type(result.get()).as_deref() != Some("input_required") {
            return Ok(None);
        }
        let malformed = |what: &str| {
            RpcError::new(
                codes::INTERNAL,
                format!("the server's request for input is malformed: {what}"),
            )
        };
        let members = Members::read(result.get()).map_err(|_| malformed("not an object"))?;
        if let Some(name) = members.repeated(&["resultType", "inputRequests", "requestState"]) {
            return Err(malformed(&format!("the member `{name}` stands twice")));
        }
        let state_text = members.get("requestState");
        let state = match state_text {
            None => None,
            Some(state) => {
                Some(string(state).ok_or_else(|| malformed("`requestState` is not a string"))?)
            }
        };
        let mut questions = Vec::new();
        if let Some(requests) = members.get("inputRequests") {
            let requests =
                Members::read(requests.get()).map_err(|_| malformed("`inputRequests`"))?;
            if super::params::twice(&requests).is_some() {
                return Err(malformed("a key of `inputRequests` stands twice"));
            }
            for (key, request) in requests.iter() {
                let request = Members::read(request.get()).map_err(|_| malformed("a request"))?;
                if request.repeated(&["method", "params"]).is_some() {
                    return Err(malformed("a member of a request stands twice"));
                }
                let method = request.get("method").and_then(string);
                questions.push(Question {
                    key: key.to_owned(),
                    method: method
                        .ok_or_else(|| malformed("a request without a method"))?
                        .into_owned(),
                    params: request.get("params"),
                });
            }
        }
        if questions.len() > QUESTIONS {
            return Err(malformed("it asks for too much at once"));
        }
        if questions.is_empty() && state.is_none() {
            return Err(malformed("it asks for nothing"));
        }
        Ok(Some(Self {
            result,
            questions,
            state: state.map(std::borrow::Cow::into_owned),
            state_text,
        }))
    }

    /// Whether this client can answer all of it: a server may only ask what was declared.
    pub(crate) fn check(&self, peer: &Peer) -> Result<(), RpcError> {
        for question in &self.questions {
            let params = question.params.map(RawValue::get);
            if let Err(lacking) = peer.capabilities.allow(peer.version, &question.method, params) {
                return Err(missing(lacking));
            }
        }
        Ok(())
    }

    /// The same result with another state.
    pub(crate) fn with_state(&self, state: &str) -> Result<Box<RawValue>, RpcError> {
        let mut splice = Splice::new(self.result.get());
        if let Some(text) = self.state_text {
            splice
                .replace_value(text, quote(state))
                .map_err(|error| RpcError::new(codes::INTERNAL, error.to_string()))?;
        }
        RawValue::from_string(splice.apply())
            .map_err(|error| RpcError::new(codes::INTERNAL, error.to_string()))
    }

    /// Asks a legacy client all of it at once; the text of `inputResponses`.
    pub(crate) async fn ask(&self, asker: &Asker) -> Result<Option<String>, RpcError> {
        if self.questions.is_empty() {
            return Ok(None);
        }
        let answers = self.questions.iter().map(|question| async move {
            let answer = match asker.ask(&question.method, question.params).await {
                Ok(answer) => answer.get().to_owned(),
                // Nobody is there to answer a form, which its server has a word for.
                Err(AskError::Unable(_) | AskError::TimedOut(_))
                    if question.method == "elicitation/create" =>
                {
                    r#"{"action":"cancel"}"#.to_owned()
                }
                Err(AskError::Unable(lacking)) => return Err(missing(lacking)),
                Err(error) => return Err(RpcError::new(codes::EXPIRED, error.to_string())),
            };
            Ok(format!("{}:{answer}", quote(&question.key)))
        });
        let answers = futures_util::future::try_join_all(answers).await?;
        Ok(Some(format!("{{{}}}", answers.join(","))))
    }
}

/// -32021.
pub(crate) fn missing(capability: &'static str) -> RpcError {
    RpcError {
        code: codes::MISSING_CAPABILITY,
        message: "Missing required client capability".to_owned(),
        data: RawValue::from_string(format!(r#"{{"requiredCapabilities":{capability}}}"#)).ok(),
    }
}
