//! `oz0 plugin explain`: prints the page of a rule, or of a code of the loader's.

use anyhow::Result;
use oz0_lint::Explained;

use crate::cli::Explain;
use crate::exit::{Exit, WrongUsage};
use crate::output::Output;

pub(crate) fn run(arguments: &Explain, output: Output) -> Result<Exit> {
    let asked = &arguments.rule;
    let found = Explained::find(asked).ok_or_else(|| {
        let near = Explained::nearest(asked).map(|near| format!(" (did you mean {near}?)"));
        WrongUsage(format!(
            "nothing has the code {asked}{}; see the rules with: oz0 plugin lint --list-rules",
            near.unwrap_or_default()
        ))
    })?;
    if arguments.json {
        output.json(&found.to_json())?;
    } else {
        output.data(&found.page())?;
    }
    Ok(Exit::Done)
}
