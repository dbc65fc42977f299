//! `oz0 connection`: accounts at outside systems.

mod oauth;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use anyhow::Result;
use oz0_api::credential::{
    Connect, Connected, ConnectionInfo, Connections, Grant, Revocation, Sensitive, With,
};
use oz0_api::plugin::ConnectionDescription;
use oz0_api::{Client, ConnectionName, SecretName};
use oz0_listing::escape;
use serde_json::json;

use crate::cli::{ConnectConnection, Connection, Of};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::moment;
use crate::output::Output;
use crate::secret;

pub(crate) fn run(command: &Connection, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        match command {
            Connection::Connect(arguments) => connect(&client, arguments, output).await?,
            Connection::List { json: as_json } => {
                let connections = client.connections().await?;
                if *as_json {
                    output.json(&json!(connections))?;
                } else if connections.connections.is_empty() {
                    output.say("no plugin declares a connection, and none is kept");
                } else {
                    output.data(&table(&connections))?;
                }
            }
            Connection::Disconnect { connection } => {
                let gone = client.disconnect(&connection.plugin, &connection.name).await?;
                let tokens = match gone.revocation {
                    Revocation::Revoked => "; its tokens are revoked".to_owned(),
                    Revocation::NotOffered => {
                        "; what it was connected with is forgotten here, and counts at its system until it is ended there"
                            .to_owned()
                    }
                    Revocation::Failed { reason } => format!(
                        "; its tokens could not be revoked, and count at its system until they end: {}",
                        escape::line_within(&reason, 400)
                    ),
                };
                output.say(&format!("{connection} is not connected any more{tokens}"));
            }
        }
        Ok(Exit::Done)
    })
}

async fn connect(client: &Client, arguments: &ConnectConnection, output: Output) -> Result<()> {
    let of = &arguments.connection;
    let info = declared(client, of).await?;
    let description = info.description.clone().unwrap_or_default();
    let params: BTreeMap<String, String> = arguments.param.iter().cloned().collect();
    let by_server =
        arguments.oauth || arguments.client_credentials || arguments.token_url.is_some();
    let with = if by_server {
        let urls = filled(&info.urls, &description, &params);
        oauth::grant(arguments, &description, &urls, output).await?
    } else {
        if arguments.client_id.is_some()
            || arguments.issuer.is_some()
            || !arguments.scope.is_empty()
        {
            return Err(WrongUsage(
                "--client-id, --issuer and --scope go with --oauth or --client-credentials"
                    .to_owned(),
            )
            .into());
        }
        Grant::Secrets(secrets(&of.to_string(), &description)?)
    };
    let connected = client.connect(&of.plugin, &of.name, &Connect { params, with }).await?;
    output.say(&told(&connected));
    Ok(())
}

/// The connection, as a plugin that is installed declares it.
async fn declared(client: &Client, of: &Of<ConnectionName>) -> Result<ConnectionInfo> {
    let connections = client.connections().await?.connections;
    let found = connections.into_iter().find(|one| one.plugin == of.plugin && one.name == of.name);
    found.filter(|one| one.description.is_some()).ok_or_else(|| {
        Refused::new(format!("no installed plugin declares the connection {of}"))
            .hint("`oz0 connection list` shows the connections")
            .into()
    })
}

/// The secrets that a connection names: asked for one by one, or out of standard input.
fn secrets(
    connection: &str,
    description: &ConnectionDescription,
) -> Result<BTreeMap<SecretName, Sensitive>> {
    let names = &description.secrets;
    if io::stdin().is_terminal() || names.len() < 2 {
        return names.iter().map(|name| Ok((name.clone(), secret::read(name.as_str())?))).collect();
    }
    let text = secret::read(connection)?;
    serde_json::from_str(text.expose()).map_err(|_| {
        let names: Vec<&str> = names.iter().map(SecretName::as_str).collect();
        WrongUsage(format!(
            "{connection} has several secrets: standard input is a JSON object of {}",
            names.join(", ")
        ))
        .into()
    })
}

/// URLs with the values that their params are to have.
fn filled(
    urls: &BTreeSet<String>,
    description: &ConnectionDescription,
    params: &BTreeMap<String, String>,
) -> Vec<String> {
    let fill = |url: &String| {
        let mut url = url.clone();
        for (name, default) in &description.params {
            if let Some(value) = params.get(name).or(default.as_ref()) {
                url = url.replace(&format!("{{{name}}}"), value);
            }
        }
        url
    };
    urls.iter().map(fill).collect()
}

fn told(info: &ConnectionInfo) -> String {
    let of = format!("{}/{}", info.plugin, info.name);
    let mut text = format!("{of} is connected");
    let scopes = info.description.iter().flat_map(|description| &description.scopes);
    let functions: BTreeSet<&str> =
        scopes.flat_map(|(_, functions)| functions).map(oz0_listing::FunctionId::as_str).collect();
    if functions.is_empty() && info.urls.is_empty() {
        text.push_str(
            "; its manifest names no function under its scopes, so no call gets its token",
        );
    } else if functions.is_empty() {
        text.push_str("; requests to its server carry its token");
    } else {
        let shown: Vec<&str> = functions.iter().take(20).copied().collect();
        let more = if functions.len() > shown.len() { ", …" } else { "" };
        let _ = write!(text, "; its token goes with calls of {}{more}", shown.join(", "));
    }
    text
}

/// One line a connection, and what belongs to it below.
fn table(connections: &Connections) -> String {
    let named = |one: &ConnectionInfo| format!("{}/{}", one.plugin, one.name);
    let width = connections.connections.iter().map(|one| named(one).len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in &connections.connections {
        let undeclared = if one.description.is_none() { "  undeclared" } else { "" };
        let how = match &one.connected {
            None => "not connected".to_owned(),
            Some(connected) => how(connected),
        };
        let _ = writeln!(text, "{:<width$}  {how}{undeclared}", named(one));
        let Some(connected) = &one.connected else { continue };
        for (name, value) in &connected.params {
            let _ = writeln!(text, "  {}: {}", escape::line(name), escape::line(value));
        }
        if let Some(scopes) = &connected.scopes {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let _ = writeln!(text, "  scopes: {}", escape::line(&scopes.join(", ")));
        }
        if let Some(failure) = &connected.failure {
            let failure = escape::line_within(failure, 400);
            let _ = writeln!(text, "  its token could not be renewed: {failure}");
        }
    }
    text
}

fn how(connected: &Connected) -> String {
    let with = match connected.with {
        With::Secrets => "with secrets",
        With::Oauth => "by OAuth",
    };
    let mut text = format!(
        "connected {with} {} by {}",
        moment::shown(connected.at),
        escape::line(&connected.by)
    );
    if let Some(at) = connected.expires_at {
        let then = if connected.renews { ", and is renewed before" } else { "" };
        let _ = write!(text, ", until {}{then}", moment::shown(at));
    }
    text
}
