//! What is known of a rule before it runs.

use oz0_diagnostic::Level;

/// What is known of a rule. Each rule has one as a `const`.
#[derive(Debug, Clone, Copy)]
pub struct Metadata {
    /// Its code: `OZ-S005`.
    pub code: &'static str,
    /// Its name: the bad thing, in words joined by `-`.
    pub name: &'static str,
    /// What it says when nothing stricter was asked for.
    pub plain: Plain,
    /// Which plugins it runs on.
    pub runs_on: RunsOn,
    /// Whether it reads functions from the measured listing and from snapshots, and is silent about those that neither has.
    pub reads_functions: bool,
    /// Whether it has a safe fix for some of its findings.
    pub fixable: bool,
    /// Whether a comment of the manifest can exempt from it.
    pub exemptible: bool,
    /// Its page, as Markdown with examples that are tests.
    pub page: &'static str,
}

impl Metadata {
    /// Where its page is read.
    pub fn url(&self) -> String {
        page_url(self.code)
    }
}

/// Where the page of a rule or of a loader's code is read.
pub(crate) fn page_url(code: &str) -> String {
    format!("https://oz0.ai/docs/reference/rules/{code}/")
}

/// What a rule does when plugins are not held to the verified level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// It does not run.
    Off,
    /// It runs, and its findings have this level.
    On(Level),
}

/// Which plugins a rule runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsOn {
    /// Every plugin.
    EveryPlugin,
    /// Plugins of kind `capability`.
    Capabilities,
    /// Plugins of kind `connector`, and any with a connection, an event source or a channel.
    Connectors,
}

impl RunsOn {
    /// Which plugins, as people read it.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::EveryPlugin => "every plugin",
            Self::Capabilities => "capabilities",
            Self::Connectors => {
                "connectors, and any plugin with a connection, an event source or a channel"
            }
        }
    }
}
