//! Who is signed in: kept in this process, and gone with it.
//!
//! A browser holds a cookie with 32 random bytes, which no script of a page reads (`HttpOnly`) and no page of another site sends
//! (`SameSite=Strict`). What it stands for is kept here, under its hash. A session ends with its token: each request asks whether
//! that still counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use oz0_api::{Code, Problem};
use oz0_edge::Person;
use oz0_edge::serve::Way;
use oz0_listing::Digest;
use url::form_urlencoded;

use crate::Console;
use crate::page::Failure;

/// How long somebody stays signed in.
pub(crate) const LASTS: Duration = Duration::from_hours(12);

/// Sessions at once; beyond, the one that began first ends.
const AT_ONCE: usize = 10_000;

/// The header of a request for a page that is open already.
const LIVE: &str = "oz0-live";

/// The longest form, in bytes.
const FORM: usize = 1024 * 1024;

/// A secret of so many random bytes, in hex.
fn random() -> Result<String, Problem> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Problem::new(Code::Internal, format!("the system gives no random bytes: {error}"))
    })?;
    Ok(Digest::from_bytes(bytes).hex())
}

#[derive(Clone)]
struct Session {
    person: Person,
    csrf: String,
    began: Instant,
    notice: Option<Notice>,
}

/// What came of something that was done, told on the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// Whether all of it was done.
    pub(crate) good: bool,
    pub(crate) lines: Vec<String>,
    /// What was not done because it is something else by now.
    pub(crate) anew: Vec<String>,
}

impl Notice {
    pub(crate) fn good(line: String) -> Self {
        Self { good: true, lines: vec![line], anew: Vec::new() }
    }
}

/// The sessions of this process.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<String, Session>>);

impl Sessions {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, session| session.began.elapsed() < LASTS);
        all
    }

    /// Begins one, and gives the secret that its cookie holds.
    pub(crate) fn begin(&self, person: Person) -> Result<String, Problem> {
        let (secret, csrf) = (random()?, random()?);
        let mut all = self.all();
        if all.len() >= AT_ONCE {
            let first = all.iter().min_by_key(|(_, session)| session.began);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                all.remove(&first);
            }
        }
        let session = Session { person, csrf, began: Instant::now(), notice: None };
        all.insert(Digest::of(&secret).hex(), session);
        Ok(secret)
    }

    fn find(&self, secret: &str) -> Option<Session> {
        self.all().get(&Digest::of(secret).hex()).cloned()
    }

    /// Keeps what is to be told on the next page.
    pub(crate) fn tell(&self, secret: &str, notice: Notice) {
        if let Some(session) = self.all().get_mut(&Digest::of(secret).hex()) {
            session.notice = Some(notice);
        }
    }

    /// What is to be told to somebody, once: on the page that they go to, and on no other that follows what happens.
    pub(crate) fn take_notice(&self, visitor: &Visitor) -> Option<Notice> {
        if visitor.live {
            return None;
        }
        self.all().get_mut(&Digest::of(&visitor.secret).hex())?.notice.take()
    }

    /// Ends one.
    pub(crate) fn end(&self, secret: &str) {
        self.all().remove(&Digest::of(secret).hex());
    }
}

/// The cookie's name at this address. Cookies of one host are those of all its ports, and two edges are not to sign each other's
/// people out.
pub(crate) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port);
    match port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(port) => format!("oz0_session_{port}"),
        None => "oz0_session".to_owned(),
    }
}

/// The secret of the cookie that a request has.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<String> {
    let name = cookie_name(headers);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut found = cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(of, _)| *of == name)
        .map(|(_, secret)| secret.to_owned());
    // Of two, one was put there by somebody else.
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// What sets the cookie, or takes it away.
pub(crate) fn set_cookie(headers: &HeaderMap, way: Way, secret: Option<&str>) -> HeaderValue {
    let name = cookie_name(headers);
    let (secret, age) = secret.map_or(("", 0), |secret| (secret, LASTS.as_secs()));
    let secure = if way.secure { "; Secure" } else { "" };
    let cookie =
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
    HeaderValue::from_str(&cookie).expect("a cookie of digits and names is a header's value")
}

/// Somebody who is signed in.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) person: Person,
    /// What each of their forms holds.
    pub(crate) csrf: String,
    pub(crate) secret: String,
    /// Whether a page that is open already asks how it would look now.
    live: bool,
}

impl FromRequestParts<Console> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let session = cookie(&parts.headers)
            .and_then(|secret| console.sessions.find(&secret).map(|session| (secret, session)));
        if let Some((secret, Session { person, csrf, .. })) = session {
            match console.desk.knows(&person).await {
                Ok(true) => {
                    let live = parts.headers.contains_key(LIVE);
                    return Ok(Self { person, csrf, secret, live });
                }
                Ok(false) => console.sessions.end(&secret),
                Err(problem) => return Err(Failure::from(problem).into_response()),
            }
        }
        let back = if parts.method == Method::GET {
            parts.uri.path_and_query().map_or("/", |path| path.as_str())
        } else {
            "/"
        };
        let next: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
        Err(Redirect::to(&format!("/sign-in?next={next}")).into_response())
    }
}

/// A form that somebody sent who is signed in, from a page of ours.
pub(crate) struct Sent {
    pub(crate) visitor: Visitor,
    fields: Vec<(String, String)>,
}

impl Sent {
    /// A field's value, where it has one.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every value of a field.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Every field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromRequest<Console> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, console: &Console) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, console).await?;
        let fields = fields(&parts.headers, body)
            .await
            .map_err(|problem| Failure::of(&visitor, problem).into_response())?;
        let sent = Self { visitor, fields };
        // By their hashes: how long it takes says nothing of how much of it is right.
        let shown = sent.get("csrf").map(|shown| Digest::of(shown).hex());
        if shown != Some(Digest::of(&sent.visitor.csrf).hex()) {
            let problem = Problem::new(
                Code::WrongOrigin,
                "the form was not sent from this console as you are signed in now",
            )
            .hint("go back, load the page anew, and send it again");
            return Err(Failure::of(&sent.visitor, problem).into_response());
        }
        Ok(sent)
    }
}

/// A form's fields, in their order.
pub(crate) async fn fields(
    headers: &HeaderMap,
    body: axum::body::Body,
) -> Result<Vec<(String, String)>, Problem> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Problem::new(Code::WrongMediaType, "this takes a form"));
    }
    let read = tokio::time::timeout(Duration::from_secs(30), axum::body::to_bytes(body, FORM));
    let bytes = read
        .await
        .map_err(|_| Problem::new(Code::Malformed, "the form did not come within 30 s"))?
        .map_err(|_| Problem::new(Code::TooLarge, "the form has at most 1 MiB here"))?;
    let pairs = form_urlencoded::parse(&bytes);
    // A text area's line ends are CRLF on the wire, whatever was typed.
    Ok(pairs.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n"))).collect())
}
