//! `oz0 lsp`: the language server.

use anyhow::Result;
use oz0_lsp::{Ended, Options, serve};

use crate::cli::Lsp;
use crate::exit::Exit;
use crate::machine::runtime;
use crate::output::Output;

pub(crate) fn run(arguments: &Lsp, output: Output) -> Result<Exit> {
    let options = Options { verified: arguments.verified };
    let runtime = runtime()?;
    let ended = runtime.block_on(serve(tokio::io::stdin(), tokio::io::stdout(), options));
    // A thread may still wait for standard input, or check a plugin: both end with this process.
    runtime.shutdown_background();
    Ok(match ended {
        Ended::InOrder => Exit::Done,
        Ended::Abruptly => {
            output.say("the editor left without `shutdown`");
            Exit::Findings
        }
    })
}
