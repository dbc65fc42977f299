//! Settings: flags first, then `OZ0_*`, then `config.toml`.
//!
//! The file is `$XDG_CONFIG_HOME/oz0/config.toml`, or `~/.config/oz0/config.toml`. An unknown key is an error: a setting that
//! is silently ignored is worse than none.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use oz0_api::PluginName;
use oz0_api::credential::Sensitive;
use oz0_listing::escape;
use oz0_local::{BundlesAt, DataFolder, Front, Kept, NoKey, PlaceError, StoreAt};
use oz0_node::{NodeOptions, VerifyEvery};
use oz0_server::ShareAccess;
use oz0_telemetry::log::{FILTER, Format};
use url::Url;

use crate::cli::{
    Arguments, Color, FrontFlags, Global, KeptFlags, LogFlags, LogFormat, MetricsFlags, NodeFlags,
    Validate, seconds, within_a_week,
};
use crate::exit::WrongUsage;

/// What holds for this run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) color: Color,
    cache: Option<PathBuf>,
    data: Option<PathBuf>,
    config: Option<PathBuf>,
    /// The edge to speak to, where it is not the data folder's.
    pub(crate) edge: Option<String>,
    file: File,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    color: Option<Color>,
    cache: Option<PathBuf>,
    data: Option<PathBuf>,
    edge: Option<String>,
    store: Option<String>,
    bundles: Option<String>,
    listen: Option<SocketAddr>,
    mcp_listen: Option<SocketAddr>,
    verify_every: Option<f64>,
    validate: Option<Validate>,
    arguments: Option<Arguments>,
    edge_grace: Option<f64>,
    approval_timeout: Option<f64>,
    ai_label: Option<String>,
    log: Option<String>,
    log_format: Option<LogFormat>,
    metrics_listen: Option<SocketAddr>,
    public_url: Option<String>,
    #[serde(default)]
    trusted_proxies: Vec<String>,
    #[serde(default)]
    plugins: BTreeMap<PluginName, PluginSettings>,
}

/// What holds for one plugin alone.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PluginSettings {
    #[serde(default)]
    share: Vec<PathBuf>,
    #[serde(default)]
    share_read: Vec<PathBuf>,
}

impl Settings {
    pub(crate) fn read(flags: &Global) -> Result<Self> {
        let config = folder("XDG_CONFIG_HOME", ".config");
        let file = match &config {
            Some(folder) => read_file(&folder.join("config.toml"))?,
            None => File::default(),
        };
        let color = match flags.color {
            Some(color) => Some(color),
            None => variable("OZ0_COLOR")?.map(|text| choice("OZ0_COLOR", &text)).transpose()?,
        };
        let path = |flag: &Option<PathBuf>, name: &str, file: &Option<PathBuf>| {
            let given = flag
                .clone()
                .or_else(|| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from));
            given.or_else(|| file.clone())
        };
        let edge = match &flags.edge {
            Some(edge) => Some(edge.clone()),
            None => variable("OZ0_EDGE")?,
        };
        Ok(Self {
            color: color.or(file.color).unwrap_or(Color::Auto),
            cache: path(&flags.cache, "OZ0_CACHE", &file.cache)
                .or_else(|| folder("XDG_CACHE_HOME", ".cache")),
            data: path(&flags.data, "OZ0_DATA", &file.data)
                .or_else(|| folder("XDG_DATA_HOME", ".local/share")),
            edge: edge.or_else(|| file.edge.clone()),
            config,
            file,
        })
    }

    /// Where locked environments are kept.
    pub(crate) fn cache(&self) -> Result<&Path> {
        self.cache.as_deref().context(
            "no place for locked environments is known: set HOME, or name one with --cache",
        )
    }

    /// Where everything else is kept.
    pub(crate) fn data(&self) -> Result<DataFolder> {
        let data = self
            .data
            .as_deref()
            .context("no data folder is known: set HOME, or name one with --data")?;
        Ok(DataFolder::at(data)?)
    }

    /// The data folder, for a command whose edge it may become: with the key that secrets are sealed with, where one was given.
    pub(crate) fn sealed(&self) -> Result<DataFolder> {
        let folder = self.data()?;
        let text = match (variable("OZ0_SEAL_KEY")?, variable("OZ0_SEAL_KEY_FILE")?) {
            (Some(_), Some(_)) => {
                return Err(WrongUsage(
                    "OZ0_SEAL_KEY and OZ0_SEAL_KEY_FILE are both set: give the key one way"
                        .to_owned(),
                )
                .into());
            }
            (Some(text), None) => ("OZ0_SEAL_KEY", text),
            (None, Some(path)) => {
                let text = fs::read_to_string(&path).with_context(|| {
                    format!("cannot read {path}, which OZ0_SEAL_KEY_FILE names")
                })?;
                ("OZ0_SEAL_KEY_FILE", text)
            }
            (None, None) => return Ok(folder),
        };
        // The text itself is in no message.
        let key = text.1.parse();
        let key = key.map_err(|error: NoKey| WrongUsage(format!("{}: {error}", text.0)))?;
        Ok(folder.sealed_with(key))
    }

    /// oz0's configuration folder.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The folders that the configuration file shares with each plugin.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (&PluginName, &Path, ShareAccess)> {
        self.file.plugins.iter().flat_map(|(name, plugin)| {
            let write = plugin.share.iter().map(|path| (path, ShareAccess::Write));
            let read = plugin.share_read.iter().map(|path| (path, ShareAccess::Read));
            write.chain(read).map(move |(path, access)| (name, path.as_path(), access))
        })
    }

    /// Where an edge keeps its store and its bundles.
    pub(crate) fn kept(&self, flags: &KeptFlags) -> Result<Kept> {
        let given = |flag: &Option<String>, name: &str, file: &Option<String>| {
            Ok::<_, anyhow::Error>(match flag {
                Some(given) => Some(given.clone()),
                None => variable(name)?.or_else(|| file.clone()),
            })
        };
        // Nothing of a store's address is repeated: it may hold a password.
        let wrong = |error: PlaceError| WrongUsage(error.to_string());
        let store = given(&flags.store, "OZ0_STORE", &self.file.store)?;
        let bundles = given(&flags.bundles, "OZ0_BUNDLES", &self.file.bundles)?;
        Ok(Kept {
            store: store.map_or(Ok(StoreAt::Folder), |text| text.parse()).map_err(wrong)?,
            bundles: bundles.map_or(Ok(BundlesAt::Data), |text| text.parse()).map_err(wrong)?,
        })
    }

    /// Where the edge listens.
    pub(crate) fn listen(&self, flag: Option<SocketAddr>) -> Result<SocketAddr> {
        address(flag, "OZ0_LISTEN", self.file.listen, 7070)
    }

    /// Where the MCP endpoint listens.
    pub(crate) fn mcp_listen(&self, flag: Option<SocketAddr>) -> Result<SocketAddr> {
        address(flag, "OZ0_MCP_LISTEN", self.file.mcp_listen, 7071)
    }

    /// Where numbers are told, if they have a port of their own.
    pub(crate) fn metrics_listen(&self, flags: &MetricsFlags) -> Result<Option<SocketAddr>> {
        let (name, file) = ("OZ0_METRICS_LISTEN", self.file.metrics_listen);
        let given = flags.metrics_listen.is_some() || variable(name)?.is_some() || file.is_some();
        // The port is always somebody's own choice: there is none by default.
        given.then(|| address(flags.metrics_listen, name, file, 0)).transpose()
    }

    /// How the edge is reached, beside by these names.
    pub(crate) fn front(&self, flags: &FrontFlags, hosts: BTreeSet<String>) -> Result<Front> {
        let public = match &flags.public_url {
            Some(url) => Some(url.clone()),
            None => variable("OZ0_PUBLIC_URL")?.or_else(|| self.file.public_url.clone()),
        };
        let public = public.map(|text| public_url(&text)).transpose()?;
        let mut proxies = flags.trusted_proxy.clone();
        if proxies.is_empty() {
            for text in &self.file.trusted_proxies {
                proxies.push(text.parse().map_err(|error| {
                    let text = escape::line(text);
                    WrongUsage(format!(
                        "config.toml: `trusted_proxies` has `{text}`: it is {error}"
                    ))
                })?);
            }
        }
        Ok(Front { hosts, public, proxies, tls: false })
    }

    /// What is logged, and how; nothing where nobody asked for it.
    pub(crate) fn log(&self, flags: &LogFlags) -> Result<(Option<String>, Format)> {
        let format = either(flags.log_format, "OZ0_LOG_FORMAT", self.file.log_format)?;
        let filter = match &flags.log {
            Some(filter) => Some(filter.clone()),
            None => variable("OZ0_LOG")?.or_else(|| self.file.log.clone()),
        };
        let filter = filter.or_else(|| format.map(|_| FILTER.to_owned()));
        let format = match format {
            Some(LogFormat::Json) => Format::Json,
            Some(LogFormat::Text) | None => Format::Text,
        };
        // Nothing is said in place of what is not logged.
        Ok((filter.filter(|filter| filter != "off"), format))
    }

    /// How a node behaves.
    pub(crate) fn node(&self, flags: &NodeFlags) -> Result<NodeOptions> {
        let mut options = NodeOptions::default();
        let verify_every =
            time(flags.verify_every, "OZ0_VERIFY_EVERY", self.file.verify_every, "verify_every")?;
        if let Some(every) = verify_every {
            options.verify_every = VerifyEvery::all(every);
        }
        let edge_grace =
            time(flags.edge_grace, "OZ0_EDGE_GRACE", self.file.edge_grace, "edge_grace")?;
        if let Some(grace) = edge_grace {
            options.edge_grace = grace;
        }
        let approval_timeout = time(
            flags.approval_timeout,
            "OZ0_APPROVAL_TIMEOUT",
            self.file.approval_timeout,
            "approval_timeout",
        )?;
        if let Some(timeout) = approval_timeout {
            // What nobody looks at for a day nobody remembers.
            options.approval_timeout = timeout.min(Duration::from_hours(24));
        }
        let label = match &flags.ai_label {
            Some(label) => Some(label.clone()),
            None => variable("OZ0_AI_LABEL")?.or_else(|| self.file.ai_label.clone()),
        };
        if let Some(label) = label {
            options.ai_label = ai_label(&label)?;
        }
        let validate = either(flags.validate, "OZ0_VALIDATE", self.file.validate)?;
        options.validate = match validate.unwrap_or(Validate::Warn) {
            Validate::Off => oz0_node::Validate::Off,
            Validate::Warn => oz0_node::Validate::Warn,
            Validate::Refuse => oz0_node::Validate::Refuse,
        };
        let arguments = either(flags.arguments, "OZ0_ARGUMENTS", self.file.arguments)?;
        options.arguments = match arguments.unwrap_or(Arguments::AsListed) {
            Arguments::AsListed => oz0_node::Arguments::AsListed,
            Arguments::Strict => oz0_node::Arguments::Strict,
        };
        for given in &flags.secret {
            let (plugin, name) = secret(given)?;
            let value = env::var(name).map_err(|_| {
                WrongUsage(format!(
                    "--secret {}: the environment has no such variable, or it is not UTF-8",
                    escape::line(given)
                ))
            })?;
            let secrets = match plugin {
                Some(plugin) => options.secrets_of.entry(plugin).or_default(),
                None => &mut options.secrets,
            };
            secrets.insert(name.to_owned(), Sensitive::new(value));
        }
        Ok(options)
    }
}

/// An address of a whole site: what is behind its host is the console's own.
fn public_url(text: &str) -> Result<Url> {
    let url = Url::parse(text).ok().filter(|url| {
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let nobody = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && bare && nobody
    });
    url.ok_or_else(|| {
        let text = escape::line(text);
        WrongUsage(format!(
            "the public URL is `{text}`: it is a scheme and a host, such as https://oz0.example, without a path"
        ))
        .into()
    })
}

/// A label stands on a line of its own, and people must see it.
fn ai_label(text: &str) -> Result<String> {
    let label = text.trim();
    if label.is_empty() || escape::line(label) != label {
        return Err(WrongUsage(format!(
            "the AI label is `{}`: it is one line of text that people see",
            escape::line_within(text, 80)
        ))
        .into());
    }
    Ok(label.to_owned())
}

/// `NAME`, or `PLUGIN=NAME`.
fn secret(given: &str) -> Result<(Option<PluginName>, &str)> {
    let Some((plugin, name)) = given.split_once('=') else { return Ok((None, given)) };
    let plugin = plugin.parse().map_err(|error| {
        WrongUsage(format!("--secret {}: {error}; it is NAME or PLUGIN=NAME", escape::line(given)))
    })?;
    Ok((Some(plugin), name))
}

fn address(
    flag: Option<SocketAddr>,
    name: &str,
    file: Option<SocketAddr>,
    port: u16,
) -> Result<SocketAddr> {
    let given = match flag {
        Some(address) => Some(address),
        None => variable(name)?
            .map(|text| {
                text.parse()
                    .map_err(|_| WrongUsage(format!("{name} is `{text}`: it is HOST-ADDRESS:PORT")))
            })
            .transpose()?,
    };
    Ok(given.or(file).unwrap_or_else(|| (Ipv4Addr::LOCALHOST, port).into()))
}

fn time(
    flag: Option<Duration>,
    name: &str,
    file: Option<f64>,
    key: &str,
) -> Result<Option<Duration>> {
    if let Some(time) = flag {
        return Ok(Some(time));
    }
    if let Some(text) = variable(name)? {
        let wrong = |what| WrongUsage(format!("{name} is `{text}`: {what}"));
        return Ok(Some(seconds(&text).map_err(wrong)?));
    }
    file.map(|number| {
        within_a_week(number).ok_or_else(|| {
            WrongUsage(format!(
                "config.toml: `{key}` is {number}: it is at least 0 and at most 604800"
            ))
            .into()
        })
    })
    .transpose()
}

fn either<T: ValueEnum>(flag: Option<T>, name: &str, file: Option<T>) -> Result<Option<T>> {
    let given = match flag {
        Some(value) => Some(value),
        None => variable(name)?.map(|text| choice(name, &text)).transpose()?,
    };
    Ok(given.or(file))
}

/// One of the values that a flag of this type has.
fn choice<T: ValueEnum>(name: &str, text: &str) -> Result<T> {
    T::from_str(text, false).map_err(|_| {
        let values: Vec<String> = T::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect();
        let (last, others) = values.split_last().expect("an enum has values");
        WrongUsage(format!("{name} is `{text}`: it is one of {} and {last}", others.join(", ")))
            .into()
    })
}

/// A variable that is set to something: an empty one counts as unset, as CI systems set many.
pub(crate) fn variable(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => bail!("{name} is not UTF-8"),
    }
}

fn read_file(path: &Path) -> Result<File> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut file: File =
        toml::from_str(&text).with_context(|| format!("{} does not decode", path.display()))?;
    let of_plugins = file.plugins.values_mut().flat_map(|plugin| {
        let write = plugin.share.iter_mut().map(|path| ("share", path));
        write.chain(plugin.share_read.iter_mut().map(|path| ("share_read", path)))
    });
    let own = [("cache", &mut file.cache), ("data", &mut file.data)];
    let own = own.into_iter().filter_map(|(key, path)| Some((key, path.as_mut()?)));
    for (key, value) in own.chain(of_plugins) {
        // A shell would have made this of it.
        if let (Ok(below), Some(home)) = (value.strip_prefix("~"), env::var_os("HOME")) {
            *value = PathBuf::from(home).join(below);
        }
        if !value.is_absolute() {
            bail!(
                "{}: `{key}` is {}, which is not an absolute path",
                path.display(),
                value.display()
            );
        }
    }
    Ok(file)
}

/// oz0's folder below an XDG base folder. The XDG base directory specification has relative paths ignored.
fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)))
        .map(|base| base.join("oz0"))
}
