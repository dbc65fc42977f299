//! `oz0 plugin new`: a plugin's folder from a template.

use std::path::PathBuf;

use anyhow::Result;
use oz0_listing::escape;
use oz0_scaffold::{NewPlugin, shell};

use crate::cli::New;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(arguments: &New, output: Output) -> Result<Exit> {
    let plugin = NewPlugin::of(arguments.template, &arguments.name)?;
    let folder = arguments.dir.clone().unwrap_or_else(|| PathBuf::from(&arguments.name));
    plugin.write(&folder)?;
    let shown = folder.to_string_lossy().into_owned();
    let mut text = format!(
        "Wrote {} from the template {}: {}\nIts README.md says what stands where.\n\nNext:",
        escape::line(&shown),
        plugin.template().name(),
        plugin.paths().join(", "),
    );
    let mut next = vec![vec!["oz0", "plugin", "test"], vec!["oz0", "plugin", "lint", "--verified"]];
    if plugin.has_server() {
        next.push(vec!["oz0", "up"]);
    }
    for mut words in next {
        words.push(&shown);
        text.push_str("\n  ");
        text.push_str(&shell::line(words));
    }
    output.data(&text)?;
    Ok(Exit::Done)
}
