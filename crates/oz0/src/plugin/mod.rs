//! `oz0 plugin …`.

mod approve;
pub(crate) mod change;
mod explain;
mod inspect;
mod install;
mod lint;
mod list;
mod locked;
mod new;
mod outline;
mod pack;
mod promote;
mod remove;
mod shown;
mod target;
mod test;
mod update;

use anyhow::Result;

use crate::cli::Plugin;
use crate::config::Settings;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(command: Plugin, settings: &Settings, output: Output) -> Result<Exit> {
    match command {
        Plugin::New(arguments) => new::run(&arguments, output),
        Plugin::Test(arguments) => test::run(&arguments, settings, output),
        Plugin::Inspect(arguments) => inspect::run(&arguments, output),
        Plugin::Lint(arguments) => lint::run(&arguments, output),
        Plugin::Explain(arguments) => explain::run(&arguments, output),
        Plugin::Pack(arguments) => pack::run(&arguments, settings, output),
        Plugin::Install(arguments) => install::run(&(&arguments).into(), settings, output),
        Plugin::Update(arguments) => install::run(&(&arguments).into(), settings, output),
        Plugin::Promote(arguments) => promote::promote(&arguments, settings, output),
        Plugin::Rollback(arguments) => promote::rollback(&arguments, settings, output),
        Plugin::List { json } => list::run(json, settings, output),
        Plugin::ApproveTools(arguments) => approve::run(&arguments, settings, output),
        Plugin::Remove { name } => remove::run(&name, settings, output),
        Plugin::Schema => {
            output.data(&schema_text()?)?;
            Ok(Exit::Done)
        }
    }
}

/// The JSON Schema of the manifest, indented, with a line end.
pub(crate) fn schema_text() -> Result<String> {
    Ok(serde_json::to_string_pretty(&oz0_plugin::schema())? + "\n")
}
