//! `oz0 secret`: the secrets that plugins' processes are given.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Read as _};

use anyhow::{Context, Result};
use oz0_api::credential::{LONGEST_VALUE, SecretInfo, Secrets, Sensitive, SetSecret};
use oz0_api::plugin::Need;
use oz0_listing::escape;
use serde_json::json;

use crate::cli::Secret;
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, WrongUsage};
use crate::moment;
use crate::output::Output;
use crate::terminal;

pub(crate) fn run(command: &Secret, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        match command {
            Secret::Set { secret } => {
                let value = read(&secret.to_string())?;
                client.set_secret(&secret.plugin, &secret.name, &SetSecret { value }).await?;
                output.say(&format!(
                    "{secret} is set; the processes of {} are started anew with it",
                    secret.plugin
                ));
            }
            Secret::List { json: as_json } => {
                let secrets = client.secrets().await?;
                if *as_json {
                    output.json(&json!(secrets))?;
                } else if secrets.secrets.is_empty() {
                    output.say("no plugin declares a secret, and none is kept");
                } else {
                    output.data(&table(&secrets))?;
                }
            }
            Secret::Unset { secret } => {
                let SecretInfo { need, .. } =
                    client.unset_secret(&secret.plugin, &secret.name).await?;
                let then = match need {
                    Some(Need::Required) => ", and its processes do not run without it",
                    _ => "",
                };
                output.say(&format!("{secret} is not set any more{then}"));
            }
        }
        Ok(Exit::Done)
    })
}

/// A value out of standard input, or one that is asked for. It is in no message.
pub(crate) fn read(name: &str) -> Result<Sensitive> {
    let value = if io::stdin().is_terminal() {
        terminal::ask_hidden(&format!("Value of {name}: "))
            .context("cannot read the value")?
            .unwrap_or_default()
    } else {
        let mut bytes = Vec::new();
        let limit = u64::try_from(LONGEST_VALUE + 2).expect("it is small");
        io::stdin().lock().take(limit).read_to_end(&mut bytes).context("cannot read the value")?;
        let text = String::from_utf8(bytes)
            .map_err(|_| WrongUsage(format!("the value of {name} is not UTF-8")))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        text.strip_suffix('\r').unwrap_or(text).to_owned()
    };
    if value.is_empty() {
        return Err(WrongUsage(format!(
            "no value of {name} was given: it is read from standard input"
        ))
        .into());
    }
    Ok(Sensitive::new(value))
}

/// One line a secret.
fn table(secrets: &Secrets) -> String {
    let named = |secret: &SecretInfo| format!("{}/{}", secret.plugin, secret.name);
    let width = secrets.secrets.iter().map(|secret| named(secret).len()).max().unwrap_or(0);
    let mut text = String::new();
    for secret in &secrets.secrets {
        let need = match secret.need {
            Some(Need::Required) => "required",
            Some(Need::Optional) => "optional",
            None => "undeclared",
        };
        let set = match (secret.set_at, &secret.set_by) {
            (Some(at), Some(by)) => {
                format!("set {} by {}", moment::shown(at), escape::line(by))
            }
            _ => "not set".to_owned(),
        };
        let _ = writeln!(text, "{:<width$}  {need:<10}  {set}", named(secret));
    }
    text
}
