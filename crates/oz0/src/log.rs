//! Whether a command that serves logs, and how.

use anyhow::Result;
use oz0_telemetry::log::{Log, LogError, start as begin};

use crate::cli::Command;
use crate::config::Settings;
use crate::exit::WrongUsage;

/// A command that serves, as it is seen from outside for as long as this lives.
pub(crate) struct Seen {
    /// Whether there is a log. Then standard error holds nothing else.
    pub(crate) logged: bool,
    _log: Log,
}

/// Starts the log of a command that serves, where somebody asked for one, and what sends its spans.
pub(crate) fn start(command: &Command, settings: &Settings) -> Result<Option<Seen>> {
    let flags = match command {
        Command::Up(up) => &up.log,
        Command::Edge(edge) if edge.command.is_none() => &edge.run.log,
        Command::Node(node) if node.command.is_none() => &node.run.log,
        Command::Mcp(mcp) => &mcp.log,
        _ => return Ok(None),
    };
    let (filter, format) = settings.log(flags)?;
    let log = begin(filter.as_deref(), format).map_err(|error| match error {
        wrong @ LogError::Filter { .. } => WrongUsage(wrong.to_string()).into(),
        other => anyhow::Error::new(other),
    })?;
    Ok(Some(Seen { logged: filter.is_some(), _log: log }))
}
