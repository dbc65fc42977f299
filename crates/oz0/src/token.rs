//! `oz0 token`: tokens of people and MCP clients.

use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::token::{CreateToken, TokenInfo, TokenKind};
use serde_json::json;

use crate::cli::{self, Token};
use crate::config::Settings;
use crate::edge;
use crate::exit::Exit;
use crate::moment;
use crate::output::Output;

pub(crate) fn run(command: &Token, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| match command {
        Token::Create(arguments) => {
            let created = client.create_token(&wanted(arguments)).await?;
            if arguments.json {
                output.json(&json!(created))?;
            } else {
                output.say(&format!(
                    "made a token for the {} {}; it is shown this once",
                    person(created.token.kind),
                    created.token.name
                ));
                output.data(&created.secret)?;
                if created.token.kind == TokenKind::Client {
                    output.say("the client shows it as a header: Authorization: Bearer TOKEN");
                }
            }
            Ok(Exit::Done)
        }
        Token::List { json: as_json } => {
            let tokens = client.tokens().await?;
            if *as_json {
                output.json(&json!(tokens))?;
            } else {
                output.data(&table(&tokens.tokens))?;
            }
            Ok(Exit::Done)
        }
        Token::Revoke { id } => {
            let token = client.revoke_token(id).await?;
            output.say(&format!(
                "revoked the token of the {} {}: it no longer works",
                person(token.kind),
                token.name
            ));
            Ok(Exit::Done)
        }
    })
}

fn wanted(arguments: &cli::CreateToken) -> CreateToken {
    let cli::CreateToken { client, admin, viewer, node, may_approve, .. } = arguments;
    let kinds = [
        (TokenKind::Client, client),
        (TokenKind::Admin, admin),
        (TokenKind::Viewer, viewer),
        (TokenKind::Join, node),
    ];
    let named = kinds.into_iter().find_map(|(kind, name)| Some((kind, name.as_ref()?)));
    let (kind, name) = named.unwrap_or_else(|| unreachable!("one of them is required"));
    CreateToken { kind, name: name.clone(), may_approve: *may_approve }
}

fn person(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Admin => "admin",
        TokenKind::Viewer => "viewer",
        TokenKind::Node => "node",
        TokenKind::Client => "MCP client",
        TokenKind::Join => "node to join as",
    }
}

/// One line a token; what it is first, so that a narrow terminal breaks the line where it matters least.
fn table(tokens: &[TokenInfo]) -> String {
    let width = tokens.iter().map(|token| token.name.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    for token in tokens {
        let _ = write!(
            text,
            "{}  {:<6}  {:<width$}  {}",
            token.id,
            token.kind.as_str(),
            token.name.as_str(),
            moment::shown(token.created_at)
        );
        if token.may_approve {
            text.push_str("  may approve");
        }
        match (token.revoked_at, token.expires_at) {
            (Some(at), _) => {
                let over = if token.kind == TokenKind::Join { "used" } else { "revoked" };
                let _ = write!(text, "  {over} {}", moment::shown(at));
            }
            (None, Some(at)) => {
                let _ = write!(text, "  until {}", moment::shown(at));
            }
            (None, None) => {}
        }
        text.push('\n');
    }
    text
}
