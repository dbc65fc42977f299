//! `oz0 edge`: the control plane alone, and what is done with its store.

use std::collections::BTreeSet;

use anyhow::Result;
use oz0_local::{
    Backup, BundlesAt, EdgeAlone, EdgeOptions, LocalError, StoreAt, Tls, raise_open_files,
};
use serde_json::json;

use crate::cli::{Edge, EdgeCommand, RunEdge};
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::machine;
use crate::moment;
use crate::output::Output;
use crate::serve;
use crate::words::count;

pub(crate) fn run(arguments: &Edge, settings: &Settings, output: Output) -> Result<Exit> {
    match &arguments.command {
        None => serve(&arguments.run, settings, output),
        Some(EdgeCommand::Migrate { kept }) => {
            let (kept, folder) = (settings.kept(kept)?, settings.data()?);
            let done = machine::runtime()?.block_on(kept.migrate(&folder))?;
            let after = done.after.last().copied().unwrap_or_default();
            output.data(&match done.before.last() {
                None => format!("made a store, its schema at step {after}"),
                Some(_) if done.before == done.after => {
                    format!("nothing to do: the schema is at step {after}")
                }
                Some(before) => format!("brought the schema from step {before} to step {after}"),
            })?;
            Ok(Exit::Done)
        }
        Some(EdgeCommand::Backup { file, kept }) => {
            let (kept, folder) = (settings.kept(kept)?, settings.data()?);
            let backup = machine::runtime()?.block_on(kept.back_up(&folder, file))?;
            output.data(&format!("backed up {} into {}", told(&backup), file.display()))?;
            Ok(missing(&backup, "were not where bundles are kept, and are not in it", output))
        }
        Some(EdgeCommand::Restore { file, kept }) => {
            let (kept, folder) = (settings.kept(kept)?, settings.sealed()?);
            let backup = machine::runtime()?.block_on(kept.restore(&folder, file))?;
            output.data(&format!(
                "restored {} of {}; the admin token is in {}",
                told(&backup),
                moment::shown(backup.made_at),
                folder.admin_token_file().display()
            ))?;
            let rest = "are in no backup: install those plugins again";
            Ok(missing(&backup, rest, output))
        }
    }
}

/// What is in a backup.
fn told(backup: &Backup) -> String {
    let rows = |table: &str| backup.rows.get(table).copied().unwrap_or_default();
    let number = |table| usize::try_from(rows(table)).unwrap_or(usize::MAX);
    format!(
        "the store {} with {}, {} and a log of {}",
        backup.store,
        count(number("versions"), "version"),
        count(backup.bundles, "bundle"),
        count(number("audit"), "act")
    )
}

/// Names the bundles that there were none of.
fn missing(backup: &Backup, rest: &str, output: Output) -> Exit {
    if backup.missing.is_empty() {
        return Exit::Done;
    }
    let digests: Vec<String> = backup.missing.iter().map(ToString::to_string).collect();
    output.say(&format!("warning: {} {rest}", digests.join(", ")));
    Exit::Findings
}

fn serve(arguments: &RunEdge, settings: &Settings, output: Output) -> Result<Exit> {
    let kept = settings.kept(&arguments.kept)?;
    if matches!((&kept.store, &kept.bundles), (StoreAt::Postgres(_), BundlesAt::Data)) {
        output.say(
            "warning: bundles are in this edge's data folder, where other edges over the same store do not find them; \
             name a place that they share with --bundles",
        );
    }
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
        EdgeAlone::start(EdgeOptions { folder, kept, listen, front, tls, metrics }),
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
