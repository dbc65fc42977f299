//! Functions that are called around other calls: before one, to refuse it or to change its arguments, and after one, to
//! refuse its result.
//!
//! A hook is a function like any other: it is called only while its server lists it as accepted, with arguments that its
//! pinned schema allows, and never where the tenant's policy refuses it. Nobody is asked about its calls, and no hook is
//! called around them. Whatever keeps it from answering in time and in its form is an answer as well: no. Its shape is
//! documented in `docs/reference/hooks.md`.

use std::borrow::Cow;
use std::time::Duration;

use oz0_api::PluginName;
use oz0_api::plugin::PluginDescription;
use oz0_api::policy::{Hook, HookPoint, HookScope};
use oz0_listing::{FunctionId, escape};
use oz0_policy::FunctionType;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::table::Entry;

/// How long a hook may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// How much of a hook's reason is told, in characters.
const REASON: usize = 400;

/// A hook, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) plugin: PluginName,
    pub(crate) hook: Hook,
}

impl Watch {
    /// The hooks of a plugin.
    pub(crate) fn all(description: &PluginDescription) -> impl Iterator<Item = Self> {
        let plugin = &description.name;
        description.hooks.iter().map(|hook| Self { plugin: plugin.clone(), hook: hook.clone() })
    }

    /// Whether it is called around this function's calls then.
    pub(crate) fn watches(&self, on: HookPoint, entry: &Entry) -> bool {
        let plugin = &entry.server.plugin;
        let of = match &self.hook.of {
            HookScope::Own => self.plugin == *plugin,
            HookScope::Plugin(name) => name == plugin,
            HookScope::Every => true,
        };
        of && self.hook.on == on
            && self.hook.matches.as_ref().is_none_or(|pattern| pattern.covers(&entry.id))
    }
}

/// What a hook is called with.
#[derive(Serialize)]
pub(crate) struct Notice<'a> {
    on: HookPoint,
    plugin: &'a str,
    version: &'a str,
    function: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    arguments: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
}

impl<'a> Notice<'a> {
    pub(crate) fn new(
        on: HookPoint,
        entry: &'a Entry,
        kind: FunctionType,
        arguments: &'a RawValue,
        result: Option<&'a RawValue>,
    ) -> Self {
        Self {
            on,
            plugin: entry.server.plugin.as_str(),
            version: entry.server.version.as_str(),
            function: entry.id.as_str(),
            kind: match kind {
                FunctionType::Read => "read",
                FunctionType::Write => "write",
                FunctionType::SendsOut => "sends_out",
                FunctionType::Unknown => "unknown",
                FunctionType::Destructive => "destructive",
            },
            arguments,
            result,
        }
    }

    /// When it is said.
    pub(crate) fn on(&self) -> HookPoint {
        self.on
    }

    /// The arguments of the hook's call.
    pub(crate) fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }
}

/// What a hook answered.
#[derive(Debug)]
pub(crate) enum Word {
    /// The call goes on, with other arguments where there are some.
    Go(Option<Box<RawValue>>),
    /// It does not, and why, in the hook's words.
    No(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    decision: Said,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Said {
    Allow,
    Refuse,
}

/// Reads a hook's result; the error says what is wrong with it.
pub(crate) fn read(on: HookPoint, result: &RawValue) -> Result<Word, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Result_<'a> {
        #[serde(default)]
        is_error: bool,
        #[serde(borrow, default)]
        structured_content: Option<&'a RawValue>,
        #[serde(borrow, default)]
        content: Vec<Block<'a>>,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, default)]
        text: Option<Cow<'a, str>>,
    }
    let shape = |error: serde_json::Error| {
        format!("its answer is malformed: {}", escape::line_within(&error.to_string(), 200))
    };
    let result: Result_<'_> = serde_json::from_str(result.get()).map_err(shape)?;
    if result.is_error {
        return Err("it failed".to_owned());
    }
    let answer: Answer = match (result.structured_content, &result.content[..]) {
        (Some(content), _) => serde_json::from_str(content.get()).map_err(shape)?,
        (None, [Block { text: Some(text) }]) => serde_json::from_str(text).map_err(shape)?,
        _ => return Err("its answer is malformed: it has no structured content".to_owned()),
    };
    match (answer.decision, answer.arguments) {
        (Said::Refuse, _) => {
            let reason = answer.reason.as_deref().unwrap_or_default();
            Ok(Word::No(escape::line_within(reason, REASON).into_owned()))
        }
        (Said::Allow, None) => Ok(Word::Go(None)),
        (Said::Allow, Some(arguments)) if on == HookPoint::BeforeCall => {
            if arguments.get().starts_with('{') {
                Ok(Word::Go(Some(arguments)))
            } else {
                Err("its answer is malformed: `arguments` is no object".to_owned())
            }
        }
        (Said::Allow, Some(_)) => {
            Err("its answer is malformed: after a call there are no arguments to change".to_owned())
        }
    }
}

/// The refusal of a call, or of its result, because of a hook.
pub(crate) fn refusal(on: HookPoint, id: &FunctionId, watch: &Watch, why: &str) -> String {
    let hook = &watch.hook.call;
    let plugin = &watch.plugin;
    let colon = if why.is_empty() { "" } else { ": " };
    match on {
        HookPoint::BeforeCall => {
            format!(
                "{id} was not called: {hook} of {plugin}, which looks at its calls, says no{colon}{why}"
            )
        }
        HookPoint::AfterCall => format!(
            "{id} was called, and its result is not passed on: {hook} of {plugin}, which looks at its results, says \
             no{colon}{why}"
        ),
    }
}

/// The refusal where the hook did not say anything that counts.
pub(crate) fn failure(on: HookPoint, id: &FunctionId, watch: &Watch, why: &str) -> String {
    let hook = &watch.hook.call;
    let plugin = &watch.plugin;
    match on {
        HookPoint::BeforeCall => format!(
            "{id} was not called: {hook} of {plugin}, which is to look at its calls, did not answer as a hook does: {why}"
        ),
        HookPoint::AfterCall => format!(
            "{id} was called, and its result is not passed on: {hook} of {plugin}, which is to look at its results, did \
             not answer as a hook does: {why}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn only_what_is_an_answer_lets_a_call_through() {
        let before = |text: &str| read(HookPoint::BeforeCall, &raw(text));
        for text in [
            r#"{"structuredContent":{"decision":"allow"},"content":[]}"#,
            r#"{"content":[{"type":"text","text":"{\"decision\":\"allow\",\"reason\":\"fine\"}"}]}"#,
        ] {
            assert!(matches!(before(text), Ok(Word::Go(None))), "{text}");
        }
        let changed = r#"{"structuredContent":{"decision":"allow","arguments":{"n": 1.50}}}"#;
        let Ok(Word::Go(Some(arguments))) = before(changed) else { panic!("it changes them") };
        assert_eq!(arguments.get(), r#"{"n": 1.50}"#);
        assert!(read(HookPoint::AfterCall, &raw(changed)).is_err());
        let Ok(Word::No(why)) = before(
            "{\"structuredContent\":{\"decision\":\"refuse\",\"reason\":\"a\u{202e}b\\n\"}}",
        ) else {
            panic!("it refuses")
        };
        assert_eq!(why, "a\\u{202E}b\\u{A}");
        for malformed in [
            "{}",
            "[]",
            r#"{"structuredContent":{}}"#,
            r#"{"structuredContent":{"decision":"yes"}}"#,
            r#"{"structuredContent":{"decision":"allow","decision":"refuse"}}"#,
            r#"{"structuredContent":{"decision":"allow","argumnets":{}}}"#,
            r#"{"structuredContent":{"decision":"allow","arguments":[1]}}"#,
            r#"{"structuredContent":{"decision":"allow"},"isError":true}"#,
            r#"{"content":[{"type":"text","text":"allow"}]}"#,
            r#"{"content":[{"type":"text","text":"{\"decision\":\"allow\"}"},{"type":"text","text":"x"}]}"#,
        ] {
            assert!(before(malformed).is_err(), "{malformed}");
        }
    }
}
