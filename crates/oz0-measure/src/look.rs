//! One look at a server: start it, read its whole listing, stop it.

use std::collections::BTreeMap;

use oz0_listing::{Pointer, ToolId, ToolListing, escape, json, read_tool};
use oz0_mcp::{
    Client, ClientOptions, ConnectError, Era, EraChoice, Fault, Junk, ProtocolVersion, Step,
};
use oz0_server::{
    Ended, LaunchError, LaunchSpec, Launcher, MissingLayer, Running, Stderr, StopBounds, Tier,
};
use tokio::time::{Duration, timeout};

/// How many lines of a failed server's stderr are shown.
const STDERR_LINES: usize = 20;

/// What one look saw.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) listing: ToolListing,
    pub(crate) protocol: ProtocolVersion,
    pub(crate) era: Era,
    pub(crate) server: Option<String>,
    pub(crate) tier: Tier,
    pub(crate) missing: Vec<MissingLayer>,
    pub(crate) junk: Junk,
    pub(crate) pages: usize,
    /// Declared unstable pointers at which nothing stands, by function.
    pub(crate) unused: Vec<(String, Pointer)>,
}

/// Why there was nothing to see.
#[derive(Debug)]
pub(crate) enum Blind {
    /// oz0 could not start anything.
    Failed(LaunchError),
    /// The server is at fault: what happened, and what it said on stderr.
    Server { what: String, stderr: String },
}

impl From<LaunchError> for Blind {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Program { .. } | LaunchError::TooLong { .. } => {
                Self::Server { what: error.to_string(), stderr: String::new() }
            }
            error => Self::Failed(error),
        }
    }
}

/// Starts the server of `tool`, reads what it lists, and stops it with all that it started.
///
/// A server of the legacy era may end at the modern probe, of which it never heard: it is started again and opened in its own.
pub(crate) async fn look(
    launcher: &Launcher,
    spec: &LaunchSpec,
    options: &ClientOptions,
    tool: &ToolId,
    unstable: &BTreeMap<String, Vec<Pointer>>,
) -> Result<Look, Blind> {
    match try_look(launcher, spec, options, tool, unstable).await {
        Err(Trouble { blind, ended_at_probe: true, .. }) => {
            let options = ClientOptions { era: EraChoice::Legacy, ..options.clone() };
            let again = try_look(launcher, spec, &options, tool, unstable).await;
            // What it did of itself says more than how it took to being opened in another era.
            again.map_err(|again| if again.is_closed { blind } else { again.blind })
        }
        looked => looked.map_err(|trouble| trouble.blind),
    }
}

/// Why one try showed nothing.
struct Trouble {
    blind: Blind,
    ended_at_probe: bool,
    is_closed: bool,
}

impl From<LaunchError> for Trouble {
    fn from(error: LaunchError) -> Self {
        Self { blind: error.into(), ended_at_probe: false, is_closed: false }
    }
}

async fn try_look(
    launcher: &Launcher,
    spec: &LaunchSpec,
    options: &ClientOptions,
    tool: &ToolId,
    unstable: &BTreeMap<String, Vec<Pointer>>,
) -> Result<Look, Trouble> {
    let mut running = launcher.start(spec).await?;
    let (tier, missing) = (running.tier().clone(), running.missing().to_vec());
    let stderr = running.stderr().clone();
    let (stdin, stdout) = running.take_stdio().expect("a server that just started has its stdio");

    let client = match Client::stdio(stdout, stdin, options).await {
        Ok(client) => client,
        Err(error) => {
            let is_closed =
                matches!(error, ConnectError::Handshake { fault: Fault::Closed(_), .. });
            let at_probe = matches!(error, ConnectError::Handshake { step: Step::Discover, .. });
            let ended_at_probe = is_closed && at_probe && options.era == EraChoice::Probe;
            let blind = blame(error.to_string(), running, &stderr).await;
            return Err(Trouble { blind, ended_at_probe, is_closed });
        }
    };
    let listed = client.list_functions().await;
    let (protocol, era) = (client.protocol(), client.era());
    let (server, junk) = (name(&client), client.junk());
    client.close().await;
    let raw = match listed {
        Ok(raw) => raw,
        Err(error) => {
            let blind = blame(error.to_string(), running, &stderr).await;
            return Err(Trouble { blind, ended_at_probe: false, is_closed: false });
        }
    };
    running.stop(StopBounds::default()).await;
    let texts: Vec<&str> = raw.functions.iter().map(|function| function.get()).collect();
    let listing = read_tool(tool, &texts, unstable);
    let unused = unused(&texts, unstable);
    let pages = raw.pages;
    Ok(Look { listing, protocol, era, server, tier, missing, junk, pages, unused })
}

/// Stops a server that did not do its part, and says what it did instead.
async fn blame(what: String, running: Running, stderr: &Stderr) -> Blind {
    let ended = running.stop(StopBounds::default()).await;
    // What it wrote last may still be on its way.
    let _ = timeout(Duration::from_secs(1), stderr.ended()).await;
    let said = stderr.last_lines(STDERR_LINES);
    Blind::Server { what: with_end(what, ended), stderr: escape::text(&said).into_owned() }
}

fn with_end(what: String, ended: Ended) -> String {
    // A server that was stopped for its silence ends as it was told to, which says nothing.
    match ended {
        Ended::Exited(0) | Ended::Signalled(_) => what,
        ended @ Ended::Exited(_) => format!("{what}; its process ended with {ended}"),
    }
}

/// What a server says it is.
fn name(client: &Client) -> Option<String> {
    let info = client.server_info();
    let name = info.name.as_deref()?;
    let text = match info.version.as_deref() {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    };
    Some(escape::line(&text).into_owned())
}

/// The declared pointers that cut nothing of the functions that they are declared for.
fn unused(raw: &[&str], unstable: &BTreeMap<String, Vec<Pointer>>) -> Vec<(String, Pointer)> {
    if unstable.is_empty() {
        return Vec::new();
    }
    let functions: Vec<json::Json> = raw.iter().filter_map(|raw| json::parse(raw).ok()).collect();
    let mut unused = Vec::new();
    for (name, pointers) in unstable {
        let named = |function: &&json::Json| {
            function.get("name").and_then(json::Json::as_str) == Some(name.as_str())
        };
        let Some(function) = functions.iter().find(named) else { continue };
        for pointer in pointers.iter().filter(|pointer| function.at(pointer).is_none()) {
            unused.push((name.clone(), pointer.clone()));
        }
    }
    unused
}
