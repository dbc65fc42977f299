//! Opening a connection in the right era.
//!
//! A server of the modern era answers `server/discover`, one of the legacy era `initialize`, and one of both is taken
//! for modern. A server that is silent at the first has two reasons: it ignores what it does not know, as some legacy
//! servers do, or it has not started yet. Which one shows only later, and the era must not follow how busy a machine
//! is. So after a silence `initialize` is sent *as well*, and the answers decide, whenever they come:
//!
//! | `server/discover` | `initialize` | the server is |
//! |---|---|---|
//! | a version we speak | refused with an error | modern, on this connection |
//! | a version we speak | answered, or silence | modern; it may have taken the connection for a legacy one: [`ConnectError::Reopen`] |
//! | an error | answered | legacy |
//! | silence | answered | legacy, after a short grace |
//! | silence | refused as only a modern server does | modern: [`ConnectError::Reopen`] |
//! | silence | silence | silent: an error |

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::client::{Carrier, NO_PARAMS, Wire};
use crate::error::{ConnectError, Fault, RpcError, Step, shown};
use crate::listing::ServerInfo;
use crate::message::{self, Members, string};
use crate::options::EraChoice;
use crate::version::{Era, ProtocolVersion};

/// JSON-RPC's own codes and those that 2026-07-28 reserves for itself (its section on errors).
const METHOD_NOT_FOUND: i64 = -32601;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a server that answered one of two messages is given for the other. It has started by then, and reads
/// both in a row.
const GRACE: Duration = Duration::from_secs(1);

/// What opening a connection found out.
pub(crate) struct Agreement {
    pub(crate) version: ProtocolVersion,
    pub(crate) info: ServerInfo,
}

/// What the modern probe showed.
enum Discovery {
    Modern(Agreement),
    /// The server said so, and how.
    Legacy(String),
    /// It said nothing, or nothing that tells.
    Unclear(Fault),
}

/// The answer to `initialize`, or what went wrong and where on the way to it.
type Greeting = Result<Box<RawValue>, (Step, Fault)>;

/// Which of two messages was answered first.
enum First {
    Discovery(Result<Discovery, ConnectError>),
    Initialize(Greeting),
}

fn failed(step: Step, fault: Fault) -> ConnectError {
    ConnectError::Handshake { step, fault }
}

impl Wire {
    pub(crate) async fn open(&self) -> Result<Agreement, ConnectError> {
        match self.options.era {
            EraChoice::Legacy => self.initialize().await,
            EraChoice::Modern => match self.discover().await? {
                Discovery::Modern(agreement) => Ok(agreement),
                Discovery::Legacy(detail) => {
                    Err(ConnectError::WrongEra { asked: Era::Modern, found: Era::Legacy, detail })
                }
                Discovery::Unclear(fault) => Err(failed(Step::Discover, fault)),
            },
            EraChoice::Probe => self.probe().await,
        }
    }

    async fn probe(&self) -> Result<Agreement, ConnectError> {
        let connect = self.options.timeouts.connect;
        // A server that is silent at one of them shall have time for the other.
        let silence = self.options.timeouts.probe.min(connect / 2);
        let mut discovery = pin!(self.discover());
        match timeout(silence, &mut discovery).await {
            Ok(Ok(Discovery::Modern(agreement))) => Ok(agreement),
            Ok(Ok(Discovery::Legacy(_) | Discovery::Unclear(_))) => self.initialize().await,
            Ok(Err(error)) => Err(error),
            Err(_) => self.ask_both(discovery, connect.saturating_sub(silence)).await,
        }
    }

    /// Sends `initialize` beside a `server/discover` that waits, and goes by the answers.
    async fn ask_both(
        &self,
        mut discovery: Pin<&mut impl Future<Output = Result<Discovery, ConnectError>>>,
        limit: Duration,
    ) -> Result<Agreement, ConnectError> {
        let params = self.initialize_params();
        let mut initialize = pin!(self.ask_initialize(&params, limit));
        let first = tokio::select! {
            biased;
            found = &mut discovery => First::Discovery(found),
            answer = &mut initialize => First::Initialize(answer),
        };
        // Both pending answers end with their own time-outs, so nothing below waits for ever.
        let (found, answer) = match first {
            First::Discovery(Ok(Discovery::Modern(agreement))) => {
                let answer = timeout(GRACE, initialize).await.ok();
                return self.modern_after_all(agreement, answer.as_ref());
            }
            First::Discovery(found) => (Some(found?), initialize.await),
            First::Initialize(answer) => match timeout(GRACE, discovery).await {
                Ok(Ok(Discovery::Modern(agreement))) => {
                    return self.modern_after_all(agreement, Some(&answer));
                }
                Ok(found) => (Some(found?), answer),
                Err(_) => (None, answer),
            },
        };
        let was_silent = matches!(found, None | Some(Discovery::Unclear(Fault::TimedOut { .. })));
        match answer {
            Err((Step::Initialize, Fault::TimedOut { note, .. })) if was_silent => {
                let after = self.options.timeouts.connect;
                Err(failed(Step::Both, Fault::TimedOut { after, note }))
            }
            Err((_, Fault::Answered(error))) if was_silent && is_modern_refusal(&error) => {
                let detail = format!("initialize: {error}");
                Err(ConnectError::Reopen { era: Era::Modern, detail })
            }
            answer => match self.greet(&params, answer).await {
                Err(ConnectError::WrongEra { found: Era::Modern, detail, .. }) if was_silent => {
                    Err(ConnectError::Reopen { era: Era::Modern, detail })
                }
                greeted => greeted,
            },
        }
    }

    /// The server proved to be modern, and was sent `initialize` as well.
    fn modern_after_all(
        &self,
        agreement: Agreement,
        answer: Option<&Greeting>,
    ) -> Result<Agreement, ConnectError> {
        if let Some(Err((_, Fault::Answered(_)))) = answer {
            // Refused, so it changed nothing.
            self.core.agree(Some(agreement.version));
            return Ok(agreement);
        }
        let detail = format!("it answered server/discover with {}", agreement.version);
        Err(ConnectError::Reopen { era: Era::Modern, detail })
    }

    /// Asks in the modern way.
    async fn discover(&self) -> Result<Discovery, ConnectError> {
        let version = ProtocolVersion::LATEST_MODERN;
        // Held from here on, so that the reader judges what comes right behind the answer by the right rules.
        self.core.agree(Some(version));
        let limit = self.options.timeouts.connect;
        let result =
            match self.call(Some(version), "server/discover", NO_PARAMS, limit, false).await {
                Ok(result) => result,
                Err(fault) => return Self::without_discovery(fault),
            };
        let Ok(members) = Members::read(result.get()) else {
            return Ok(Discovery::Unclear(Fault::Malformed("its result is no object".to_owned())));
        };
        let Some(offered) = members.get("supportedVersions").and_then(texts) else {
            let fault = Fault::Malformed("its result has no `supportedVersions`".to_owned());
            return Ok(Discovery::Unclear(fault));
        };
        Ok(match best(&offered, Era::Modern) {
            Some(version) => {
                self.core.agree(Some(version));
                Discovery::Modern(Agreement { version, info: ServerInfo::read(&result) })
            }
            None => Self::offered(&offered)?,
        })
    }

    fn without_discovery(fault: Fault) -> Result<Discovery, ConnectError> {
        match fault {
            Fault::Answered(error) if error.code == UNSUPPORTED_VERSION => {
                let offered = error
                    .data
                    .as_ref()
                    .and_then(|data| Members::read(data.get()).ok())
                    .and_then(|data| data.get("supported").and_then(texts))
                    .unwrap_or_default();
                Self::offered(&offered)
            }
            Fault::Answered(error) if error.code == METHOD_NOT_FOUND => {
                Ok(Discovery::Legacy(format!("server/discover: {error}")))
            }
            // Errors that only a modern server has, and what another first message would not change.
            Fault::Answered(RpcError { code: HEADER_MISMATCH | MISSING_CAPABILITY, .. })
            | Fault::Closed(_)
            | Fault::Redirect { .. }
            | Fault::Unreachable(_)
            | Fault::Params(_)
            | Fault::Busy { .. }
            | Fault::Status { status: 401 | 403 | 407 | 429, .. } => {
                Err(failed(Step::Discover, fault))
            }
            fault => Ok(Discovery::Unclear(fault)),
        }
    }

    /// The server named its versions, and our modern one is not among them.
    fn offered(offered: &[String]) -> Result<Discovery, ConnectError> {
        if best(offered, Era::Legacy).is_some() {
            return Ok(Discovery::Legacy(format!("it offers {}", shown(&offered.join(", "), 200))));
        }
        Err(unknown(offered))
    }

    /// Opens in the legacy way.
    async fn initialize(&self) -> Result<Agreement, ConnectError> {
        let params = self.initialize_params();
        let limit = self.options.timeouts.connect;
        let answer = self.ask_initialize(&params, limit).await;
        self.greet(&params, answer).await
    }

    fn initialize_params(&self) -> String {
        let identity = self.options.identity;
        format!(
            r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}}"#,
            ProtocolVersion::LATEST_LEGACY,
            identity.capabilities,
            identity.client_info()
        )
    }

    async fn ask_initialize(&self, params: &str, limit: Duration) -> Greeting {
        self.core.agree(None);
        let ask = || self.call(None, "initialize", params, limit, false);
        let fault = match (ask().await, &self.carrier) {
            (Ok(result), _) => return Ok(result),
            (Err(fault), Carrier::Http(http)) if may_lack_streamable_http(&fault) => {
                match timeout(limit, http.two_endpoints(&self.core)).await {
                    Ok(Ok(true)) => return ask().await.map_err(|fault| (Step::Initialize, fault)),
                    Ok(Ok(false)) => fault,
                    Ok(Err(fault)) => return Err((Step::Endpoint, fault)),
                    Err(_) => {
                        let note = self.core.note();
                        return Err((Step::Endpoint, Fault::TimedOut { after: limit, note }));
                    }
                }
            }
            (Err(fault), _) => fault,
        };
        Err((Step::Initialize, fault))
    }

    /// Reads the answer to `initialize` and confirms it.
    async fn greet(&self, params: &str, answer: Greeting) -> Result<Agreement, ConnectError> {
        let result = match answer {
            Ok(result) => result,
            Err((_, Fault::Answered(error))) if error.code == UNSUPPORTED_VERSION => {
                return Err(ConnectError::WrongEra {
                    asked: Era::Legacy,
                    found: Era::Modern,
                    detail: format!("initialize: {error}"),
                });
            }
            Err((step, fault)) => return Err(failed(step, fault)),
        };
        let version = chosen(&result)?;
        self.core.agree(Some(version));
        let limit = self.options.timeouts.connect;
        let text = message::notification("notifications/initialized", None);
        match &self.carrier {
            Carrier::Lines => timeout(limit, self.core.send(text)).await,
            Carrier::Http(http) => {
                http.initialized(version, params);
                timeout(limit, http.tell(text)).await
            }
        }
        .unwrap_or(Err(Fault::TimedOut { after: limit, note: String::new() }))
        .map_err(|fault| failed(Step::Initialized, fault))?;
        Ok(Agreement { version, info: ServerInfo::read(&result) })
    }
}

/// The version that a server answered `initialize` with.
fn chosen(result: &RawValue) -> Result<ProtocolVersion, ConnectError> {
    let malformed = |what: &str| failed(Step::Initialize, Fault::Malformed(what.to_owned()));
    let members = Members::read(result.get()).map_err(|_| malformed("its result is no object"))?;
    if members.repeated(&["protocolVersion"]).is_some() {
        return Err(malformed("`protocolVersion` of its result stands twice"));
    }
    let named = members
        .get("protocolVersion")
        .and_then(string)
        .ok_or_else(|| malformed("its result has no `protocolVersion`"))?;
    match ProtocolVersion::known(&named) {
        Some(version) if version.era() == Era::Legacy => Ok(version),
        Some(version) => Err(ConnectError::WrongEra {
            asked: Era::Legacy,
            found: Era::Modern,
            detail: format!("it answered initialize with {version}, which has none"),
        }),
        None => Err(unknown(&[named.into_owned()])),
    }
}

/// Whether only a server without `initialize` refuses it like this.
fn is_modern_refusal(error: &RpcError) -> bool {
    matches!(
        error.code,
        METHOD_NOT_FOUND | HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION
    )
}

/// A refusal by servers from before 2025-03-26, where a GET opened the stream.
fn may_lack_streamable_http(fault: &Fault) -> bool {
    matches!(fault, Fault::Status { status: 400 | 404 | 405 | 406 | 410 | 415 | 501, .. })
}

fn unknown(offered: &[String]) -> ConnectError {
    let offered = offered.iter().take(16).map(|version| shown(version, 40)).collect();
    ConnectError::UnknownVersion { offered }
}

/// The newest of these versions that is known and of this era.
fn best(offered: &[String], era: Era) -> Option<ProtocolVersion> {
    offered
        .iter()
        .filter_map(|text| ProtocolVersion::known(text))
        .filter(|version| version.era() == era)
        .max()
}

fn texts(array: &RawValue) -> Option<Vec<String>> {
    serde_json::from_str(array.get()).ok()
}
