//! What a gateway reads of `tools/call`, and how it is passed on.
//!
//! Policy decides on a function's name and its arguments, and the server acts on them: if one text could be read in
//! two ways, what was allowed and what was done could differ. So the parts that are read here are refused when a name
//! in them stands twice, and everything else passes as it was written.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::value::RawValue;

use super::codes;
use super::gateway::Level;
use super::splice::{Splice, insertion, may_have, may_name_ours, range_in, removals};
use crate::error::RpcError;
use crate::message::{Members, quote, string};
use crate::version::Era;

/// Keys of `_meta` that are this product's alone: taken out in both directions.
pub(crate) const OURS: &str = "oz0/";
/// What a modern client says of itself on each request: said to this gateway, not to the servers behind it.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A name without a prefix, by exception (MCP 2026-07-28, `_meta`).
const TRACE_PARENT: &str = "traceparent";

/// Whether these parameters can be a modern client's.
pub(crate) fn may_be_modern(params: &str) -> bool {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PROTOCOL_VERSION));
    may_have(params, &NAME)
}

const READ: [&str; 6] = ["name", "arguments", "_meta", "inputResponses", "requestState", "task"];

/// The parameters of one call: their text, and where the parts that matter stand in it.
#[derive(Clone, Debug)]
pub struct CallParams {
    text: String,
    name: String,
    name_at: Range<usize>,
    arguments: Option<Range<usize>>,
    meta: Option<Range<usize>>,
    progress_token: Option<Range<usize>>,
    trace_parent: Option<Range<usize>>,
    input_responses: Option<Range<usize>>,
    request_state: Option<Range<usize>>,
}

impl CallParams {
    /// Reads what a client sent. Keys under `oz0/` are taken out of `_meta`, and so is what a modern client says of
    /// itself there and what means nothing there from a legacy one; a `task` member is taken out, since no tasks are offered here. The error is -32602.
    pub fn read(text: &str, era: Era) -> Result<Self, RpcError> {
        let refuse = |why: String| RpcError::new(codes::INVALID_PARAMS, why);
        let members = Members::read(text)
            .map_err(|_| refuse("the parameters of tools/call are not an object".to_owned()))?;
        if let Some(name) = members.repeated(&READ) {
            return Err(refuse(format!("the member `{name}` of the parameters stands twice")));
        }
        let mut splice = Splice::new(text);
        let mut cut = |base: usize, ranges: Vec<Range<usize>>| {
            for range in ranges {
                splice
                    .remove(base + range.start..base + range.end)
                    .expect("members of one object do not overlap");
            }
        };
        if let Some(meta) = members.get("_meta") {
            let inner = Members::read(meta.get())
                .map_err(|_| refuse("`_meta` is not an object".to_owned()))?;
            if let Some(name) = twice(&inner) {
                return Err(refuse(format!("the member `{name}` of `_meta` stands twice")));
            }
            let said = |name: &str| match era {
                Era::Modern => [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES].contains(&name),
                // Said on the connection in this era: `Forward::log_level` adds it for a server that wants it here.
                Era::Legacy => name == LOG_LEVEL,
            };
            let goes = |name: &str| name.starts_with(OURS) || said(name);
            cut(range_in(text, meta.get()).start, removals(meta.get(), &inner, goes));
        }
        if members.get("task").is_some() {
            cut(0, removals(text, &members, |name| name == "task"));
        }
        if splice.is_empty() {
            return Self::index(text, &members).map_err(refuse);
        }
        Self::clean(&splice.apply()).map_err(refuse)
    }

    /// Reads a text that is clean already.
    fn clean(text: &str) -> Result<Self, String> {
        let members = Members::read(text).map_err(|_| "not an object".to_owned())?;
        Self::index(text, &members)
    }

    /// Finds the parts of a clean text.
    fn index(text: &str, members: &Members<'_>) -> Result<Self, String> {
        let at = |value: &RawValue| range_in(text, value.get());
        let name = members.get("name").ok_or("`name` is missing")?;
        let arguments = members.get("arguments");
        if arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            return Err("`arguments` is not an object".to_owned());
        }
        let meta = members.get("_meta");
        let inner = meta
            .map(|meta| Members::read(meta.get()))
            .transpose()
            .map_err(|_| "`_meta` is not an object".to_owned())?;
        let inner = |name: &str| inner.as_ref().and_then(|inner| inner.get(name));
        let (token, trace_parent) = (inner("progressToken"), inner(TRACE_PARENT));
        if token.is_some_and(|token| !is_token(token)) {
            return Err("`_meta.progressToken` is neither a string nor an integer".to_owned());
        }
        let responses = members.get("inputResponses");
        if responses.is_some_and(|responses| !responses.get().starts_with('{')) {
            return Err("`inputResponses` is not an object".to_owned());
        }
        let state = members.get("requestState");
        if state.is_some_and(|state| !state.get().starts_with('"')) {
            return Err("`requestState` is not a string".to_owned());
        }
        let (name, name_at) =
            (string(name).ok_or("`name` is not a string")?.into_owned(), at(name));
        let trace_parent = trace_parent.map(at);
        let (arguments, meta, token) = (arguments.map(at), meta.map(at), token.map(at));
        let (input_responses, request_state) = (responses.map(at), state.map(at));
        Ok(Self {
            name,
            name_at,
            arguments,
            meta,
            progress_token: token,
            trace_parent,
            input_responses,
            request_state,
            text: text.to_owned(),
        })
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, clean, else as the client wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `arguments`, as written: an object.
    pub fn arguments(&self) -> Option<&str> {
        self.part(self.arguments.as_ref())
    }

    /// `_meta`, as written: an object.
    pub fn meta(&self) -> Option<&str> {
        self.part(self.meta.as_ref())
    }

    /// `_meta.progressToken`, as written.
    pub fn progress_token(&self) -> Option<&str> {
        self.part(self.progress_token.as_ref())
    }

    /// `_meta.traceparent`, decoded: the trace that the client counts this call in (W3C Trace Context), in whatever form.
    pub fn trace_parent(&self) -> Option<Cow<'_, str>> {
        self.part(self.trace_parent.as_ref()).and_then(|text| serde_json::from_str(text).ok())
    }

    /// `inputResponses`, as written: what the client's user answered to a server that asked.
    pub fn input_responses(&self) -> Option<&str> {
        self.part(self.input_responses.as_ref())
    }

    /// `requestState`, decoded.
    pub fn request_state(&self) -> Option<Cow<'_, str>> {
        self.part(self.request_state.as_ref()).and_then(|text| serde_json::from_str(text).ok())
    }

    fn part(&self, range: Option<&Range<usize>>) -> Option<&str> {
        range.map(|range| &self.text[range.clone()])
    }

    /// Begins the text that goes to the server.
    pub fn forward(&self) -> Forward<'_> {
        Forward {
            params: self,
            name: None,
            token: Token::Kept,
            trace_parent: None,
            meta: String::new(),
            others: Vec::new(),
        }
    }

    /// The same call with another state, or with answers to what a server asked.
    pub(crate) fn with(
        &self,
        responses: Option<&str>,
        state: Option<&str>,
    ) -> Result<Self, String> {
        let mut forward = self.forward();
        forward.others.push((
            "inputResponses",
            self.input_responses.clone(),
            responses.map(str::to_owned),
        ));
        forward.others.push(("requestState", self.request_state.clone(), state.map(quote)));
        Self::clean(&forward.text())
    }
}

fn is_token(token: &RawValue) -> bool {
    let text = token.get();
    text.starts_with('"')
        || text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

/// The first name that stands twice.
pub(crate) fn twice(members: &Members<'_>) -> Option<String> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned())
}

#[derive(Debug)]
enum Token {
    Kept,
    Removed,
    Replaced(String),
}

/// Another member: its name, where it stands, and its new value, if it has one.
type Other = (&'static str, Option<Range<usize>>, Option<String>);

/// The parameters on their way to a server: what is not named here stays as the client wrote it.
#[derive(Debug)]
pub struct Forward<'a> {
    params: &'a CallParams,
    name: Option<String>,
    token: Token,
    trace_parent: Option<String>,
    meta: String,
    others: Vec<Other>,
}

impl Forward<'_> {
    /// The name that the server knows the function by.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(quote(name));
        self
    }

    /// The progress token that this gateway's connection to the server uses.
    #[must_use]
    pub fn progress_token(mut self, token: u64) -> Self {
        self.token = Token::Replaced(token.to_string());
        self
    }

    /// The trace that the server counts this call in, instead of what the client wrote there.
    #[must_use]
    pub fn trace_parent(mut self, trace_parent: &str) -> Self {
        self.trace_parent = Some(quote(trace_parent));
        self
    }

    /// No progress is asked for.
    #[must_use]
    pub fn without_progress(mut self) -> Self {
        self.token = Token::Removed;
        self
    }

    /// Other arguments than the client's: the text of an object.
    #[must_use]
    pub fn arguments(mut self, arguments: &RawValue) -> Self {
        let at = self.params.arguments.clone();
        self.others.push(("arguments", at, Some(arguments.get().to_owned())));
        self
    }

    /// Adds a member to `_meta`. The client can have none of this name where it is under `oz0/`.
    #[must_use]
    pub fn meta(mut self, name: &str, value: &RawValue) -> Self {
        self.meta.push_str(&quote(name));
        self.meta.push(':');
        self.meta.push_str(value.get());
        self.meta.push(',');
        self
    }

    /// Tells a server of the modern era which log messages a client of the legacy era wants, which has said so on its
    /// connection ([`Call::log_level`](super::Call::log_level)).
    #[must_use]
    pub fn log_level(self, level: Level) -> Self {
        let level = RawValue::from_string(quote(level.name())).expect("a quoted name is JSON");
        self.meta(LOG_LEVEL, &level)
    }

    /// The text of the parameters.
    pub fn text(&self) -> String {
        let params = self.params;
        let mut splice = Splice::new(&params.text);
        let mut edit = |range: Range<usize>, with: String| {
            splice.replace(range, with).expect("the parts of one object do not overlap");
        };
        if let Some(name) = &self.name {
            edit(params.name_at.clone(), name.clone());
        }
        let mut added = self.meta.trim_end_matches(',').to_owned();
        match (&self.trace_parent, &params.trace_parent) {
            (Some(trace), Some(range)) => edit(range.clone(), trace.clone()),
            (Some(trace), None) => {
                let comma = if added.is_empty() { "" } else { "," };
                added = format!(r#""{TRACE_PARENT}":{trace}{comma}{added}"#);
            }
            (None, _) => {}
        }
        match (&self.token, &params.progress_token) {
            (Token::Replaced(token), Some(range)) => edit(range.clone(), token.clone()),
            (Token::Replaced(token), None) => {
                let comma = if added.is_empty() { "" } else { "," };
                added = format!(r#""progressToken":{token}{comma}{added}"#);
            }
            (Token::Removed, Some(_)) => {
                if let (Some(meta), Some(at)) = (params.meta(), &params.meta)
                    && let Ok(members) = Members::read(meta)
                {
                    for range in removals(meta, &members, |name| name == "progressToken") {
                        edit(at.start + range.start..at.start + range.end, String::new());
                    }
                }
            }
            (Token::Kept, _) | (Token::Removed, None) => {}
        }
        if !added.is_empty() {
            match &params.meta {
                Some(range) => {
                    // A removed token can leave nothing behind it, and then no comma may follow.
                    let removed = matches!(self.token, Token::Removed);
                    let stays = Members::read(&params.text[range.clone()]).is_ok_and(|members| {
                        members.iter().any(|(name, _)| !(removed && name == "progressToken"))
                    });
                    let comma = if stays { "," } else { "" };
                    edit(range.start + 1..range.start + 1, added + comma);
                }
                None => {
                    let (at, text) = insertion(&params.text, "_meta", &format!("{{{added}}}"));
                    edit(at..at, text);
                }
            }
        }
        for (name, range, value) in &self.others {
            match (range, value) {
                (Some(range), Some(value)) => edit(range.clone(), value.clone()),
                (None, Some(value)) => {
                    let (at, text) = insertion(&params.text, name, value);
                    edit(at..at, text);
                }
                (_, None) => {}
            }
        }
        let gone = |member: &str| {
            self.others.iter().any(|(name, _, value)| value.is_none() && *name == member)
        };
        if self.others.iter().any(|(_, range, value)| range.is_some() && value.is_none())
            && let Ok(members) = Members::read(&params.text)
        {
            for range in removals(&params.text, &members, gone) {
                edit(range, String::new());
            }
        }
        splice.apply()
    }

    /// The parameters, for [`Client::request`](crate::Client::request).
    pub fn build(&self) -> Box<RawValue> {
        RawValue::from_string(self.text()).expect("splices of JSON into JSON are JSON")
    }
}

/// Where keys under `oz0/` stand in the `_meta` of a result or of a notification's parameters, and of the content
/// blocks in it: only this gateway may speak under that name.
pub(crate) fn ours_in(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    if !may_name_ours(text) {
        return out;
    }
    let object = |value: &str, out: &mut Vec<Range<usize>>| {
        let Ok(members) = Members::read(value) else { return };
        // Repeated names included: whichever a client reads, none is ours.
        for (name, meta) in members.iter() {
            if name == "_meta"
                && let Ok(inner) = Members::read(meta.get())
            {
                let base = range_in(text, meta.get()).start;
                let cut = removals(meta.get(), &inner, |name| name.starts_with(OURS));
                out.extend(cut.into_iter().map(|range| base + range.start..base + range.end));
            }
        }
    };
    object(text, &mut out);
    let Ok(members) = Members::read(text) else { return out };
    for (_, content) in members.iter().filter(|(name, _)| *name == "content") {
        let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content.get()) else { continue };
        for block in blocks {
            object(block.get(), &mut out);
            let Ok(inner) = Members::read(block.get()) else { continue };
            for (_, resource) in inner.iter().filter(|(name, _)| *name == "resource") {
                object(resource.get(), &mut out);
            }
        }
    }
    out
}
