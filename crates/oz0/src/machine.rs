//! What every command that starts servers on this machine has: the program, the cache, signals.

use std::path::PathBuf;

use anyhow::{Context, Result};
use oz0_local::{Machine, Say};
use oz0_node::{DevFolder, NodeOptions};
use oz0_plugin::Plugin;
use oz0_server::TierChoice;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::NodeFlags;
use crate::config::Settings;
use crate::output::Output;
use crate::share;

/// What a node is started with; `folders` are the plugins' that the command names.
pub(crate) fn machine(
    flags: &NodeFlags,
    folders: &[PathBuf],
    settings: &Settings,
    output: Output,
) -> Result<Machine> {
    let shares = share::by_plugin(flags, settings, folders)?;
    let node = NodeOptions { shares, ..settings.node(flags)? };
    Ok(Machine {
        named: share::named_plugins(flags, &node),
        program: std::env::current_exe().context("cannot find oz0's own program")?,
        cache: settings.cache()?.to_owned(),
        tier: tier_choice(),
        node,
        say: if output.is_logged() {
            Say::beside_log(move |line| output.say(line))
        } else {
            Say::new(move |line| output.say(line))
        },
    })
}

/// A runtime of one thread: a call is handed from task to task, and never from thread to thread.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start the runtime")
}

/// How servers are contained.
pub(crate) fn tier_choice() -> TierChoice {
    match std::env::var("OZ0_SANDBOX") {
        Ok(value) if value == "0" => TierChoice::Zero { reason: "OZ0_SANDBOX=0 is set".to_owned() },
        _ => TierChoice::Best,
    }
}

/// A plugin's folder to run in place; none where its manifest does not decode, which has been said then.
pub(crate) fn dev_folder(dir: &std::path::Path, output: Output) -> Result<Option<DevFolder>> {
    let plugin = Plugin::load(dir)?;
    if plugin.manifest().is_none() {
        output.findings(plugin.diagnostics());
        return Ok(None);
    }
    let folder = DevFolder::new(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    Ok(Some(folder))
}

/// The signals that ask for the end.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Listens for them from now on. Needs a runtime.
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind: SignalKind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// The next one's number.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hang_up.recv() => 1,
        }
    }
}
