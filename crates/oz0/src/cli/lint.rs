//! `oz0 plugin lint`, `oz0 plugin explain` and `oz0 lsp`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Lint {
    /// The plugin's folder
    #[arg(value_hint = ValueHint::DirPath, default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Hold the plugin to the level of verified plugins
    #[arg(long)]
    pub(crate) verified: bool,
    /// Run only this rule (repeatable): its code or its name; what the loader finds is told in any case
    #[arg(long, value_name = "ID")]
    pub(crate) rule: Vec<String>,
    /// Make the changes that cannot alter what the plugin does
    #[arg(long)]
    pub(crate) fix: bool,
    /// Show what --fix would change, and write nothing
    #[arg(long, requires = "fix")]
    pub(crate) diff: bool,
    /// Print the findings as JSON
    #[arg(long, conflicts_with_all = ["format", "diff"])]
    pub(crate) json: bool,
    /// How to print the findings
    #[arg(long, value_enum, conflicts_with = "diff", default_value_t = Format::Pretty)]
    pub(crate) format: Format,
    /// Write the findings into a file as well (repeatable)
    #[arg(long, value_name = "FORMAT:FILE")]
    pub(crate) output: Vec<Target>,
    /// List the rules
    #[arg(long, conflicts_with_all = ["fix", "output", "format", "verified", "rule"])]
    pub(crate) list_rules: bool,
}

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With the lines of the file
    Pretty,
    /// A line each
    Concise,
    /// The format `oz0.lint.v1`
    Json,
    /// SARIF 2.1.0, for code scanners
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// A file to write a report into.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) =
            text.split_once(':').ok_or("write FORMAT:FILE, such as sarif:lint.sarif")?;
        if path.is_empty() {
            return Err("there is no file behind the `:`".to_owned());
        }
        let known = Format::from_str(format, false).map_err(|_| {
            let names = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
            let shown = oz0_listing::escape::line_within(format, 32);
            format!("there is no format `{shown}`; the formats are {}", names.join(", "))
        })?;
        Ok(Self { format: known, path: path.into() })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The rule, or what the loader found: its code or its name
    #[arg(value_name = "ID")]
    pub(crate) rule: String,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Lsp {
    /// Hold plugins to the level of verified plugins, whatever the editor's settings say
    #[arg(long)]
    pub(crate) verified: bool,
    /// Speak on standard input and output, as is done in any case: some editors say so to every server
    #[arg(long)]
    pub(crate) stdio: bool,
}
