//! What every command that serves until a signal ends it has.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use oz0_local::LocalError;
use serde_json::Value;

use crate::exit::Exit;
use crate::machine::Signals;
use crate::output::Output;

/// Starts something, says where it is, and ends it in order when a signal asks for the end; a second one ends it at once.
pub(crate) fn until_signalled<S, E>(
    start: impl Future<Output = Result<S, LocalError>>,
    say: impl FnOnce(&S) -> Result<()>,
    end: impl FnOnce(S) -> E,
    output: Output,
) -> Result<Exit>
where
    E: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let started = tokio::select! {
            started = start => started?,
            signal = signals.next() => return Ok(Exit::Stopped(signal)),
        };
        say(&started)?;
        signals.next().await;
        output.say("stopping; once more to stop at once");
        Ok(tokio::select! {
            () = end(started) => Exit::Done,
            signal = signals.next() => Exit::Stopped(signal),
        })
    });
    // Whatever reads or installs in a thread of its own ends with this process.
    runtime.shutdown_background();
    ended
}

/// Says that an address which other machines reach is served without TLS, and lets requests name it.
pub(crate) fn open_to_others(address: SocketAddr, hosts: &mut BTreeSet<String>, output: Output) {
    if address.ip().is_loopback() {
        return;
    }
    output.say(&format!(
        "warning: {address} is served without TLS, so tokens and results can be read on the way; put a proxy with \
         TLS in front of it"
    ));
    name(address, hosts);
}

/// Says that numbers are told to whoever reaches an address, and lets requests name it.
pub(crate) fn numbers_to_others(
    address: Option<SocketAddr>,
    hosts: &mut BTreeSet<String>,
    output: Output,
) {
    let Some(address) = address.filter(|address| !address.ip().is_loopback()) else { return };
    output.say(&format!(
        "warning: {address} tells everybody who reaches it the names of plugins, functions and nodes, and how much they \
         are used"
    ));
    name(address, hosts);
}

/// Says where numbers are told.
pub(crate) fn say_metrics(url: Option<&str>, output: Output) {
    if let Some(url) = url {
        output.say(&format!("metrics are at {url}"));
    }
}

/// Adds where numbers are told to a first line in JSON.
pub(crate) fn add_metrics(line: &mut Value, url: Option<&str>) {
    if let Some(url) = url {
        line["metrics"] = url.into();
    }
}

/// Lets requests name an address.
pub(crate) fn name(address: SocketAddr, hosts: &mut BTreeSet<String>) {
    if !address.ip().is_unspecified() {
        hosts.insert(address.ip().to_string());
    }
}
