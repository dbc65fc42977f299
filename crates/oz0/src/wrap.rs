//! `oz0 wrap`: a plugin's folder around a server that somebody already uses.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use oz0_listing::escape;
use oz0_plugin::Plugin;
use oz0_scaffold::client::{self, Entry};
use oz0_scaffold::{Folder, Plan, Server, Wrapping, shell, wrap};
use oz0_server::Environments;

use crate::cli::Wrap;
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(arguments: &Wrap, settings: &Settings, output: Output) -> Result<Exit> {
    let wrapping = wrapping(arguments)?;
    let oz0 = std::env::current_exe().context("cannot find oz0's own program")?;
    let progress = Progress::new(output);
    let say = progress.clone();
    let environments = Environments::new(
        &oz0,
        settings.cache()?,
        Arc::new(move |line: &str| say.now(line.to_owned())),
    );
    let planned = wrap::plan(&wrapping, &environments);
    progress.finish();
    let plan = planned?;
    plan.write()?;
    let folder = plan.folder.path();
    let plugin = Plugin::load(folder)?;
    output.findings(plugin.diagnostics());
    output.findings(&unlocked(&plugin)?);
    tell(&plan, output)?;
    Ok(if plugin.manifest().is_some() { Exit::Done } else { Exit::Findings })
}

/// Dependency files from which nothing could be installed.
fn unlocked(plugin: &Plugin) -> Result<Vec<oz0_diagnostic::Diagnostic>> {
    Ok(plugin.dependencies()?.unusable.iter().map(oz0_measure::of_unusable).collect())
}

fn wrapping(arguments: &Wrap) -> Result<Wrapping> {
    let working = std::env::current_dir().context("cannot find the working folder")?;
    // The group of the three sources takes these from clap's own `requires`.
    if arguments.url.is_none() && !arguments.header.is_empty() {
        return Err(WrongUsage("--header goes with --url".to_owned()).into());
    }
    if arguments.from.is_none() && arguments.server.is_some() {
        let what = "the server's command stands behind --, as in: oz0 wrap -- npx some-server";
        return Err(WrongUsage(what.to_owned()).into());
    }
    let mut env = BTreeMap::new();
    for pair in &arguments.env {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| WrongUsage(format!("--env {pair}: it is written as KEY=VALUE")))?;
        env.insert(name.to_owned(), value.to_owned());
    }
    let mut secrets = arguments.secret.clone();
    let mut name = arguments.name.clone();
    let mut command_folder = None;
    let server = if let Some(file) = &arguments.from {
        let entry = entry(file, arguments.server.as_deref(), &working)?;
        for (name, value) in entry.env {
            env.entry(name).or_insert(value);
        }
        let new = entry.secrets.into_iter().filter(|secret| !arguments.secret.contains(secret));
        secrets.extend(new.filter(|secret| {
            !arguments.env.iter().any(|pair| pair.split('=').next() == Some(secret))
        }));
        name = name.or_else(|| oz0_scaffold::wrap::plugin_name(&entry.name));
        command_folder = entry.folder.map(PathBuf::from);
        entry.server
    } else if let Some(url) = &arguments.url {
        let headers = arguments.header.iter().map(|header| {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                WrongUsage(format!("--header {header}: it is written as NAME: VALUE"))
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        });
        Server::Remote { url: url.clone(), headers: headers.collect::<Result<_>>()? }
    } else {
        Server::Command(arguments.command.iter().map(word).collect::<Result<_>>()?)
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(Wrapping {
        server,
        name,
        folder: arguments.dir.clone(),
        working,
        command_folder,
        search: std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
        env,
        secrets,
        egress: arguments.egress.clone(),
        license: arguments.license.clone(),
        force: arguments.force,
    })
}

fn word(word: &OsString) -> Result<String> {
    word.to_str().map(str::to_owned).ok_or_else(|| {
        WrongUsage(format!("the argument {} is not UTF-8, and a manifest is", word.display()))
            .into()
    })
}

fn entry(file: &Path, server: Option<&str>, working: &Path) -> Result<Entry> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let is_toml = file.extension().is_some_and(|end| end == "toml");
    Ok(client::read(&text, is_toml, server, working).map_err(|refusal| refusal.of(file))?)
}

/// What was written, what to know of it, and what to do next.
fn tell(plan: &Plan, output: Output) -> Result<()> {
    for note in &plan.notes {
        let text = escape::text(&note.text);
        let line = if note.warns { format!("warning: {text}") } else { format!("note: {text}") };
        match &note.hint {
            Some(hint) => output.say(&format!("{line}\nhint: {}", escape::text(hint))),
            None => output.say(&line),
        }
    }
    let folder = plan.folder.path().to_string_lossy().into_owned();
    let place = match &plan.folder {
        Folder::Own(_) => "Wrote",
        Folder::Project(_) => "Wrote into the server's project",
    };
    let mut text = format!(
        "{place} {}: {}\nIt runs: {}\n\nNext:",
        escape::line(&folder),
        plan.files().join(", "),
        escape::line(&plan.runs),
    );
    let line = |words: &[&str], more: &[String]| {
        let words = words.iter().map(|word| (*word).to_owned()).chain(more.iter().cloned());
        shell::line(words.collect::<Vec<_>>())
    };
    let given = plan.run_arguments();
    // The first locks, installs and measures, so that no client waits for it.
    let mut lines = vec![
        line(&["oz0", "plugin", "test", &folder], &given),
        line(&["oz0", "up", &folder], &given),
    ];
    let mut claude = shell::line(["claude", "mcp", "add", &plan.name]);
    for name in &plan.secrets {
        for line in &mut lines {
            *line = format!("{name}=… {line}");
        }
        claude = format!("{claude} --env {name}=…");
    }
    lines.push(format!("{claude} -- {}", line(&["oz0", "mcp", &folder], &given)));
    for line in lines {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    if !plan.shares.is_empty() {
        text.push_str(
            "\n\nThe command names folders, which the server sees only where --share gives them (--share-read: to read alone).",
        );
    }
    Ok(output.data(&text)?)
}
