//! What all pages have in common: the frame around them, their headers, and what is shown where something was refused.

use askama::Template;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use oz0_api::{Code, Problem};

use crate::Console;
use crate::assets;
use crate::session::Visitor;

/// No script and no style but the program's own, nothing from anywhere else, and in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Puts the headers of a page on it.
pub(crate) async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // `no-referrer` would have browsers send `Origin: null` with the forms.
    let own = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in own {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The part of the console that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Plugins,
    Tools,
    Approvals,
    Nodes,
    Audit,
    None,
}

/// A link at the head of each page.
pub(crate) struct Link {
    pub(crate) href: &'static str,
    pub(crate) name: &'static str,
    pub(crate) here: bool,
    /// How much waits there, and what that is.
    pub(crate) waits: i64,
    pub(crate) what: &'static str,
}

/// What is around a page.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) links: Vec<Link>,
    /// Who is signed in.
    pub(crate) visitor: Option<Visitor>,
    /// Whether it follows what happens.
    pub(crate) live: bool,
    pub(crate) css: String,
    pub(crate) js: String,
    pub(crate) htmx: String,
    pub(crate) icon: String,
}

impl Frame {
    fn bare(title: impl Into<String>, visitor: Option<Visitor>) -> Self {
        Self {
            title: title.into(),
            links: Vec::new(),
            visitor,
            live: false,
            css: assets::address("console.css"),
            js: assets::address("console.js"),
            htmx: assets::address("htmx.min.js"),
            icon: assets::address("icon.svg"),
        }
    }

    /// Of a page for somebody who is not signed in.
    pub(crate) fn outside(title: &str) -> Self {
        Self::bare(title, None)
    }

    /// Of a page for somebody who is.
    pub(crate) async fn new(
        console: &Console,
        visitor: &Visitor,
        section: Section,
        title: impl Into<String>,
    ) -> Result<Self, Failure> {
        let waiting = console.desk.waiting().await;
        let (changes, calls) = waiting.map_err(|problem| Failure::of(visitor, problem))?;
        Ok(Self {
            links: links(section, changes, calls),
            live: true,
            ..Self::bare(title, Some(visitor.clone()))
        })
    }

    /// Whether whoever looks may do something.
    pub(crate) fn may_act(&self) -> bool {
        self.visitor.as_ref().is_some_and(|visitor| visitor.person.may_act())
    }

    /// What each form holds.
    pub(crate) fn csrf(&self) -> &str {
        self.visitor.as_ref().map_or("", |visitor| &visitor.csrf)
    }
}

fn links(section: Section, changes: i64, calls: i64) -> Vec<Link> {
    let link = |of, href, name, waits, what| Link { href, name, here: of == section, waits, what };
    vec![
        link(Section::Home, "/", "Home", 0, ""),
        link(Section::Plugins, "/plugins", "Plugins", changes, "waiting for approval"),
        link(Section::Tools, "/tools", "Tools and skills", 0, ""),
        link(Section::Approvals, "/approvals", "Approvals", calls, "waiting for a decision"),
        link(Section::Nodes, "/nodes", "Nodes", 0, ""),
        link(Section::Audit, "/audit", "Audit", 0, ""),
    ]
}

/// Something that was not done, as a page.
pub(crate) struct Failure {
    pub(crate) problem: Problem,
    pub(crate) visitor: Option<Box<Visitor>>,
}

impl Failure {
    pub(crate) fn of(visitor: &Visitor, problem: Problem) -> Self {
        Self { problem, visitor: Some(Box::new(visitor.clone())) }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { problem, visitor: None }
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    problem: Problem,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self { problem, visitor } = self;
        let status = StatusCode::from_u16(problem.code.status());
        let title = match problem.code {
            Code::NotFound => "Not found",
            Code::Forbidden => "Not allowed",
            Code::Stale | Code::Conflict => "Not done",
            _ => "That did not work",
        };
        let known = visitor.is_some();
        let mut frame = Frame::bare(title, visitor.map(|visitor| *visitor));
        if known {
            frame.links = links(Section::None, 0, 0);
        }
        let page = show(&ProblemPage { frame, problem });
        (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), page).into_response()
    }
}

/// A page, made.
pub(crate) fn show(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(target: oz0_telemetry::target::EDGE, %error, "page failed");
            (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made").into_response()
        }
    }
}

/// So many of a list at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pages {
    /// From 1.
    pub(crate) page: usize,
    pub(crate) last: usize,
    size: usize,
    pub(crate) total: usize,
}

impl Pages {
    pub(crate) fn new(total: usize, size: usize, asked: Option<usize>) -> Self {
        let last = total.div_ceil(size).max(1);
        Self { page: asked.unwrap_or(1).clamp(1, last), last, size, total }
    }

    /// What of the list is on this page.
    pub(crate) fn cut<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let from = (self.page - 1) * self.size;
        let to = (from + self.size).min(all.len());
        all.get(from..to).unwrap_or_default()
    }

    /// The number of the first one here, from 1.
    pub(crate) fn first(&self) -> usize {
        ((self.page - 1) * self.size + 1).min(self.total)
    }

    /// The number of the last one here.
    pub(crate) fn end(&self) -> usize {
        (self.page * self.size).min(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_all_of_a_list_and_no_more() {
        let list: Vec<usize> = (0..10).collect();
        let cut = |page| Pages::new(list.len(), 4, page).cut(&list).to_vec();
        assert_eq!(cut(None), [0, 1, 2, 3]);
        assert_eq!(cut(Some(3)), [8, 9]);
        assert_eq!(cut(Some(99)), [8, 9]);
        assert_eq!(cut(Some(0)), [0, 1, 2, 3]);
        let none = Pages::new(0, 4, None);
        assert_eq!((none.first(), none.end(), none.last), (0, 0, 1));
        assert_eq!(none.cut::<u8>(&[]), [0_u8; 0]);
    }
}
