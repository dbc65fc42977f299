//! The arguments of `oz0 wrap`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(crate) const HELP: &str = "\
Examples:
  oz0 wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  oz0 wrap --dir ~/plugins/git -- uvx mcp-server-git --repository .
  oz0 wrap --secret GITHUB_TOKEN --egress api.github.com -- npx -y some-github-server
  oz0 wrap --url https://mcp.example.com/mcp
  oz0 wrap --from .mcp.json github";

/// A server, and what becomes of it.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["command", "url", "from"]))]
pub(crate) struct Wrap {
    /// The folder to write: a new one, or the one of the server's own project [default: one of the plugin's name here]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
    /// The plugin's name [default: made of the server's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Give the server this variable; the manifest has its value (repeatable)
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// A variable that is a secret: the manifest has its name alone, and whoever runs the plugin hands its value over
    /// (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// A host that the server reaches (repeatable); without one it has no network
    #[arg(long, value_name = "HOST")]
    pub(crate) egress: Vec<String>,
    /// The plugin's licence, as an SPDX expression
    #[arg(long, value_name = "SPDX")]
    pub(crate) license: Option<String>,
    /// Wrap a remote server
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) url: Option<String>,
    /// A header of requests to the remote server; the manifest has its value (repeatable)
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Wrap a server of a client's configuration: its name, where there are several, stands behind
    #[arg(long, value_name = "FILE", num_args = 1, value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// With --from, the server's name there
    #[arg(value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Write over files that are there
    #[arg(long)]
    pub(crate) force: bool,
    /// The server's command and arguments
    #[arg(value_name = "COMMAND", last = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}
