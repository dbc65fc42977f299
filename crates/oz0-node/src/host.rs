//! What a server is started from, and its start.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use oz0_api::node::Assignment;
use oz0_api::plugin::Source;
use oz0_api::{Client as Edge, PluginName};
use oz0_listing::{Pointer, ToolId, escape};
use oz0_mcp::{
    BoundHeaders, Client, ClientOptions, ConnectError, Endpoint, Era, EraChoice, HeaderName,
    HeaderValue, Limits, Origin, ServerRequest, Timeouts,
};
use oz0_plugin::Plugin;
use oz0_plugin::manifest::{Backend, Manifest, Tool};
use oz0_server::{Declared, Environments, LaunchSpec, Launcher, Lock, Running, Shares, StopBounds};
use tokio::sync::mpsc;
use tokio::time::{Duration, timeout};

use crate::asked::{Asked, filled};
use crate::bundles::Bundles;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::options::NodeOptions;
use crate::refusal::Unconnected;
use crate::vault::{Bearer, Held, Vault, connection_of};

/// How many lines of a failed server's stderr are shown.
const STDERR_LINES: usize = 20;
/// Before them.
pub(crate) const STDERR: &str = "; the end of its stderr:\n";
/// Questions of one server that wait to be looked at.
const QUESTIONS: usize = 16;

/// What every server of a node is started with.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) launcher: Launcher,
    pub(crate) environments: Environments,
    pub(crate) memory: Memory,
    pub(crate) bundles: Bundles,
    /// What each plugin asked for when this process first had it.
    pub(crate) asked: Mutex<BTreeMap<PluginName, Asked>>,
    pub(crate) options: NodeOptions,
    pub(crate) metrics: Arc<Metrics>,
    /// What the edge gives this node of secrets and connections.
    pub(crate) vault: Arc<Vault>,
}

/// What one tool's server is started from.
#[derive(Debug)]
pub(crate) struct Recipe {
    place: Place,
    /// The pointers that are cut from its functions' listings.
    pub(crate) unstable: BTreeMap<String, Vec<Pointer>>,
    /// That its command names a folder of this machine that it does not see, and what to do.
    pub(crate) unshared: Option<String>,
    /// Whether it may ask a model.
    pub(crate) sampling: bool,
    /// The connection whose token a remote server is sent.
    pub(crate) bearer: Option<Bearer>,
}

#[derive(Debug)]
enum Place {
    Process(Box<LaunchSpec>),
    Remote(Box<Endpoint>),
}

/// Why a server cannot be started.
#[derive(Debug)]
pub(crate) enum Hindrance {
    /// What another try may overcome.
    Passing(String),
    /// What stays as it is for as long as this process and the plugin's files are what they are.
    Lasting(String),
}

impl Hindrance {
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Passing(reason) | Self::Lasting(reason) => reason,
        }
    }
}

impl From<String> for Hindrance {
    fn from(reason: String) -> Self {
        Self::Passing(reason)
    }
}

impl From<&str> for Hindrance {
    fn from(reason: &str) -> Self {
        Self::Passing(reason.to_owned())
    }
}

/// The secret that nobody gave, and what to do. Only what the flag names is taken from this process's environment.
fn lacks(plugin: &PluginName, secret: &str) -> String {
    let there = std::env::var_os(secret).is_some_and(|value| !value.is_empty());
    if there {
        format!(
            "it needs the secret {secret}, which is set in the environment and was not given to it: give it with: \
             --secret {secret}, or keep it with: oz0 secret set {plugin}/{secret}"
        )
    } else {
        format!(
            "it needs the secret {secret}, which is not set: set it with: oz0 secret set {plugin}/{secret}, or in \
             the environment, and give it with: --secret {secret}"
        )
    }
}

/// A server that runs and speaks.
pub(crate) struct Started {
    pub(crate) client: Client,
    pub(crate) requests: mpsc::Receiver<ServerRequest>,
    /// Its process; none of a remote one.
    pub(crate) running: Option<Running>,
}

impl Host {
    /// Fetches what a tool's server is started from, and makes its environment. The error is for people.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        assignment: &Arc<Assignment>,
        tool: &ToolId,
        edge: &Edge,
    ) -> Result<Recipe, Hindrance> {
        let description = assignment.description.as_ref().ok_or("it is not assigned")?;
        if let Source::Dev { folder } = &description.source
            && !self.options.in_place
        {
            // The path says nothing on this machine, or something else.
            return Err(Hindrance::Lasting(format!(
                "it is run from {folder} on another machine; install it from a bundle to run it here"
            )));
        }
        let folder = self.bundles.folder_of(description, edge).await?;
        let asks = !description.secrets.is_empty() || !description.connections.is_empty();
        let held =
            if asks { self.vault.current(&assignment.plugin).await? } else { Arc::default() };
        // Reading, resolving and installing block.
        let recipe = tokio::task::spawn_blocking({
            let (host, assignment, tool) = (Arc::clone(self), Arc::clone(assignment), tool.clone());
            move || host.recipe(&assignment, &folder, &tool, &held)
        });
        recipe.await.map_err(|error| error.to_string())?
    }

    /// Reads what a tool's server is started from, and makes its environment. Blocks. The error is for people.
    fn recipe(
        &self,
        assignment: &Assignment,
        folder: &Path,
        tool: &ToolId,
        held: &Held,
    ) -> Result<Recipe, Hindrance> {
        let description = assignment.description.as_ref().ok_or("it is not assigned")?;
        let plugin = Plugin::load(folder).map_err(|error| error.to_string())?;
        let manifest =
            plugin.manifest().ok_or("its manifest has errors; `oz0 plugin inspect` shows them")?;
        let (key, declared) = manifest
            .tools
            .iter()
            .find(|(id, _)| id.value == *tool)
            .ok_or("its manifest has no such tool any more")?;
        // A bundle is what it was when somebody installed it.
        if description.source.is_dev() {
            self.hold(&assignment.plugin, manifest)?;
        }
        let mut unshared = None;
        let mut bearer = None;
        let place = match declared.backend() {
            Backend::Url(url) => {
                let pin = assignment.pin(tool);
                let name = connection_of(description, tool);
                let connected = name.and_then(|name| held.params(name));
                // One that moved is looked at without anything of ours. Any other is listed as the account that it is for:
                // what it lists to nobody in particular would become the snapshot.
                if let (Some(name), Some(_), None) = (name, pin, connected) {
                    let what = Unconnected::Not.told(&assignment.plugin, name);
                    return Err(Hindrance::Lasting(what));
                }
                let (endpoint, headers) = endpoint(manifest, declared, url, pin, connected)?;
                bearer = name.zip(headers).map(|(connection, headers)| Bearer {
                    vault: Arc::clone(&self.vault),
                    plugin: assignment.plugin.clone(),
                    connection: connection.clone(),
                    headers,
                });
                Place::Remote(Box::new(endpoint))
            }
            Backend::Mcp(_) | Backend::Package(_) => {
                let own = self.options.secrets_of.get(&assignment.plugin).into_iter().flatten();
                // What the edge keeps, what the operator of this machine gave to all, what they gave to this plugin: the
                // later stands before the earlier.
                let mut secrets = held.secrets();
                let given = self.options.secrets.iter().chain(own);
                secrets
                    .extend(given.map(|(name, value)| (name.clone(), value.expose().to_owned())));
                // Of a bundle whoever installed it has seen what is in it, and that is all that is run. A folder's author is at
                // work.
                let lock = if description.source.is_dev() { Lock::Use } else { Lock::Only };
                let Declared { variables, missing } =
                    Declared::of_tool(manifest, declared, &secrets);
                if let Some(name) = missing.first() {
                    return Err(Hindrance::Lasting(lacks(&assignment.plugin, name)));
                }
                let prepared = self
                    .environments
                    .prepare_tool(&plugin, key, declared, lock)
                    .map_err(|error| error.to_string())?;
                let mut arguments: Vec<&str> =
                    declared.args.iter().map(|argument| argument.as_str()).collect();
                if let Backend::Mcp(mcp) = declared.backend() {
                    arguments.extend(mcp.argv());
                }
                let shares = self.options.shares.get(&assignment.plugin);
                unshared = unshared_folder(&arguments, plugin.root(), shares).map(|folder| {
                    let name = &assignment.plugin;
                    format!(
                        "{name}'s server names {folder}, which is not shared with it; share it with: --share \
                         {name}={folder}"
                    )
                });
                Place::Process(Box::new(LaunchSpec {
                    shares: self
                        .options
                        .shares
                        .get(&assignment.plugin)
                        .cloned()
                        .unwrap_or_default(),
                    ..prepared.launch_of(manifest, plugin.root(), variables)
                }))
            }
        };
        let models = manifest.requires.as_ref().and_then(|requires| requires.models.as_ref());
        Ok(Recipe {
            place,
            unshared,
            unstable: declared.unstable_pointers(),
            sampling: models.is_some_and(|models| models.sampling.is_some()),
            bearer,
        })
    }

    /// A text that a plugin's servers had a part in, without what is known to be secret of it.
    pub(crate) fn without_secrets<'t>(
        &'t self,
        plugin: &PluginName,
        text: &'t str,
    ) -> std::borrow::Cow<'t, str> {
        let own = self.options.secrets_of.get(plugin).into_iter().flatten();
        let given = self.options.secrets.iter().chain(own).map(|(_, value)| value.expose());
        self.vault.without_secrets(plugin, given, text)
    }

    /// Gives a manifest nothing that it did not ask for at the start.
    fn hold(&self, plugin: &PluginName, manifest: &Manifest) -> Result<(), String> {
        let asks = Asked::by(manifest);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let more = asks.beyond(asked.entry(plugin.clone()).or_insert_with(|| asks.clone()));
        if more.is_empty() {
            return Ok(());
        }
        Err(format!(
            "its manifest was edited and asks for more than when this oz0 started: {}; start it again to grant that",
            more.join(", ")
        ))
    }

    /// Starts a server and opens a connection to it. A server of the legacy era may end at the modern probe, of which
    /// it never heard: it is started again and opened in its own.
    pub(crate) async fn start(&self, recipe: &Recipe, era: Option<Era>) -> Result<Started, String> {
        let choice = match era {
            None => EraChoice::Probe,
            Some(Era::Modern) => EraChoice::Modern,
            Some(Era::Legacy) => EraChoice::Legacy,
        };
        match self.try_start(recipe, choice).await {
            // It ended at the probe, or said too late or too early which era it speaks.
            Err(Trouble { reopen: Some(era), what, .. }) if choice == EraChoice::Probe => {
                self.try_start(recipe, era).await.map_err(|_| what)
            }
            // It spoke that era the last time, and perhaps does no more.
            Err(Trouble { opened: true, what, .. }) if choice != EraChoice::Probe => {
                match Box::pin(self.start(recipe, None)).await {
                    Ok(started) => Ok(started),
                    Err(_) => Err(what),
                }
            }
            started => started.map_err(|trouble| trouble.what),
        }
    }

    async fn try_start(&self, recipe: &Recipe, era: EraChoice) -> Result<Started, Trouble> {
        let limits = self.options.limits;
        let (sender, requests) = mpsc::channel(QUESTIONS);
        let wire = Limits::default();
        let options = ClientOptions {
            era,
            timeouts: Timeouts {
                connect: limits.start,
                call: limits.call,
                listing: limits.listing,
                ..Timeouts::default()
            },
            limits: Limits {
                message: wire.listing.max(limits.result).max(limits.request) + (64 << 10),
                // Beside calls: a listing, a subscription.
                pending: limits.in_flight + 16,
                ..wire
            },
            requests: Some(sender),
            ..ClientOptions::default()
        };
        match &recipe.place {
            Place::Remote(endpoint) => {
                if let Some(bearer) = &recipe.bearer {
                    bearer
                        .refresh()
                        .await
                        .map_err(|what| what.told(&bearer.plugin, &bearer.connection))?;
                }
                let client = Client::http(endpoint, &options).await.map_err(Trouble::from)?;
                Ok(Started { client, requests, running: None })
            }
            Place::Process(spec) => {
                let starting = timeout(limits.start, self.launcher.start(spec)).await;
                let mut running = starting
                    .map_err(|_| {
                        format!("it did not start within {} s", limits.start.as_secs_f64())
                    })?
                    .map_err(|error| error.to_string())?;
                let stderr = running.stderr().clone();
                let Some((stdin, stdout)) = running.take_stdio() else {
                    return Err("its standard streams are taken".to_owned().into());
                };
                match Client::stdio(stdout, stdin, &options).await {
                    Ok(client) => Ok(Started { client, requests, running: Some(running) }),
                    Err(error) => {
                        let mut trouble = Trouble::from(error);
                        running.stop(StopBounds::default()).await;
                        let _ = timeout(Duration::from_secs(1), stderr.ended()).await;
                        trouble.what.push_str(&said(&stderr.last_lines(STDERR_LINES)));
                        Err(trouble)
                    }
                }
            }
        }
    }
}

/// Where every server sees the system's own.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev", "/sys"];

/// A folder of this machine that a server is started with, and that is neither the plugin's nor shared with it.
fn unshared_folder(arguments: &[&str], plugin: &Path, shares: Option<&Shares>) -> Option<String> {
    let is_shared = |folder: &Path| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        shares.into_iter().flat_map(Shares::iter).any(|share| {
            let of = share.path().canonicalize().unwrap_or_else(|_| share.path().to_owned());
            folder.starts_with(share.path()) || real.starts_with(of)
        })
    };
    let own = plugin.canonicalize().unwrap_or_else(|_| plugin.to_owned());
    arguments
        .iter()
        .map(|argument| {
            argument.split_once("=/").map_or(*argument, |(flag, _)| &argument[flag.len() + 1..])
        })
        .find(|text| {
            let folder = Path::new(text);
            folder.is_absolute()
                && folder.parent().is_some()
                && folder.is_dir()
                && folder.canonicalize().is_ok_and(|real| !real.starts_with(&own))
                && folder != Path::new("/tmp")
                && !SYSTEM.iter().any(|system| folder.starts_with(system))
                && !is_shared(folder)
        })
        .map(str::to_owned)
}

/// The end of what a server wrote to stderr, as it is added to a reason.
pub(crate) fn said(stderr: &str) -> String {
    if stderr.trim().is_empty() {
        return String::new();
    }
    format!("{STDERR}{}", escape::text(stderr.trim_end()))
}

/// Why a server did not start.
struct Trouble {
    what: String,
    /// The era to open it in after another start.
    reopen: Option<EraChoice>,
    /// Whether it ran, and the connection to it is what failed.
    opened: bool,
}

impl From<String> for Trouble {
    fn from(what: String) -> Self {
        Self { what, reopen: None, opened: false }
    }
}

impl From<ConnectError> for Trouble {
    fn from(error: ConnectError) -> Self {
        Self { what: error.to_string(), reopen: error.reopen(), opened: true }
    }
}

/// A remote tool's endpoint; with the headers that are its own where there is a pin for them.
///
/// The pin is the edge's, and the URL is that of the file as it is now: where somebody edited it since, the edge has not
/// compared the new place with anything yet, and nothing is sent there. A host that is a connection's param is no place:
/// its headers are for the host that was stored when that connection was connected.
fn endpoint(
    manifest: &Manifest,
    tool: &Tool,
    url: &oz0_plugin::manifest::UrlTemplate,
    pin: Option<&oz0_api::Endpoint>,
    connected: Option<&BTreeMap<String, String>>,
) -> Result<(Endpoint, Option<BoundHeaders>), String> {
    let edited = "its manifest was edited meanwhile";
    let filled = match connected {
        Some(params) => url.fill(|param| params.get(param).map(String::as_str)),
        None => filled(manifest, tool, url),
    };
    let filled = filled.ok_or("a param in its url: has no value, or none that can stand there")?;
    let endpoint = Endpoint::new(filled.as_str()).map_err(|error| error.to_string())?;
    let Some(pin) = pin else { return Ok((endpoint, None)) };
    let origin = if pin.is_template() {
        if connected.is_none() {
            return Ok((endpoint, None));
        }
        let written: oz0_api::Endpoint = url.as_str().parse().map_err(|_| edited)?;
        if written != *pin {
            return Err(format!("its url: is not that of the version that is installed: {edited}"));
        }
        endpoint.origin().clone()
    } else {
        Origin::parse(pin.as_str()).map_err(|error| error.to_string())?
    };
    let headers = BoundHeaders::to(origin);
    for (name, value) in &tool.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|error| error.to_string())?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|error| error.to_string())?;
        headers.set(name, value);
    }
    let endpoint = endpoint.with(headers.clone()).map_err(|error| format!("{error}: {edited}"))?;
    Ok((endpoint, Some(headers)))
}
