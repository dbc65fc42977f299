//! `oz0 wrap`: from a command or a URL to a plugin's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use oz0_plugin::manifest::MANIFEST;
use oz0_server::{EnvironmentError, Environments, Registry, ShareAccess, Shares};
use oz0_yaml::Data;

use crate::command::{Kind, understand};
use crate::local::{self, CopiedFile, Local, Surroundings};
use crate::manifest::{self, Contents, list, map};
use crate::name::{self, PluginName};
use crate::package::Fetched;
use crate::plan::{Folder, Note, Plan};
use crate::refusal::{Refusal, WrapError};
use crate::secret::{command_holds_secret, cut, looks_secret, sends_secret};
use crate::shell;
use crate::uv;

/// The server that is wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// A command and its arguments.
    Command(Vec<String>),
    /// A remote one, and the headers of requests to it.
    Remote {
        /// Its URL.
        url: String,
        /// Names and values.
        headers: Vec<(String, String)>,
    },
}

/// What is to be wrapped, and how.
#[derive(Debug, Clone)]
pub struct Wrapping {
    /// The server.
    pub server: Server,
    /// The plugin's name; made of the server's where there is none.
    pub name: Option<String>,
    /// The plugin's folder; a new one of the plugin's name in the working folder where there is none.
    pub folder: Option<PathBuf>,
    /// The working folder, absolute.
    pub working: PathBuf,
    /// The folder that the command's paths are relative to, where that is another one.
    pub command_folder: Option<PathBuf>,
    /// The folders of programs, in their order.
    pub search: Vec<PathBuf>,
    /// Variables of the server.
    pub env: BTreeMap<String, String>,
    /// The names of its secrets.
    pub secrets: Vec<String>,
    /// The hosts that it reaches.
    pub egress: Vec<String>,
    /// The plugin's licence.
    pub license: Option<String>,
    /// Write over a manifest that is there.
    pub force: bool,
}

/// What registries know. [`Environments`] asks them.
pub trait Registries {
    /// As [`Environments::newest`].
    fn newest(
        &self,
        registry: Registry,
        name: &str,
        range: &str,
    ) -> Result<String, EnvironmentError>;
    /// As [`Environments::python_files`].
    fn python_files(&self, requirements: &[String]) -> Result<Files, EnvironmentError>;
    /// As [`Environments::node_files`].
    fn node_files(&self, name: &str, version: &str) -> Result<Files, EnvironmentError>;
}

/// Paths in a plugin's folder, and the texts of the files.
pub type Files = Vec<(&'static str, String)>;

impl Registries for Environments {
    fn newest(
        &self,
        registry: Registry,
        name: &str,
        range: &str,
    ) -> Result<String, EnvironmentError> {
        Self::newest(self, registry, name, range)
    }

    fn python_files(&self, requirements: &[String]) -> Result<Files, EnvironmentError> {
        Self::python_files(self, requirements)
    }

    fn node_files(&self, name: &str, version: &str) -> Result<Files, EnvironmentError> {
        Self::node_files(self, name, version)
    }
}

/// Files of a project that no plugin is made of: installed packages, which come from its lock, and what holds secrets.
const IGNORED: &str = "\
# What is no part of the plugin.
node_modules/
.venv/
venv/
.env
.env.*
";

/// The tool's part of the manifest, and what comes with it.
#[derive(Default)]
struct Tool {
    keys: Vec<(&'static str, Data)>,
    texts: Vec<(String, String)>,
    copies: Vec<CopiedFile>,
    project: Option<PathBuf>,
    label: String,
    runs: String,
    what: String,
    notes: Vec<Note>,
    shares: Vec<PathBuf>,
    remote: Option<String>,
}

/// Plans a plugin around a server. Asks registries for versions and locks, and runs nothing of the server.
pub fn plan(wrapping: &Wrapping, registries: &dyn Registries) -> Result<Plan, WrapError> {
    let folder = wrapping.folder.as_ref().map(|folder| plain(&wrapping.working.join(folder)));
    let mut env = wrapping.env.clone();
    let mut words = Vec::new();
    let mut tool = match &wrapping.server {
        Server::Remote { url, headers } => {
            check_remote(url, headers, &wrapping.secrets)?;
            without_variables(&env, remote(url, headers)?)
        }
        Server::Command(argv) => {
            let understood = understand(argv)?;
            words = understood.words;
            for (name, value) in understood.env {
                env.entry(name).or_insert(value);
            }
            let here = wrapping.command_folder.as_ref().map_or_else(
                || wrapping.working.clone(),
                |folder| plain(&wrapping.working.join(folder)),
            );
            let repeated = cut(&words);
            let around = Surroundings {
                here: here.clone(),
                working: &wrapping.working,
                search: &wrapping.search,
                folder: folder.as_deref(),
                command: &repeated,
            };
            match understood.kind {
                Kind::Remote { url, headers } => {
                    check_remote(&url, &headers, &wrapping.secrets)?;
                    let mut tool = without_variables(&env, remote(&url, &headers)?);
                    tool.notes.push(Note::plain(
                        "mcp-remote is left out: oz0 reaches the server at its URL itself",
                    ));
                    tool
                }
                Kind::Fetched(fetched) => package(fetched, &env, &here, registries)?,
                Kind::Program(argv) => {
                    files(local::local(&argv, &around)?, &mut env, &here, registries)?
                }
                Kind::UvRun(run) => files(uv::run(&run, &around)?, &mut env, &here, registries)?,
            }
        }
    };
    let name = name_of(wrapping, &tool)?;
    let folder = match (tool.project.take(), folder) {
        (Some(project), _) => Folder::Project(project),
        (None, Some(folder)) => Folder::Own(folder),
        (None, None) => Folder::Own(wrapping.working.join(&name)),
    };
    check_folder(wrapping, &folder)?;

    let mut egress = wrapping.egress.clone();
    egress.extend(tool.remote.take());
    let mut seen = std::collections::BTreeSet::new();
    egress.retain(|host| seen.insert(host.clone()));
    check_values(wrapping, &env, &words, &mut tool);
    if !matches!(wrapping.server, Server::Remote { .. }) && egress.is_empty() {
        tool.notes.push(Note::plain(
            "the server has no network; name the hosts that it reaches with --egress HOST",
        ));
    }
    for value in env.values() {
        propose(value, &mut tool.shares);
    }
    let shares = shares(&mut tool, &folder)?;
    for name in &wrapping.secrets {
        env.remove(name);
    }
    let contents = Contents {
        name: &name,
        description: &format!("{}, wrapped as it is.", tool.what),
        license: wrapping.license.as_deref(),
        tool: tool.keys,
        egress: &egress,
        secrets: &wrapping.secrets,
    };
    let text = manifest::text(&contents)?;
    loads(&text)?;
    let mut texts = tool.texts;
    texts.push((MANIFEST.to_owned(), text));
    if let Folder::Project(project) = &folder
        && !project.join(".oz0ignore").exists()
    {
        texts.push((".oz0ignore".to_owned(), IGNORED.to_owned()));
    }
    Ok(Plan {
        name,
        folder,
        runs: tool.runs,
        notes: tool.notes,
        shares,
        secrets: wrapping.secrets.clone(),
        texts,
        copies: tool.copies,
        overwrite: wrapping.force,
    })
}

/// An absolute path without `.` and `..`. Where a link is before a `..`, only the system knows what is above it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if let Ok(real) = plain.canonicalize() {
                    plain = real;
                }
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn name_of(wrapping: &Wrapping, tool: &Tool) -> Result<String, Refusal> {
    if let Some(name) = &wrapping.name {
        return match PluginName::parse(name) {
            Ok(name) => Ok(name.as_str().to_owned()),
            Err(misnamed) => {
                let example = misnamed.slug().map(|name| format!("--name {name}"));
                Err(misnamed.refusal(example.as_deref()))
            }
        };
    }
    name::of_server(&tool.label).ok_or_else(|| {
        Refusal::new("no name can be made of what the server is called")
            .hint("give it one: --name NAME")
    })
}

/// A plugin's name made of any text, if one can be.
pub fn plugin_name(text: &str) -> Option<String> {
    name::slug(text)
}

fn check_folder(wrapping: &Wrapping, folder: &Folder) -> Result<(), Refusal> {
    let path = folder.path();
    if path.to_str().is_none() {
        return Err(Refusal::new(format!("{} is not UTF-8", path.display())));
    }
    if path.join(MANIFEST).symlink_metadata().is_ok() && !wrapping.force {
        return Err(Refusal::new(format!("{} is a plugin already", path.display())).hint(
            "name another folder with --dir, or write a new manifest over its own with --force",
        ));
    }
    let holds_something = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if wrapping.folder.is_none()
        && matches!(folder, Folder::Own(_))
        && holds_something
        && !wrapping.force
    {
        return Err(Refusal::new(format!(
            "{} is there already, and everything in it would be part of the plugin",
            path.display()
        ))
        .hint("name another folder with --dir, or another plugin with --name"));
    }
    Ok(())
}

/// Warns of what a manifest should not hold.
fn check_values(
    wrapping: &Wrapping,
    env: &BTreeMap<String, String>,
    words: &[String],
    tool: &mut Tool,
) {
    for (name, value) in env.iter().filter(|(name, _)| !wrapping.secrets.contains(name)) {
        if looks_secret(name, value) {
            tool.notes.push(Note::warning(
                format!("the value of {name} looks like a secret, and the manifest has it now"),
                format!("wrap it with --secret {name} instead of --env, and hand its value over when it runs"),
            ));
        }
    }
    if command_holds_secret(words) {
        tool.notes.push(Note::warning(
            "an argument of the command looks like a secret, and the manifest has it now",
            "look whether the server takes it from a variable, and wrap it with --secret NAME",
        ));
    }
}

fn remote(url: &str, headers: &[(String, String)]) -> Result<Tool, Refusal> {
    let parsed = url::Url::parse(url)
        .map_err(|error| Refusal::new(format!("`{}` is no URL: {error}", url.escape_debug())))?;
    let host = parsed
        .host_str()
        .ok_or_else(|| Refusal::new(format!("`{}` has no host", url.escape_debug())))?;
    let mut tool = Tool {
        keys: vec![("url", Data::String(url.to_owned()))],
        label: name::of_host(host).unwrap_or_else(|| "remote".to_owned()),
        runs: url.to_owned(),
        what: format!("The MCP server at {host}"),
        remote: Some(host.trim_matches(['[', ']']).to_owned()).filter(|host| !host.contains(':')),
        ..Tool::default()
    };
    if !headers.is_empty() {
        let values =
            headers.iter().map(|(name, value)| (name.as_str(), Data::String(value.clone())));
        tool.keys.push(("headers", Data::mapping(values)));
    }
    Ok(tool)
}

/// Says which variables are left out.
fn without_variables(env: &BTreeMap<String, String>, mut tool: Tool) -> Tool {
    if !env.is_empty() {
        let names = env.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        tool.notes.push(Note::plain(format!(
            "a remote server has no variables of its plugin: {names} is left out"
        )));
    }
    tool
}

/// Refuses a secret for a remote server: a manifest is read by everybody, and nothing hands one over beside it.
fn check_remote(
    url: &str,
    headers: &[(String, String)],
    secrets: &[String],
) -> Result<(), Refusal> {
    let query = url::Url::parse(url).ok();
    let query = query
        .iter()
        .flat_map(url::Url::query_pairs)
        .find(|(name, value)| sends_secret(name, value));
    let what =
        if let Some((name, _)) = headers.iter().find(|(name, value)| sends_secret(name, value)) {
            format!("the header {name} is a secret of the remote server")
        } else if let Some((name, _)) = query {
            format!("{name} in the URL is a secret of the remote server")
        } else if let Some(name) = secrets.first() {
            format!("{name} is a secret of a remote server")
        } else {
            return Ok(());
        };
    Err(Refusal::new(format!(
        "{what}: a manifest is read by everybody, and oz0 hands no secret to remote servers yet"
    ))
    .hint("remote servers that ask for no secret can be wrapped, and so can a local server that takes it from a variable: oz0 wrap --secret NAME -- COMMAND; leave this one in its client until then"))
}

fn package(
    fetched: Fetched,
    env: &BTreeMap<String, String>,
    here: &Path,
    registries: &dyn Registries,
) -> Result<Tool, WrapError> {
    let Fetched { package, program, with, args, ignored } = fetched;
    let mut tool = Tool {
        label: program.clone().unwrap_or_else(|| package.name.clone()),
        notes: ignored.into_iter().map(Note::plain).collect(),
        ..Tool::default()
    };
    let args = arguments(&args, here, &mut tool);
    let version = match package.exact() {
        Some(version) => version.to_owned(),
        None => registries.newest(package.registry, &package.full_name(), &package.version)?,
    };
    let reference = package.reference(&version);
    let registry = match package.registry {
        Registry::Pypi => "PyPI",
        Registry::Npm => "npm",
    };
    tool.what = format!("The MCP server {} {version} of {registry}", package.name);
    if program.is_none() && with.is_empty() {
        tool.runs = line_of(&reference, &args);
        tool.keys.push(("package", Data::String(reference)));
        if !args.is_empty() {
            tool.keys.push(("args", list(&args)));
        }
        if !env.is_empty() {
            tool.keys.push(("env", map(env)));
        }
        return Ok(tool);
    }
    // Another program than the package's own, or other packages beside it: a server of the plugin, from its own lock.
    let files = match package.registry {
        Registry::Pypi => {
            let mut requirements = vec![format!("{}=={version}", package.full_name())];
            requirements.extend(with);
            registries.python_files(&requirements)?
        }
        Registry::Npm => registries.node_files(&package.name, &version)?,
    };
    tool.texts.extend(files.into_iter().map(|(path, text)| (path.to_owned(), text)));
    let mut words = vec![program.unwrap_or_else(|| package.name.clone())];
    words.extend(args);
    tool.runs = format!("{} from {reference}", shown(&words).collect::<Vec<_>>().join(" "));
    tool.keys.push(("mcp", command(&words, env)));
    Ok(tool)
}

/// A script whose packages nothing names: in the sandbox it has none of them.
fn unnamed_packages(imports: &[String], argv: &[String]) -> Note {
    let script = argv.iter().find(|word| uv::is_python(word)).map_or("SCRIPT", String::as_str);
    Note::warning(
        format!(
            "{script} imports {}, and nothing says which packages it needs, so none is installed for it",
            imports.join(", ")
        ),
        format!(
            "name them in the script, in a block `# /// script` (PEP 723), or in the command, as in: oz0 wrap -- uv run --with PACKAGE {script}"
        ),
    )
}

/// Words as they are printed.
fn shown(words: &[String]) -> impl Iterator<Item = String> {
    cut(words).into_iter().map(|word| match word.strip_suffix('…') {
        // It is to be read, and can be no command again anyway.
        Some(_) => word,
        None => shell::quoted(&word),
    })
}

fn line_of(first: &str, args: &[String]) -> String {
    std::iter::once(first.to_owned()).chain(shown(args)).collect::<Vec<_>>().join(" ")
}

fn command(argv: &[String], env: &BTreeMap<String, String>) -> Data {
    let mut keys = vec![("command", list(argv))];
    if !env.is_empty() {
        keys.push(("env", map(env)));
    }
    Data::mapping(keys)
}

fn files(
    local: Local,
    env: &mut BTreeMap<String, String>,
    here: &Path,
    registries: &dyn Registries,
) -> Result<Tool, WrapError> {
    for (name, value) in local.env {
        env.entry(name).or_insert(value);
    }
    let mut tool = Tool {
        copies: local.copied,
        project: local.project,
        what: format!("The MCP server of {}", local.label),
        label: local.label,
        notes: local.notes,
        ..Tool::default()
    };
    if !local.requirements.is_empty() {
        let files = registries.python_files(&local.requirements)?;
        tool.texts.extend(files.into_iter().map(|(path, text)| (path.to_owned(), text)));
    }
    if !local.imports.is_empty() && local.requirements.is_empty() {
        tool.notes.push(unnamed_packages(&local.imports, &local.argv));
    }
    let argv = arguments(&local.argv, here, &mut tool);
    tool.runs = shown(&argv).collect::<Vec<_>>().join(" ");
    tool.keys.push(("mcp", command(&argv, env)));
    Ok(tool)
}

/// Arguments as the server gets them: a path that is relative to the working folder, where the server will not be, is
/// made absolute, or relative to the plugin's folder where it lies in it; folders are proposed to be shared.
fn arguments(args: &[String], here: &Path, tool: &mut Tool) -> Vec<String> {
    args.iter()
        .map(|word| {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (Some(option), value),
                _ => (None, word.as_str()),
            };
            let exists = !value.is_empty() && !value.starts_with('-') && here.join(value).exists();
            let relative = [".", ".."].contains(&value)
                || value.starts_with("./")
                || value.starts_with("../")
                || (!value.starts_with('/') && value.contains('/') && exists);
            if !relative && exists && here.join(value).is_dir() && !value.starts_with('/') {
                // A command of the server's can be spelled as a folder that happens to lie here.
                tool.notes.push(Note::warning(
                    format!(
                        "{value} is a folder here, and is written as it stands: a server runs in its plugin's folder"
                    ),
                    format!("if the folder is meant, give it as ./{value}"),
                ));
            }
            let made = (relative || value.starts_with('/')).then(|| plain(&here.join(value)));
            let Some(path) = made.filter(|path| path.exists()) else { return word.clone() };
            let inside =
                tool.project.as_deref().and_then(|project| path.strip_prefix(project).ok());
            let new = match inside {
                Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
                Some(inside) => inside.to_string_lossy().into_owned(),
                None => path.to_string_lossy().into_owned(),
            };
            if inside.is_none() {
                // A file that comes with the plugin is named by its place there, and is no path of the user's.
                if relative
                    && tool
                        .copies
                        .iter()
                        .any(|copy| Path::new(value) == Path::new(".").join(&copy.to))
                {
                    return word.clone();
                }
                propose(&new, &mut tool.shares);
            }
            if new != value && relative {
                tool.notes.push(Note::plain(format!(
                    "{value} is written as {new}: a server runs in its plugin's folder"
                )));
            }
            option.map_or_else(|| new.clone(), |option| format!("{option}={new}"))
        })
        .collect()
}

/// Proposes the folder that a text names, or the one of the file that it names.
fn propose(text: &str, shares: &mut Vec<PathBuf>) {
    let path = Path::new(text);
    if !path.is_absolute() || oz0_server::in_system(path) {
        return;
    }
    let folder = if path.is_dir() { Some(path) } else { path.parent().filter(|_| path.is_file()) };
    if let Some(folder) = folder
        && !shares.iter().any(|share| folder.starts_with(share))
    {
        shares.retain(|share| !share.starts_with(folder));
        shares.push(folder.to_owned());
    }
}

/// The folders that can be shared; of the others, people are told.
fn shares(tool: &mut Tool, folder: &Folder) -> Result<Vec<PathBuf>, Refusal> {
    let mut shares = Vec::new();
    for path in std::mem::take(&mut tool.shares) {
        if let Err(error) = Shares::new([(path.clone(), ShareAccess::Write)], &[]) {
            tool.notes.push(Note::warning(
                format!(
                    "the command names {}, which its server will not see: {error}",
                    path.display()
                ),
                error.help(),
            ));
            continue;
        }
        if folder.path().starts_with(&path) {
            return Err(Refusal::new(format!(
                "the plugin would lie in {}, which its server works on and could change it in",
                path.display()
            ))
            .hint("put the plugin elsewhere: --dir FOLDER"));
        }
        shares.push(path);
    }
    Ok(shares)
}

/// Refuses what would not load, with the loader's reason.
fn loads(text: &str) -> Result<(), Refusal> {
    let decoded = oz0_plugin::manifest::decode(MANIFEST, text.as_bytes());
    match decoded.diagnostics.first() {
        None => Ok(()),
        Some(finding) => {
            let refusal = Refusal::new(format!("no plugin can be made of it: {}", finding.message));
            Err(match &finding.help {
                Some(help) => refusal.hint(help.clone()),
                None => refusal,
            })
        }
    }
}
