//! Completions, man pages, schemas, the rules' pages and the API's description.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::Output;

/// The folder that `oz0 __generate FOLDER` names.
pub(crate) fn asked() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == "__generate").then(|| arguments.next().map(PathBuf::from))?
}

/// Prints the completions of one shell.
pub(crate) fn completions(shell: Shell, output: Output) -> Result<Exit> {
    output.data(&completion_text(shell))?;
    Ok(Exit::Done)
}

fn completion_text(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "oz0", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes every generated file of the project below `folder`.
pub(crate) fn everything(folder: &Path) -> Result<Exit> {
    let write = |path: &Path, text: &[u8]| {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    for shell in Shell::value_variants() {
        let name = clap_complete::Generator::file_name(shell, "oz0");
        write(&folder.join("completions").join(name), completion_text(*shell).as_bytes())?;
    }
    let mut command = Cli::command();
    command.build();
    man_pages(&command, &mut |name, page| write(&folder.join("docs/man").join(name), page))?;
    let manifest = crate::plugin::schema_text()?;
    let report = serde_json::to_string_pretty(&oz0_lint::report_schema())? + "\n";
    // In the checkout for programs, and on the documentation's site for editors, which read it by its address.
    for place in ["schema", "docs/reference/schema"] {
        let place = folder.join(place);
        write(&place.join("oz0-plugin.schema.json"), manifest.as_bytes())?;
        write(&place.join("oz0-lint.schema.json"), report.as_bytes())?;
    }
    let reference = folder.join("docs/reference");
    write(&reference.join("openapi.json"), oz0_local::openapi::document().as_bytes())?;
    write(&reference.join("api.md"), oz0_local::openapi::page().as_bytes())?;
    let rules = folder.join("docs/reference/rules");
    write(&rules.join("index.md"), oz0_lint::rules_markdown().as_bytes())?;
    for explained in oz0_lint::Explained::all() {
        write(&rules.join(format!("{}.md", explained.code())), explained.page().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// One page a command that people see, named with dashes: `oz0-plugin-test.1`.
fn man_pages(
    command: &clap::Command,
    write: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).date("").render(&mut page)?;
    write(&format!("{name}.1"), &page)?;
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        man_pages(sub, write)?;
    }
    Ok(())
}
