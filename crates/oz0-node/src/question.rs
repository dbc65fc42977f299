//! What a server asks in the middle of a call: named, written out, and only what may be asked.
//!
//! A person who is asked must see who asks, and must not be shown one text and decide on another. So the name of the
//! function stands before the message, and what nobody can see in it is written out.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use oz0_listing::{FunctionId, escape};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The method of a form or a URL for a person.
const ELICIT: &str = "elicitation/create";
/// The method of a question to a model.
const SAMPLE: &str = "sampling/createMessage";

/// The parameters of a question as the client gets them; the error says why it is not asked.
pub(crate) fn presented(
    function: &FunctionId,
    method: &str,
    params: Option<&RawValue>,
    sampling: bool,
) -> Result<Box<RawValue>, String> {
    match method {
        ELICIT => {}
        SAMPLE if sampling => {}
        SAMPLE => {
            return Err(format!(
                "the plugin of {function} does not say `requires.models.sampling`, so its server may not ask a model"
            ));
        }
        _ => return Err("a server behind this gateway may not ask this".to_owned()),
    }
    let params: Value = match params {
        None => Value::Object(Map::new()),
        Some(params) => serde_json::from_str(params.get()).map_err(|error| error.to_string())?,
    };
    let mut params =
        written_out(params).ok_or("a member's name in it holds characters that nobody can see")?;
    if method == ELICIT
        && let Some(message) = params.get_mut("message")
    {
        let said = message.as_str().unwrap_or_default();
        *message = Value::String(format!("{function} asks: {said}"));
    }
    serde_json::value::to_raw_value(&params).map_err(|error| error.to_string())
}

/// A modern server's `InputRequiredResult` with its questions made presentable; any other result untouched.
pub(crate) fn presented_in(
    function: &FunctionId,
    result: Box<RawValue>,
    sampling: bool,
) -> Result<Box<RawValue>, String> {
    static ASKS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("input_required"));
    static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));
    // Results are large and questions are rare. A letter of the word can be spelled `\u00XX`.
    let bytes = result.get().as_bytes();
    if ASKS.find(bytes).is_none() && ESCAPE.find(bytes).is_none() {
        return Ok(result);
    }
    // What has a member twice is read differently by different readers: one of them could see a question here.
    let kind = serde_json::from_str::<Kind<'_>>(result.get()).map_err(|error| error.to_string())?;
    if kind.result_type.as_deref() != Some("input_required") {
        return Ok(result);
    }
    let mut wanted: Map<String, Value> =
        serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
    if let Some(Value::Object(requests)) = wanted.get_mut("inputRequests") {
        for request in requests.values_mut() {
            let Some(request) = request.as_object_mut() else { continue };
            let method =
                request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            let params = request
                .get("params")
                .map(serde_json::value::to_raw_value)
                .transpose()
                .map_err(|error| error.to_string())?;
            let presented = presented(function, &method, params.as_deref(), sampling)?;
            let params =
                serde_json::from_str(presented.get()).map_err(|error| error.to_string())?;
            request.insert("params".to_owned(), params);
        }
    }
    serde_json::value::to_raw_value(&wanted).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, rename = "resultType", default)]
    result_type: Option<Cow<'a, str>>,
    #[serde(rename = "inputRequests", default)]
    _requests: IgnoredAny,
    #[serde(rename = "requestState", default)]
    _state: IgnoredAny,
}

fn written_out(value: Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(match escape::text(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(text) => text,
        }),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(written_out).collect::<Option<_>>()?)
        }
        Value::Object(members) => {
            let each = |(name, value): (String, Value)| {
                (!escape::has_invisible(&name)).then_some(())?;
                Some((name, written_out(value)?))
            };
            Value::Object(members.into_iter().map(each).collect::<Option<_>>()?)
        }
        plain => plain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_could_be_read_as_a_question_and_as_none_is_neither() {
        let function: FunctionId = "team.hello".parse().unwrap();
        let asks = r#""inputRequests":{"a":{"method":"sampling/createMessage"}}"#;
        for twice in [
            format!(r#"{{"resultType":"complete",{asks},"resultType":"input_required"}}"#),
            format!(r#"{{"resultType":"input_required",{asks},"resultType":"complete"}}"#),
            format!(r#"{{"resultType":"complete","result\u0054ype":"input_required",{asks}}}"#),
            format!(r#"{{"resultType":"input_required",{asks},{asks}}}"#),
        ] {
            let result = RawValue::from_string(twice.clone()).unwrap();
            assert!(presented_in(&function, result, true).is_err(), "{twice}");
        }
    }
}
