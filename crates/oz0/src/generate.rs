//! Completions, man pages and the manifest's schema.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::Output;

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
    write(&folder.join("schema/oz0-plugin.schema.json"), crate::plugin::schema_text()?.as_bytes())?;
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
