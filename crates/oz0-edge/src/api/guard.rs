//! `Host` and `Origin` on TCP: what a browser is tricked into sending is not answered.
//!
//! A page of another site can make a browser talk to a port on loopback, and by rebinding a name of
//! its own even read the answers. Such a request has that name in `Host`, or that site in `Origin`.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use oz0_api::{Code, Problem};
use oz0_serve::Peer;
use oz0_serve::guard::Unclear;
use oz0_serve::proxy::forwarded;
use url::Url;

use super::{Answer, Api};
use crate::serve::{Front, Surface, Way};

pub(super) async fn check(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let way = match &api.surface {
        Surface::Local => Way { client: None, secure: false },
        Surface::Tcp(front) => match admit(front, &request) {
            Ok(way) => way,
            Err(problem) => return Answer::from(problem).into_response(),
        },
    };
    request.extensions_mut().insert(way);
    next.run(request).await
}

/// Whether a request came by a name of this edge and from no page of another site, and how it came.
fn admit(front: &Front, request: &Request) -> Result<Way, Problem> {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer(None));
    let said = forwarded(peer, request.headers(), &front.proxies).map_err(|Unclear| {
        Problem::new(Code::WrongOrigin, "what the proxy in front says of the request is malformed")
    })?;
    let public = front.public.as_ref();
    let served = |host: &str| {
        is_loopback(host)
            || front.hosts.contains(host)
            || public.is_some_and(|url| url.host_str() == Some(host))
    };
    let authority = request.uri().authority().map(ToString::to_string);
    judge(request.headers(), authority, said.host, public, served)?;
    let secure =
        said.secure.unwrap_or(front.tls || public.is_some_and(|url| url.scheme() == "https"));
    Ok(Way { client: said.client, secure })
}

fn judge(
    headers: &HeaderMap,
    authority: Option<String>,
    forwarded: Option<String>,
    public: Option<&Url>,
    served: impl Fn(&str) -> bool,
) -> Result<(), Problem> {
    let wrong = |message: String| Problem::new(Code::WrongOrigin, message);
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next(), authority) {
        // Who names two hosts is answered by neither: of what reads one, something before or behind may read the other.
        (Some(host), None, authority) => host
            .to_str()
            .ok()
            .filter(|host| authority.is_none_or(|other| other.eq_ignore_ascii_case(host)))
            .map(str::to_owned),
        (None, None, Some(authority)) => Some(authority),
        _ => None,
    };
    let host = host.ok_or_else(|| wrong("the request needs one `Host`".to_owned()))?;
    // What the browser named, where a proxy that is believed put another name in its place.
    let host = forwarded.unwrap_or(host);
    let name = split(&host).ok_or_else(|| wrong("the request's `Host` is malformed".to_owned()))?;
    if !served(&name) {
        return Err(wrong(format!(
            "this edge is not `{}`",
            oz0_listing::escape::line_within(&name, 80)
        ))
        .hint("name the hosts that it is reached by when it is started"));
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (origin, more) = (origins.next(), origins.next());
    if more.is_some() {
        return Err(wrong("the request has more than one `Origin`".to_owned()));
    }
    let Some(origin) = origin else { return Ok(()) };
    let own = origin.to_str().is_ok_and(|origin| {
        ["http://", "https://"].iter().any(|scheme| {
            origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(&host))
        }) || public.is_some_and(|url| url.origin().ascii_serialization() == origin)
    });
    if own {
        Ok(())
    } else {
        Err(wrong("the request comes from a page of another site".to_owned()))
    }
}

/// A `Host` without its port, in lower case.
fn split(host: &str) -> Option<String> {
    let url = url::Url::parse(&format!("http://{host}/")).ok()?;
    let plain = url.path() == "/" && url.username().is_empty() && url.password().is_none();
    let host = url.host_str().filter(|_| plain && url.query().is_none())?;
    Some(host.to_owned())
}

fn is_loopback(host: &str) -> bool {
    match url::Host::parse(host) {
        Ok(url::Host::Domain(name)) => name == "localhost",
        Ok(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Ok(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Err(_) => false,
    }
}
