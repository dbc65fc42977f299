//! The protocol without a transport: which request is answered how, in which era.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use super::codes;
use super::exchange::{ASIDES, Body, Exchange, Outcome, Step};
use super::gateway::{Asker, Call, Functions, Gateway, Level, Peer, Principal};
use super::known::Known;
use super::modern::{Listening, ModernCall};
use super::options::ServerOptions;
use super::params::{
    CLIENT_CAPABILITIES, CLIENT_INFO, CallParams, LOG_LEVEL, PROTOCOL_VERSION, twice,
};
use super::parked::Parked;
use super::rounds;
use super::seal::Seal;
use crate::error::RpcError;
use crate::message::{Members, quote, string};
use crate::version::{Era, ProtocolVersion};

pub(crate) struct Engine<G> {
    pub(crate) gateway: Arc<G>,
    pub(crate) options: ServerOptions,
    pub(crate) seal: Seal,
    pub(crate) parked: Parked,
    /// Turns true once, when the server is shut down.
    pub(crate) closing: watch::Sender<bool>,
}

/// How a request is answered.
pub(crate) enum Started {
    /// At once.
    Now(Outcome),
    /// From now on log messages of this level are sent.
    Level(Level),
    /// After a while.
    Later(Later),
}

/// A request whose answer takes a while.
pub(crate) enum Later {
    Exchange(Exchange),
    Modern(Box<ModernCall>),
    Listen(Listening),
}

impl Later {
    /// The next step; the last one is [`Step::Done`]. A modern client is never asked in this way.
    pub(crate) async fn next<G: Gateway>(&mut self, engine: &Engine<G>) -> Step {
        match self {
            Self::Exchange(exchange) => exchange.next().await,
            Self::Modern(call) => call.next(engine).await,
            Self::Listen(listening) => listening.next().await,
        }
    }
}

impl<G: Gateway> Engine<G> {
    pub(crate) fn new(gateway: Arc<G>, options: ServerOptions) -> Self {
        Self {
            gateway,
            seal: Seal::new(options.key),
            parked: Parked::new(options.limits.parked),
            options,
            closing: watch::Sender::new(false),
        }
    }

    /// Answers `initialize`.
    pub(crate) fn initialize(
        &self,
        principal: Principal,
        params: Option<&str>,
    ) -> Result<(Peer, String), RpcError> {
        let refuse = |why: &str| RpcError::new(codes::INVALID_PARAMS, format!("initialize: {why}"));
        let members = params
            .and_then(|params| Members::read(params).ok())
            .ok_or_else(|| refuse("its parameters are not an object"))?;
        if let Some(name) = members.repeated(&["protocolVersion", "capabilities", "clientInfo"]) {
            return Err(refuse(&format!("the member `{name}` stands twice")));
        }
        let asked = members
            .get("protocolVersion")
            .and_then(string)
            .ok_or_else(|| refuse("`protocolVersion` is not a string"))?;
        let version = ProtocolVersion::known(&asked)
            .filter(|version| version.era() == Era::Legacy)
            .unwrap_or(ProtocolVersion::LATEST_LEGACY);
        let mut peer =
            Peer::read(principal, version, members.get("clientInfo"), members.get("capabilities"));
        peer.known = Some(Arc::new(Known::nothing()));
        let result = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{},"serverInfo":{}{}}}"#,
            Self::CAPABILITIES,
            self.options.server_info(),
            self.instructions()
        );
        Ok((peer, result))
    }

    const CAPABILITIES: &str = r#"{"logging":{},"tools":{"listChanged":true}}"#;

    fn instructions(&self) -> String {
        match &self.options.instructions {
            Some(text) => format!(r#","instructions":{}"#, quote(text)),
            None => String::new(),
        }
    }

    fn discover(&self) -> String {
        let versions: Vec<String> = modern_versions().map(quote).collect();
        format!(
            r#"{{"resultType":"complete","supportedVersions":[{}],"capabilities":{},"ttlMs":{},"cacheScope":"public","_meta":{}{}}}"#,
            versions.join(","),
            Self::CAPABILITIES,
            self.options.ttl.as_millis(),
            self.meta(),
            self.instructions()
        )
    }

    fn meta(&self) -> String {
        format!(r#"{{"io.modelcontextprotocol/serverInfo":{}}}"#, self.options.server_info())
    }

    /// Begins to answer a request other than `initialize`. `level` is the log level of a legacy client.
    pub(crate) fn begin(
        self: &Arc<Self>,
        peer: &Arc<Peer>,
        level: Option<Level>,
        id: &str,
        method: &str,
        params: Option<&str>,
    ) -> Started {
        let era = peer.era();
        match (method, era) {
            ("tools/call", _) => self.call(peer, level, params),
            ("tools/list", _) => self.list(peer, params),
            ("ping", Era::Legacy) => Started::Now(Ok(Body::Own("{}".to_owned()))),
            ("logging/setLevel", Era::Legacy) => {
                let level = params
                    .and_then(|params| Members::read(params).ok())
                    .and_then(|members| members.get("level").and_then(string))
                    .and_then(|name| Level::read(&name));
                match level {
                    Some(level) => Started::Level(level),
                    None => refused("`level` is not a log level"),
                }
            }
            ("server/discover", Era::Modern) => Started::Now(Ok(Body::Own(self.discover()))),
            ("subscriptions/listen", Era::Modern) => self.listen(peer, id, params),
            _ => {
                let text = "Method not found".to_owned();
                Started::Now(Err(RpcError::new(codes::METHOD_NOT_FOUND, text)))
            }
        }
    }

    fn listen(&self, peer: &Peer, id: &str, params: Option<&str>) -> Started {
        let wanted = params
            .and_then(|params| Members::read(params).ok())
            .and_then(|members| members.get("notifications"))
            .and_then(|wanted| Members::read(wanted.get()).ok());
        match wanted {
            None => refused("`notifications` is not an object"),
            Some(wanted) => {
                let tools = wanted.get("toolsListChanged").is_some_and(|want| want.get() == "true");
                Started::Later(Later::Listen(Listening::new(self, peer, id, tools)))
            }
        }
    }

    fn list(self: &Arc<Self>, peer: &Arc<Peer>, params: Option<&str>) -> Started {
        let cursor = match params.map(Members::read) {
            None => None,
            Some(Err(_)) => return refused("the parameters of tools/list are not an object"),
            Some(Ok(members)) => {
                if members.repeated(&["cursor"]).is_some() {
                    return refused("the member `cursor` stands twice");
                }
                match members.get("cursor") {
                    None => None,
                    Some(cursor) => match string(cursor).as_deref().and_then(Cursor::read) {
                        Some(cursor) => Some(cursor),
                        None => return refused("Invalid cursor"),
                    },
                }
            }
        };
        let (engine, peer) = (Arc::clone(self), Arc::clone(peer));
        let (_, asides) = mpsc::channel(1);
        Started::Later(Later::Exchange(Exchange::new(None, asides, async move {
            let functions = engine.gateway.list(&peer.principal).await?;
            let page = engine.page(&functions, cursor, peer.era()).map(Body::Own)?;
            if let Some(known) = &peer.known {
                known.lists(functions.revision);
            }
            Ok(page)
        })))
    }

    fn page(
        &self,
        functions: &Functions,
        cursor: Option<Cursor>,
        era: Era,
    ) -> Result<String, RpcError> {
        let start = match cursor {
            None => 0,
            // A page of another listing would make a whole that nobody has approved.
            Some(cursor) if cursor.revision != functions.revision => {
                let why =
                    "Invalid cursor: the listing has changed since; list again from the start";
                return Err(RpcError::new(codes::INVALID_PARAMS, why));
            }
            Some(cursor) if cursor.at >= functions.items.len() => {
                return Err(RpcError::new(codes::INVALID_PARAMS, "Invalid cursor"));
            }
            Some(cursor) => cursor.at,
        };
        let end = functions.items.len().min(start.saturating_add(self.options.page.max(1)));
        let items = &functions.items[start..end];
        let size: usize = items.iter().map(|item| item.len() + 1).sum();
        let mut text = String::with_capacity(size + 512);
        text.push('{');
        if era == Era::Modern {
            let scope = if functions.public { "public" } else { "private" };
            let ttl = self.options.ttl.as_millis();
            text.push_str(r#""resultType":"complete","ttlMs":"#);
            text.push_str(&ttl.to_string());
            text.push_str(r#","cacheScope":""#);
            text.push_str(scope);
            text.push_str(r#"","_meta":"#);
            text.push_str(&self.meta());
            text.push(',');
        }
        text.push_str("\"tools\":[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(item);
        }
        text.push(']');
        if end < functions.items.len() {
            let next = Cursor { revision: functions.revision, at: end };
            text.push_str(r#","nextCursor":""#);
            text.push_str(&next.text());
            text.push('"');
        }
        text.push('}');
        Ok(text)
    }

    fn call(
        self: &Arc<Self>,
        peer: &Arc<Peer>,
        level: Option<Level>,
        params: Option<&str>,
    ) -> Started {
        let Some(text) = params else {
            return refused("tools/call needs parameters");
        };
        let params = match CallParams::read(text, peer.era()) {
            Ok(params) => params,
            Err(error) => return Started::Now(Err(error)),
        };
        match peer.era() {
            Era::Legacy => Started::Later(Later::Exchange(self.run(peer, level, params))),
            Era::Modern => self.modern(peer, level, params),
        }
    }

    /// Runs a call.
    pub(crate) fn run(
        self: &Arc<Self>,
        peer: &Arc<Peer>,
        level: Option<Level>,
        params: CallParams,
    ) -> Exchange {
        let (sender, asides) = mpsc::channel(ASIDES);
        let token = params.progress_token().map(str::to_owned);
        let call = Call {
            params: Arc::new(params),
            peer: Arc::clone(peer),
            asides: sender,
            ask: self.options.timeouts.ask,
            level,
            mark: Arc::default(),
        };
        let engine = Arc::clone(self);
        Exchange::new(token, asides, async move { engine.rounds(call).await.map(Body::Passed) })
    }

    /// Calls until there is a result that the client's era has.
    async fn rounds(&self, mut call: Call) -> Result<Box<RawValue>, RpcError> {
        for _ in 0..=self.options.limits.rounds {
            let result = self.gateway.call(call.clone()).await?;
            let Some(wanted) = rounds::Wanted::read(&result)? else { return Ok(result) };
            let peer = &call.peer;
            if peer.era() == Era::Modern {
                wanted.check(peer)?;
                let Some(state) = &wanted.state else { return Ok(result) };
                let sealed = self.seal.close(
                    &super::seal::State::Server(state.clone()),
                    &peer.principal,
                    &call.params,
                    self.state_life(),
                );
                return wanted.with_state(&sealed);
            }
            let asker: Asker = call.asker();
            let responses = wanted.ask(&asker).await?;
            let next = call.params.with(responses.as_deref(), wanted.state.as_deref());
            call.params = Arc::new(next.map_err(|why| RpcError::new(codes::INTERNAL, why))?);
        }
        Err(RpcError::new(
            codes::INTERNAL,
            format!("the server asked for input more than {} times", self.options.limits.rounds),
        ))
    }

    /// How long a modern client may take to come back.
    pub(crate) fn state_life(&self) -> Duration {
        self.options.timeouts.ask
    }

    /// What a modern request says of its client.
    pub(crate) fn modern_peer(
        principal: &Principal,
        params: Option<&str>,
    ) -> Result<(Peer, Option<Level>), RpcError> {
        let refuse = |why: String| RpcError::new(codes::INVALID_PARAMS, why);
        let envelope = Envelope::read(params).map_err(refuse)?;
        let asked = envelope
            .version
            .ok_or_else(|| refuse(format!("`_meta` lacks `{PROTOCOL_VERSION}`")))?;
        let version = ProtocolVersion::known(&asked)
            .filter(|version| version.era() == Era::Modern)
            .ok_or_else(|| unsupported(&asked))?;
        let capabilities = envelope
            .capabilities
            .filter(|capabilities| capabilities.get().starts_with('{'))
            .ok_or_else(|| refuse(format!("`_meta` lacks `{CLIENT_CAPABILITIES}`, an object")))?;
        let peer = Peer::read(principal.clone(), version, envelope.info, Some(capabilities));
        Ok((peer, envelope.level))
    }
}

/// What a modern request's `_meta` says of its client.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) version: Option<String>,
    info: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    level: Option<Level>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(params: Option<&'a str>) -> Result<Self, String> {
        let Some(params) = params else { return Ok(Self::default()) };
        let members =
            Members::read(params).map_err(|_| "the parameters are not an object".to_owned())?;
        if members.repeated(&["_meta"]).is_some() {
            return Err("the member `_meta` stands twice".to_owned());
        }
        let Some(meta) = members.get("_meta") else { return Ok(Self::default()) };
        let meta = Members::read(meta.get()).map_err(|_| "`_meta` is not an object".to_owned())?;
        if let Some(name) = twice(&meta) {
            return Err(format!("the member `{name}` of `_meta` stands twice"));
        }
        let version = match meta.get(PROTOCOL_VERSION) {
            None => None,
            Some(version) => Some(
                string(version)
                    .ok_or_else(|| format!("`{PROTOCOL_VERSION}` is not a string"))?
                    .into_owned(),
            ),
        };
        Ok(Self {
            version,
            info: meta.get(CLIENT_INFO),
            capabilities: meta.get(CLIENT_CAPABILITIES),
            level: meta.get(LOG_LEVEL).and_then(string).and_then(|name| Level::read(&name)),
        })
    }
}

pub(crate) fn modern_versions() -> impl Iterator<Item = &'static str> {
    ProtocolVersion::ALL
        .into_iter()
        .filter(|version| version.era() == Era::Modern)
        .map(ProtocolVersion::as_str)
}

/// -32022, with the versions that a modern request can name.
pub(crate) fn unsupported(asked: &str) -> RpcError {
    let versions: Vec<&str> = modern_versions().collect();
    let data = serde_json::json!({"supported": versions, "requested": asked});
    RpcError {
        code: codes::UNSUPPORTED_VERSION,
        message: "Unsupported protocol version".to_owned(),
        data: serde_json::value::to_raw_value(&data).ok(),
    }
}

fn refused(why: &str) -> Started {
    Started::Now(Err(RpcError::new(codes::INVALID_PARAMS, why)))
}

/// Where the next page begins, in which listing.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    revision: u64,
    at: usize,
}

impl Cursor {
    fn read(text: &str) -> Option<Self> {
        let (revision, at) = text.split_once('-')?;
        let cursor = Self {
            revision: u64::from_str_radix(revision, 16).ok()?,
            at: usize::from_str_radix(at, 16).ok()?,
        };
        (cursor.text() == text && cursor.at > 0).then_some(cursor)
    }

    fn text(self) -> String {
        format!("{:x}-{:x}", self.revision, self.at)
    }
}
