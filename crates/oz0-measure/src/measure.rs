//! The measuring itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_listing::{ToolId, ToolListing, merge};
use oz0_mcp::{ClientOptions, Era, EraChoice, Timeouts};
use oz0_plugin::manifest::{Manifest, Tool};
use oz0_plugin::{CopyOptions, DependencyProblem, LoadError, Plugin, SnapshotState, Spanned};
use oz0_server::{
    Declared, EnvironmentError, Environments, LaunchError, LaunchSpec, Launcher, Lock, Places,
    PrepareError, Prepared, Shares, Tier, ToolError, Variation,
};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::cause::Traces;
use crate::checks;
use crate::compare::compare;
use crate::contract::{self, Outcome};
use crate::findings;
use crate::look::{Blind, Look, look};
use crate::report::{Measurement, Remote, Server};
use crate::scratch::Scratch;

/// How much later the look in equal surroundings starts: long enough for a clock that counts seconds to have moved.
const LATER: Duration = Duration::from_millis(1_050);

/// How to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which era of the protocol to open connections in.
    pub era: EraChoice,
    /// How long a server may take to start, and again to list.
    pub timeout: Duration,
    /// Values for declared secrets, by name. A required secret without one gets [`PLACEHOLDER`].
    pub secrets: BTreeMap<String, String>,
    /// Folders of this machine that the servers may use, their contract tests aside.
    pub shares: Shares,
}

/// What a required secret holds while a plugin is measured, unless its author hands one in.
pub const PLACEHOLDER: &str = "oz0-placeholder";

/// What happens while a plugin is measured, for whoever watches.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A server is being looked at: which tool, and the number of the look, from 1 to 3.
    Looking(&'a ToolId, u8),
    /// A runner of contract tests starts: its name, and what it runs.
    Testing(&'static str, String),
    /// Something that a contract test printed.
    Printed(&'a [u8]),
}

/// oz0 could not measure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The plugin's files could not be read or copied.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No server could be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// An environment could not be made for a reason that is not the plugin's.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A temporary folder could not be made.
    #[error("could not make a temporary folder for the plugin's copy")]
    Folder(#[source] std::io::Error),
}

/// Measures plugins.
pub struct Measurer<'a> {
    launcher: &'a Launcher,
    environments: &'a Environments,
    options: Options,
    watch: &'a (dyn Fn(Event<'_>) + Send + Sync),
}

/// A tool that is to be looked at, ready to be started.
struct Subject<'p> {
    key: &'p Spanned<ToolId>,
    tool: &'p Tool,
    prepared: Prepared,
    declared: BTreeMap<String, String>,
}

/// The copies that the looks run on.
struct Copies {
    standard: PathBuf,
    other: PathBuf,
}

impl<'a> Measurer<'a> {
    /// A measurer that tells `watch` what it does.
    pub fn new(
        launcher: &'a Launcher,
        environments: &'a Environments,
        options: Options,
        watch: &'a (dyn Fn(Event<'_>) + Send + Sync),
    ) -> Self {
        Self { launcher, environments, options, watch }
    }

    /// Locks and installs what the servers of a plugin need, and writes the locks that it lacks. Blocks.
    ///
    /// Call it before the files are measured: a lock that it writes is one of them.
    pub fn lock(
        &self,
        plugin: &Plugin,
        manifest: &Manifest,
        relock: bool,
    ) -> Result<Vec<Diagnostic>, MeasureError> {
        let mut findings: Vec<Diagnostic> =
            plugin.dependencies()?.unusable.iter().map(of_unusable).collect();
        for (key, tool) in manifest.tools.iter().filter(|(_, tool)| !tool.is_remote()) {
            if let Err(problem) = self.prepare(plugin, key, tool, relock)? {
                let finding = of_preparing(key, &problem);
                // Servers that are installed from one file have one problem with it.
                let said = |found: &Diagnostic| {
                    found.message == finding.message
                        && found.span.file().path() == finding.span.file().path()
                };
                if !findings.iter().any(said) {
                    findings.push(finding);
                }
            }
        }
        Ok(findings)
    }

    /// Looks at every server of the plugin, three times each.
    pub async fn measure(
        &self,
        plugin: &Plugin,
        manifest: &Manifest,
    ) -> Result<Measurement, MeasureError> {
        let mut findings = Vec::new();
        let mut subjects = Vec::new();
        let mut remote = Vec::new();
        let mut expected = Vec::new();
        for (key, tool) in &manifest.tools {
            if tool.is_remote() {
                let snapshot = snapshot(plugin, key, &mut findings)?;
                remote.push(Remote {
                    tool: key.value.clone(),
                    snapshot: snapshot.as_ref().map(|listing| listing.functions.len()),
                });
                expected.extend(snapshot);
                continue;
            }
            match self.prepare(plugin, key, tool, false)? {
                Ok(prepared) => {
                    let declared = Declared::of_tool(manifest, tool, &self.options.secrets);
                    let declared = declared.or(PLACEHOLDER);
                    subjects.push(Subject { key, tool, prepared, declared });
                }
                Err(problem) => findings.push(of_preparing(key, &problem)),
            }
        }

        let scratch = scratch()?;
        let copies = Copies {
            standard: scratch.join("standard/plugin"),
            other: scratch.join("elsewhere/plugin"),
        };
        plugin.copy(&copies.standard, &CopyOptions::default())?;
        plugin.copy(&copies.other, &CopyOptions::other())?;

        // Servers that start compete for processors, and one that waits for its turn looks late.
        let turns = Semaphore::new(std::thread::available_parallelism().map_or(2, usize::from));
        let looks =
            subjects.iter().map(|subject| self.look_thrice(subject, manifest, &copies, &turns));
        let mut listings = Vec::new();
        let mut servers = Vec::new();
        for seen in futures_util::future::join_all(looks).await {
            let (found, seen) = seen?;
            findings.extend(found);
            if let Some((server, listing)) = seen {
                servers.push(server);
                listings.push(listing);
            }
        }

        // A remote tool's functions take part in who is left out, as they do on a node, but are not measured.
        let remote_tools: Vec<ToolId> =
            expected.iter().map(|listing| listing.tool.clone()).collect();
        listings.extend(expected);
        let mut listing = merge(listings);
        let span_of = |tool: &ToolId| {
            manifest
                .tools
                .iter()
                .find(|(key, _)| key.value == *tool)
                .map(|(key, _)| key.span.clone())
        };
        findings.extend(findings::left_out(&span_of, &listing));
        listing.functions.retain(|function| !remote_tools.contains(&function.id.tool()));
        listing.left_out.retain(|entry| !remote_tools.contains(&entry.tool));
        findings.sort_by_key(|finding| finding.span.range().start);
        for server in &mut servers {
            server.functions = listing
                .functions
                .iter()
                .filter(|function| function.id.tool() == server.tool)
                .count();
        }
        Ok(Measurement { listing, servers, remote, findings })
    }

    /// Runs the plugin's contract tests, each runner on a copy of its own. Gives what failed.
    pub async fn run_contract_tests(
        &self,
        plugin: &Plugin,
        manifest: &Manifest,
    ) -> Result<Vec<Diagnostic>, MeasureError> {
        let mut findings = Vec::new();
        for suite in contract::suites(&plugin.contract_tests()) {
            let failed = |message: String, help: &str| {
                let span = Span::start_of(plugin.source());
                Diagnostic::new(&checks::CONTRACT_FAILED, span, message).help(help)
            };
            let runner =
                suite.needs_pytest.then(|| SourceFile::new("the lock of oz0's pytest", PYTEST));
            let (environments, dependencies) = (self.environments.clone(), plugin.dependencies()?);
            // An installation must not keep a signal waiting.
            let prepare = move || environments.prepare_tests(&dependencies, runner.as_ref());
            let prepared = tokio::task::spawn_blocking(prepare)
                .await
                .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()));
            let prepared = match prepared {
                Ok(prepared) => prepared,
                Err(PrepareError::Plugin(problem)) => {
                    let span = problem.span.clone();
                    findings.push(
                        Diagnostic::new(&checks::CONTRACT_FAILED, span, problem.message.clone())
                            .help(problem.help.clone()),
                    );
                    continue;
                }
                Err(PrepareError::Failed(error)) => return Err(error.into()),
            };
            let scratch = scratch()?;
            let copy = scratch.join("plugin");
            // A test may look at the measured listing too.
            plugin.copy(&copy, &CopyOptions { written: true, ..CopyOptions::default() })?;
            let declared = Declared::secrets(manifest, &self.options.secrets).or(PLACEHOLDER);
            let spec = prepared.launch_of(manifest, &copy, declared);
            (self.watch)(Event::Testing(suite.name, suite.what.clone()));
            let hand_on = |bytes: &[u8]| (self.watch)(Event::Printed(bytes));
            match contract::run(self.launcher, &suite, spec, &hand_on).await? {
                Outcome::Passed => {}
                Outcome::Failed(what) => findings.push(failed(
                    format!("the contract tests failed: {what}"),
                    "what the runner printed says which",
                )),
            }
        }
        Ok(findings)
    }

    /// The three looks at one server. Without a first look there is nothing to give but findings.
    async fn look_thrice(
        &self,
        subject: &Subject<'_>,
        manifest: &Manifest,
        copies: &Copies,
        turns: &Semaphore,
    ) -> Result<(Vec<Diagnostic>, Option<(Server, ToolListing)>), MeasureError> {
        let (key, tool) = (subject.key, subject.tool);
        let unstable = tool.unstable_pointers();
        let spec = |variation: Variation| {
            let copy = match variation {
                Variation::Standard => &copies.standard,
                Variation::Other => &copies.other,
            };
            let declared = subject.declared.clone();
            let shares = self.options.shares.clone();
            LaunchSpec { variation, shares, ..subject.prepared.launch_of(manifest, copy, declared) }
        };
        let once = async |variation: Variation, era: EraChoice, number: u8| {
            let _turn = turns.acquire().await.expect("nobody closes it");
            (self.watch)(Event::Looking(&key.value, number));
            look(self.launcher, &spec(variation), &self.client(era), &key.value, &unstable).await
        };

        let first = match once(Variation::Standard, self.options.era, 1).await {
            Ok(first) => first,
            Err(blind) => return Ok((vec![of_blind(key, "", blind)?], None)),
        };
        // The era that was agreed is asked for again, as a node does: a probe that is slow once must not look like a change.
        let era = match first.era {
            Era::Modern => EraChoice::Modern,
            Era::Legacy => EraChoice::Legacy,
        };
        let (other, later) = tokio::join!(once(Variation::Other, era, 3), async {
            sleep(LATER).await;
            once(Variation::Standard, era, 2).await
        });

        let mut found = findings::of_listing(key, tool, &first.listing, &first.unused);
        found.extend(findings::hidden_characters(key, &first.hidden));
        found.extend(of_junk(key, &first));
        match later {
            Err(blind) => found.push(of_blind(key, " at its second start", blind)?),
            Ok(later) => {
                let unsteady = compare(&first.listing, &later.listing);
                found.extend(findings::unstable_functions(
                    &key.value,
                    &key.span,
                    &unsteady,
                    &Traces::default(),
                ));
                match other {
                    Err(blind) => found.push(of_blind(key, " in other surroundings", blind)?),
                    Ok(other) => {
                        let mut bound = compare(&first.listing, &other.listing);
                        bound.retain(|name, _| !unsteady.contains_key(name));
                        let traces = traces(&first.tier, copies);
                        found.extend(findings::bound_functions(
                            &key.value, &key.span, &bound, &traces,
                        ));
                    }
                }
            }
        }
        let server = Server {
            tool: key.value.clone(),
            says: first.server,
            protocol: first.protocol,
            era: first.era,
            functions: first.listing.functions.len(),
            pages: first.pages,
            tier: first.tier,
            missing: first.missing,
        };
        Ok((found, Some((server, first.listing))))
    }

    fn client(&self, era: EraChoice) -> ClientOptions {
        let timeouts = Timeouts {
            connect: self.options.timeout,
            listing: self.options.timeout,
            ..Timeouts::default()
        };
        ClientOptions { era, timeouts, ..ClientOptions::default() }
    }

    /// What a tool's server is started with, or what is wrong with its dependencies.
    fn prepare(
        &self,
        plugin: &Plugin,
        key: &Spanned<ToolId>,
        tool: &Tool,
        relock: bool,
    ) -> Result<Result<Prepared, DependencyProblem>, MeasureError> {
        let lock = if relock { Lock::Renew } else { Lock::Use };
        match self.environments.prepare_tool(plugin, key, tool, lock) {
            Ok(prepared) => Ok(Ok(prepared)),
            Err(ToolError::Prepare(PrepareError::Plugin(problem))) => Ok(Err(*problem)),
            Err(ToolError::Prepare(PrepareError::Failed(error))) => Err(error.into()),
            Err(ToolError::Load(error)) => Err(error.into()),
        }
    }
}

/// What a remote tool is expected to list.
fn snapshot(
    plugin: &Plugin,
    key: &Spanned<ToolId>,
    findings: &mut Vec<Diagnostic>,
) -> Result<Option<ToolListing>, MeasureError> {
    match plugin.snapshot(&key.value)? {
        SnapshotState::Missing => Ok(None),
        SnapshotState::Unreadable(finding) => {
            findings.push(*finding);
            Ok(None)
        }
        SnapshotState::Present(snapshot) => Ok(Some(ToolListing {
            tool: snapshot.tool,
            functions: snapshot.functions,
            left_out: Vec::new(),
        })),
    }
}

/// The hashed requirements of the pytest that runs contract tests where a plugin's own environment has none.
const PYTEST: &str = include_str!("pytest.lock");

/// A dependency file that does not fix what would be installed: nothing is installed from it, so a server would miss it.
pub fn of_unusable(problem: &DependencyProblem) -> Diagnostic {
    Diagnostic::new(&checks::ENVIRONMENT_FAILED, problem.span.clone(), problem.message.clone())
        .help(problem.help.clone())
        .level(problem.level)
}

fn of_preparing(key: &Spanned<ToolId>, problem: &DependencyProblem) -> Diagnostic {
    let finding = of_unusable(problem);
    if problem.span.file().path() == key.span.file().path() {
        return finding;
    }
    finding.related(key.span.clone(), format!("`{}` is installed from it", key.value))
}

/// A server that could not be looked at: the plugin's problem, unless it was oz0 that failed.
fn of_blind(key: &Spanned<ToolId>, when: &str, blind: Blind) -> Result<Diagnostic, MeasureError> {
    match blind {
        Blind::Failed(error) => Err(error.into()),
        Blind::NotStarted(what) => {
            let message = format!("the server of `{}` failed{when}: {what}", key.value);
            Ok(Diagnostic::new(&checks::SERVER_FAILED, key.span.clone(), message))
        }
        Blind::Server { what, stderr } => {
            let message = format!("the server of `{}` failed{when}: {what}", key.value);
            let finding = Diagnostic::new(&checks::SERVER_FAILED, key.span.clone(), message);
            Ok(if stderr.is_empty() {
                finding.help("it said nothing on stderr; start it by hand to see what it does")
            } else {
                finding.help(format!("the end of what it said on stderr:\n{stderr}"))
            })
        }
    }
}

fn of_junk(key: &Spanned<ToolId>, look: &Look) -> Option<Diagnostic> {
    if look.junk.lines == 0 {
        return None;
    }
    let message = format!(
        "the server of `{}` wrote {} to its standard output that no JSON-RPC message has, such as: {}",
        key.value,
        contract::count(usize::try_from(look.junk.lines).unwrap_or(usize::MAX), "line"),
        look.junk.sample.first().map_or("", String::as_str),
    );
    Some(
        Diagnostic::new(&checks::STDOUT_JUNK, key.span.clone(), message)
            .help("write logs to stderr: MCP has standard output for its messages alone"),
    )
}

/// What of the surroundings can show up in a listing.
fn traces(tier: &Tier, copies: &Copies) -> Traces {
    let both = [Variation::Standard, Variation::Other];
    let fixed: Vec<Places> = both.into_iter().map(Places::fixed).collect();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let zones = both.into_iter().map(|variation| variation.zone().to_owned()).collect();
    match tier {
        Tier::One => Traces {
            zones,
            folders: fixed.iter().map(|places| text(&places.folder)).collect(),
            homes: fixed.iter().map(|places| text(&places.home)).collect(),
            surroundings_only: true,
        },
        Tier::Zero { .. } => Traces {
            zones,
            folders: vec![text(&copies.standard), text(&copies.other)],
            homes: Vec::new(),
            surroundings_only: true,
        },
    }
}

fn scratch() -> Result<Scratch, MeasureError> {
    Scratch::new().map_err(MeasureError::Folder)
}
