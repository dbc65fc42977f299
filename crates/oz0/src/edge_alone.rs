//! `oz0 edge`: the control plane alone.

use std::collections::BTreeSet;

use anyhow::Result;
use oz0_local::{EdgeAlone, EdgeOptions, LocalError, Tls, raise_open_files};
use serde_json::json;

use crate::cli::Edge;
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::output::Output;
use crate::serve;

pub(crate) fn run(arguments: &Edge, settings: &Settings, output: Output) -> Result<Exit> {
    let listen = settings.listen(arguments.listen)?;
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(Tls::read(certificate, key).map_err(LocalError::from)?)
        }
        _ => None,
    };
    let mut hosts: BTreeSet<String> = arguments.host.iter().cloned().collect();
    if !listen.ip().is_loopback() {
        if tls.is_none() {
            return Err(WrongUsage(format!(
                "--listen {listen} can be reached from other machines, and tokens and bundles could be read on the way: \
                 give --tls-cert and --tls-key, or a loopback address behind a proxy with TLS"
            ))
            .into());
        }
        serve::name(listen, &mut hosts);
    }
    let metrics = settings.metrics_listen(&arguments.metrics)?;
    serve::numbers_to_others(metrics, &mut hosts, output);
    let front = settings.front(&arguments.front, hosts)?;
    let public = front.public.as_ref().map(ToString::to_string);
    let folder = settings.sealed()?;
    let admin_token = folder.admin_token_file();
    let first = !admin_token.exists();
    raise_open_files();
    serve::until_signalled(
        EdgeAlone::start(EdgeOptions { folder, listen, front, tls, metrics }),
        |edge: &EdgeAlone| {
            let console = public.as_deref().unwrap_or(edge.url());
            output.data(&if arguments.json {
                let mut line = json!({"edge": edge.url(), "console": console, "socket": edge.socket(), "admin_token": admin_token});
                serve::add_metrics(&mut line, edge.metrics());
                line.to_string()
            } else {
                format!("the edge is up at {}, and at {}", edge.url(), edge.socket().display())
            })?;
            if !arguments.json {
                output.say(&format!("the console is at {console}"));
                serve::say_metrics(edge.metrics(), output);
            }
            if first && !arguments.json {
                output.say(&format!(
                    "its first admin token is in {}; a node joins with: oz0 token create --node NAME",
                    admin_token.display()
                ));
            }
            Ok(())
        },
        EdgeAlone::shutdown,
        output,
    )
}
