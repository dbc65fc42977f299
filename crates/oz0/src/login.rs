//! `oz0 login`: keeps a token for an edge, once the edge has said whose it is.

use std::io::{self, IsTerminal as _};

use anyhow::{Context, Result};
use oz0_api::token::TokenKind;
use oz0_api::{Client, ClientError};
use oz0_local::Credentials;

use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::output::Output;
use crate::terminal;

pub(crate) fn run(settings: &Settings, output: Output) -> Result<Exit> {
    let folder = settings.config().context("no place for tokens is known: set HOME")?;
    let path = Credentials::path(folder);
    // Read before anybody is asked for anything: what cannot be read would not be written over.
    let mut kept = Credentials::read(&path)?;
    edge::run(async {
        let (anyone, known_as) = match &settings.edge {
            Some(url) => (Client::tcp(url)?, url.clone()),
            None => {
                let socket = settings.data()?.socket();
                (Client::unix(&socket), Credentials::of_socket(&socket))
            }
        };
        anyone.healthy().await?;
        let token = read_token(&known_as)?;
        let who = anyone.with_token(&token).whoami().await?;
        let owner = who
            .token
            .ok_or_else(|| Refused::new(format!("{known_as} does not say whose token it is")))?;
        if !matches!(owner.kind, TokenKind::Admin | TokenKind::Viewer) {
            let whose = match owner.kind {
                TokenKind::Client => "an MCP client",
                _ => "a node",
            };
            return Err(Refused::new(format!(
                "this is the token of {whose}, which commands cannot use"
            ))
            .hint("make one for a person with: oz0 token create --admin NAME")
            .into());
        }
        kept.set(&known_as, &token);
        kept.write(&path)?;
        output.say(&format!(
            "with --edge {known_as}, or `edge = \"{known_as}\"` in config.toml, commands are {} there; the token is kept in {}",
            owner.name,
            path.display()
        ));
        Ok(Exit::Done)
    })
}

/// A token out of standard input, or one that is asked for.
pub(crate) fn read_token(edge: &str) -> Result<String> {
    let token = if io::stdin().is_terminal() {
        terminal::ask_hidden(&format!("Token for {edge}: "))
    } else {
        terminal::line()
    };
    let token = token.context("cannot read the token")?.unwrap_or_default();
    if token.is_empty() {
        return Err(WrongUsage(
            "no token was given: it is the line that `oz0 token create` prints".to_owned(),
        )
        .into());
    }
    if !token.chars().all(|c| c.is_ascii_graphic()) {
        return Err(ClientError::from(oz0_api::Problem::new(
            oz0_api::Code::Malformed,
            "the token holds characters that no token has",
        ))
        .into());
    }
    Ok(token)
}
