//! `oz0 plugin …`.

mod approve;
pub(crate) mod change;
mod explain;
mod inspect;
mod lint;
mod list;
mod outline;
mod pack;
mod remove;
mod shown;
mod test;

use anyhow::Result;

use crate::cli::Plugin;
use crate::config::Settings;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(command: Plugin, settings: &Settings, output: Output) -> Result<Exit> {
    match command {
        Plugin::Test(arguments) => test::run(&arguments, settings, output),
        Plugin::Inspect(arguments) => inspect::run(&arguments, output),
        Plugin::Lint(arguments) => lint::run(&arguments, output),
        Plugin::Explain(arguments) => explain::run(&arguments, output),
        Plugin::Pack(arguments) => pack::run(&arguments, settings, output),
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
