//! `Host` and `Origin` on TCP: what a browser is tricked into sending is not answered.
//!
//! A page of another site can make a browser talk to a port on loopback, and by rebinding a name of
//! its own even read the answers. Such a request has that name in `Host`, or that site in `Origin`.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use oz0_api::{Code, Problem};

use super::{Answer, Api};
use crate::serve::Surface;

pub(super) async fn check(State(api): State<Api>, request: Request, next: Next) -> Response {
    if let Surface::Tcp { hosts } = &api.surface {
        let authority = request.uri().authority().map(ToString::to_string);
        let served = |host: &str| is_loopback(host) || hosts.contains(host);
        if let Err(problem) = judge(request.headers(), authority, served) {
            return Answer::from(problem).into_response();
        }
    }
    next.run(request).await
}

fn judge(
    headers: &HeaderMap,
    authority: Option<String>,
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
        })
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
