//! The hooks around a call: functions of plugins that look at it, may change it, and may refuse it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use oz0_api::policy::HookPoint;
use oz0_listing::escape;
use oz0_policy::FunctionType;
use oz0_telemetry::trace::TraceContext;
use serde_json::value::RawValue;
use tracing::Instrument as _;

use super::{Called, Gateway, Halt, REASON, Ready};
use crate::answer;
use crate::hooks::{self, Notice, Watch, Word};
use crate::outcome::Outcome;
use crate::policy::Ruling;
use crate::table::Entry;
use crate::vault;
use crate::watched::{self, Watched};

impl Gateway {
    /// The arguments as the hooks before a call leave them.
    pub(super) async fn before<'a>(
        &self,
        trace: TraceContext,
        ready: &Ready,
        given: &'a str,
    ) -> Result<Cow<'a, str>, Halt> {
        let mut arguments = Cow::Borrowed(given);
        let on = HookPoint::BeforeCall;
        let watches = Arc::clone(&self.roster.table().hooks);
        for watch in watches.iter().filter(|watch| watch.watches(on, &ready.entry)) {
            let raw = RawValue::from_string(arguments.clone().into_owned())
                .expect("what was checked is JSON");
            let notice = Notice::new(on, &ready.entry, ready.accepted.kind, &raw, None);
            let id = &ready.entry.id;
            match self.hook(trace, watch, &notice).await {
                Ok(Word::Go(None)) => {}
                Ok(Word::Go(Some(others))) => {
                    arguments = Cow::Owned(String::from(Box::<str>::from(others)));
                }
                Ok(Word::No(why)) => {
                    let text = hooks::refusal(on, id, watch, &why);
                    return Err(Halt::Refused(Outcome::Hook, text));
                }
                Err(why) => {
                    let text = hooks::failure(on, id, watch, &why);
                    return Err(Halt::Refused(Outcome::Hook, text));
                }
            }
        }
        Ok(arguments)
    }

    /// A result that no hook after the call refuses.
    pub(super) async fn after(
        &self,
        trace: TraceContext,
        entry: &Entry,
        kind: FunctionType,
        arguments: &str,
        result: Box<RawValue>,
    ) -> Result<Box<RawValue>, Halt> {
        let on = HookPoint::AfterCall;
        let watches = Arc::clone(&self.roster.table().hooks);
        for watch in watches.iter().filter(|watch| watch.watches(on, entry)) {
            let raw =
                RawValue::from_string(arguments.to_owned()).expect("what was checked is JSON");
            let notice = Notice::new(on, entry, kind, &raw, Some(&result));
            let refused = match self.hook(trace, watch, &notice).await {
                Ok(Word::Go(_)) => continue,
                Ok(Word::No(why)) => hooks::refusal(on, &entry.id, watch, &why),
                Err(why) => hooks::failure(on, &entry.id, watch, &why),
            };
            return Err(Halt::Refused(Outcome::Hook, refused));
        }
        Ok(result)
    }

    /// What a hook says; the error is why it says nothing that counts.
    async fn hook(
        &self,
        trace: TraceContext,
        watch: &Watch,
        notice: &Notice<'_>,
    ) -> Result<Word, String> {
        let id = &watch.hook.call;
        let trace = trace.next();
        let span = watched::step("hook", trace);
        let mut watched = Watched::unseen(&self.roster.host.metrics, trace);
        let said = async {
            let asked = Instant::now();
            let entry = self.find(Called::Function(id), asked, &mut watched).await?;
            if entry.server.plugin != watch.plugin {
                return Err(Halt::Unknown);
            }
            let ready = self.ready(entry, asked).await?;
            let arguments =
                notice.text().map_err(|text| Halt::Refused(Outcome::Arguments, text))?;
            if let Ruling::Refuse(text) = self.ruled(&ready, &arguments)? {
                return Err(Halt::Refused(Outcome::Policy, text));
            }
            let carried = self.carried(&ready.entry, &ready.instance).await?;
            let limits = &self.roster.host.options.limits;
            let slot = ready
                .instance
                .slot(id, None)
                .ok_or_else(|| Halt::Error(Outcome::Busy, answer::busy(id, limits.in_flight)))?;
            let name = serde_json::Value::from(id.function());
            let carried = carried
                .map(|carried| format!(r#","{}":{carried}"#, vault::META))
                .unwrap_or_default();
            let params = format!(
                r#"{{"name":{name},"arguments":{arguments},"_meta":{{"traceparent":"{trace}"{carried}}}}}"#
            );
            let params = RawValue::from_string(params).expect("its parts are JSON");
            let client = &ready.instance.client;
            let result = client
                .request_within("tools/call", &params, limits.call.min(hooks::LIMIT))
                .await
                .map_err(|error| Halt::Error((&error.fault).into(), answer::failed(id, error)))?;
            drop(slot);
            let result = self.passed(&ready.entry, &ready.accepted, &ready.instance, result)?;
            Ok(hooks::read(notice.on(), &result))
        };
        match tokio::time::timeout(hooks::LIMIT, said.instrument(span)).await {
            Ok(Ok(word)) => word,
            Ok(Err(Halt::Refused(_, text))) => Err(text),
            Ok(Err(Halt::Error(_, error))) => {
                Err(escape::line_within(&error.message, REASON).into_owned())
            }
            Ok(Err(Halt::Unknown)) => Err(format!("this node runs no function {id} of its plugin")),
            Err(_) => Err(format!("it did not answer within {} s", hooks::LIMIT.as_secs())),
        }
    }
}
