//! One look at a server: start it, read its whole listing, stop it.

use std::collections::BTreeMap;

use oz0_listing::{Pointer, ToolId, ToolListing, escape, json, read_tool};
use oz0_mcp::{Client, ClientOptions, Era, Junk, ProtocolVersion};
use oz0_server::{Ended, LaunchError, LaunchSpec, Launcher, MissingLayer, StopBounds, Tier};

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
    Server {
        what: String,
        stderr: String,
    },
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
pub(crate) async fn look(
    launcher: &Launcher,
    spec: &LaunchSpec,
    options: &ClientOptions,
    tool: &ToolId,
    unstable: &BTreeMap<String, Vec<Pointer>>,
) -> Result<Look, Blind> {
    let mut running = launcher.start(spec).await?;
    let (tier, missing) = (running.tier().clone(), running.missing().to_vec());
    let stderr = running.stderr().clone();
    let (stdin, stdout) = running.take_stdio().expect("a server that just started has its stdio");

    let read = async {
        let client = Client::stdio(stdout, stdin, options).await.map_err(|e| e.to_string())?;
        let listed = client.list_functions().await.map_err(|error| error.to_string());
        let seen = (client.protocol(), client.era(), server(&client), client.junk());
        client.close().await;
        Ok((listed?, seen))
    };
    match read.await {
        Ok((raw, (protocol, era, server, junk))) => {
            running.stop(StopBounds::default()).await;
            let texts: Vec<&str> = raw.functions.iter().map(|function| function.get()).collect();
            let listing = read_tool(tool, &texts, unstable);
            let unused = unused(&texts, unstable);
            let pages = raw.pages;
            Ok(Look { listing, protocol, era, server, tier, missing, junk, pages, unused })
        }
        Err(what) => {
            let ended = running.stop(StopBounds::default()).await;
            let stderr = stderr.last_lines(STDERR_LINES);
            Err(Blind::Server { what: with_end(what, ended), stderr: escape::text(&stderr).into_owned() })
        }
    }
}

fn with_end(what: String, ended: Ended) -> String {
    // A server that was stopped for its silence ends as it was told to, which says nothing.
    match ended {
        Ended::Exited(0) | Ended::Signalled(_) => what,
        ended @ Ended::Exited(_) => format!("{what}; its process ended with {ended}"),
    }
}

fn server(client: &Client) -> Option<String> {
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
