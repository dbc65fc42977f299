//! The console: an edge's pages for people.
//!
//! Somebody opens the address that `oz0 up` prints, signs in with their token, sees at a glance whether anything waits for
//! them, reads exactly what changed, and decides. The pages are made on the server, from what the edge's own functions answer
//! ([`Desk`]), and work without a script; the one script there is follows what happens elsewhere.
//!
//! Everything that is shown was written by somebody whom nobody has approved yet. So text comes to a page in two ways only:
//! through a template, which escapes markup, or through [`mod@text`], which marks the characters that nobody sees as well. No page
//! holds a script or a style of its own, and its `Content-Security-Policy` allows none.
//!
//! Style sheet, scripts and templates are part of the program: no build step, and no request leaves the machine.

mod approvals;
mod assets;
mod attempts;
mod audit;
mod call;
mod card;
mod change;
mod events;
mod form;
mod function;
mod home;
mod nodes;
mod page;
mod plugin;
mod plugins;
mod schema;
mod session;
mod sign_in;
mod text;
mod time;
mod tools;

use std::sync::Arc;

use axum::Router;
use oz0_edge::{Desk, Edge};

use crate::attempts::Attempts;
use crate::session::Sessions;

/// What every page is made from.
#[derive(Clone)]
struct Console {
    desk: Desk,
    sessions: Arc<Sessions>,
    attempts: Arc<Attempts>,
}

/// The pages of an edge, to be served beside its API.
pub fn pages(edge: &Edge) -> Router {
    let console = Console { desk: edge.desk(), sessions: Arc::default(), attempts: Arc::default() };
    let pages = [
        sign_in::routes(),
        home::routes(),
        plugins::routes(),
        plugin::routes(),
        tools::routes(),
        function::routes(),
        call::routes(),
        approvals::routes(),
        nodes::routes(),
        audit::routes(),
        events::routes(),
    ];
    pages
        .into_iter()
        .fold(Router::new(), Router::merge)
        .layer(axum::middleware::from_fn(page::harden))
        .merge(assets::routes())
        .with_state(console)
}
