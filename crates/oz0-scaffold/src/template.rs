//! The templates of `oz0 plugin new`: whole plugins, in `templates/`, each a folder that is linted, measured and packed as it
//! stands.
//!
//! Such a plugin is called `template-name`, and so are its tool and what belongs to it. A new one is made by writing another
//! name in its place, in texts and in paths: as the manifest has it, as a variable has it (`TEMPLATE_NAME`), and as people
//! read it (`Template Name`). Nothing else is replaced, and there is no language of templates: what a template says, its own
//! tests and `oz0 plugin test` can be asked about.

use std::str::FromStr;

use crate::name::PluginName;

/// What a template's plugin is called.
const NAME: &str = "template-name";
const VARIABLE: &str = "TEMPLATE_NAME";
const TITLE: &str = "Template Name";

/// A plugin to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// A connector for a system whose vendor runs an MCP server.
    McpConnector,
    /// An MCP server of the plugin's own.
    Stdio,
    /// An agent that works with another plugin's functions.
    Capability,
    /// A hook around calls.
    Policy,
}

/// The files of a template: paths from the plugin's root, and texts.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($template:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $template, "/", $path)))),+]
    };
}

const MCP_CONNECTOR: Files = files!("mcp-connector":
    ".gitignore",
    ".oz0ignore",
    "LICENSE",
    "README.md",
    "oz0-plugin.yaml",
    "snapshots/template-name.json",
    "tests/fake_server.py",
    "tests/snapshot.py",
    "tests/test_contract.py",
    "tools.listing.json",
);

const STDIO: Files = files!("stdio":
    ".gitignore",
    ".oz0ignore",
    "LICENSE",
    "README.md",
    "mcp_stdio.py",
    "oz0-plugin.yaml",
    "server.py",
    "tests/client.py",
    "tests/test_contract.py",
    "tools.listing.json",
);

const CAPABILITY: Files = files!("capability":
    ".gitignore",
    ".oz0ignore",
    "LICENSE",
    "README.md",
    "evals/cassettes/reports/asks-for-what-is-missing.jsonl",
    "evals/cassettes/reports/leaves-complete-reports-alone.jsonl",
    "evals/reports.yaml",
    "oz0-plugin.yaml",
    "prompts/reports.md",
    "tests/fake_tracker.py",
    "tests/test_evals.py",
    "tools.listing.json",
);

const POLICY: Files = files!("policy":
    ".gitignore",
    ".oz0ignore",
    "LICENSE",
    "README.md",
    "mcp_stdio.py",
    "oz0-plugin.yaml",
    "server.py",
    "tests/client.py",
    "tests/test_contract.py",
    "tools.listing.json",
);

impl Template {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::McpConnector, Self::Stdio, Self::Capability, Self::Policy];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::McpConnector => "mcp-connector",
            Self::Stdio => "stdio",
            Self::Capability => "capability",
            Self::Policy => "policy",
        }
    }

    /// What it is a beginning of, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::McpConnector => {
                "A connector for a system whose vendor runs an MCP server: snapshot, connection, and a fake for its tests"
            }
            Self::Stdio => "An MCP server of the plugin's own, in Python",
            Self::Capability => {
                "An agent that does a job with another plugin's functions, and an eval that replays offline"
            }
            Self::Policy => {
                "A hook that looks at calls and may refuse them, with a server of its own"
            }
        }
    }

    /// The plugin's files as they stand in the template.
    pub(crate) const fn files(self) -> Files {
        match self {
            Self::McpConnector => MCP_CONNECTOR,
            Self::Stdio => STDIO,
            Self::Capability => CAPABILITY,
            Self::Policy => POLICY,
        }
    }
}

impl FromStr for Template {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|template| template.name() == text).ok_or(())
    }
}

/// A text of a template, or a path, with the plugin's name in it.
pub(crate) fn named(text: &str, name: &PluginName) -> String {
    // None of the three can bring one of the others into the text: they differ in their letters.
    text.replace(NAME, name.as_str())
        .replace(VARIABLE, &name.as_str().to_ascii_uppercase().replace('-', "_"))
        .replace(TITLE, &title(name))
}

/// The name as people read it: `my-tracker` is `My Tracker`.
fn title(name: &PluginName) -> String {
    let words = name.as_str().split('-').filter(|word| !word.is_empty()).map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use super::*;

    fn folder(template: Template) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(template.name())
    }

    fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let last = path.file_name().unwrap();
            if last == "__pycache__" || last == ".pytest_cache" {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let mode = path.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o100, 0, "{} would be written without its mode", path.display());
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_one_of_the_template() {
        for template in Template::ALL {
            let root = folder(template);
            let mut found = Vec::new();
            walk(&root, &root, &mut found);
            found.sort_unstable();
            let listed: Vec<&str> = template.files().iter().map(|(path, _)| *path).collect();
            assert_eq!(listed, found, "{}", template.name());
        }
    }

    #[test]
    fn no_file_has_a_tab_or_a_path_of_a_machine_or_ends_without_a_line_end() {
        for template in Template::ALL {
            for (path, text) in template.files() {
                let place = format!("{}/{path}", template.name());
                assert!(text.is_ascii(), "{place}");
                assert!(!text.contains(['\t', '\r']), "{place}");
                assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{place}");
                for part in ["/home/", "/root", "/tmp", "/usr/", "127.0.0.1:7"] {
                    assert!(!text.contains(part), "{place}: {part}");
                }
            }
        }
    }

    #[test]
    fn the_protocol_and_its_client_are_the_same_in_both_templates_with_a_server() {
        for path in ["mcp_stdio.py", "tests/client.py", ".gitignore", ".oz0ignore", "LICENSE"] {
            let texts: Vec<&str> = Template::ALL
                .iter()
                .flat_map(|template| template.files())
                .filter(|(own, _)| *own == path)
                .map(|(_, text)| *text)
                .collect();
            assert!(texts.len() >= 2 && texts.iter().all(|text| text == &texts[0]), "{path}");
        }
    }

    #[test]
    fn a_name_stands_in_its_three_forms_and_nothing_of_the_template_stays() {
        for name in ["my-tracker", "a", "a--b-", "template", "my-template-name", "x1-2y"] {
            let name = PluginName::parse(name).unwrap();
            let form = named("template-name|TEMPLATE_NAME|Template Name|template|NAME", &name);
            let parts: Vec<&str> = form.split('|').collect();
            assert_eq!(parts[0], name.as_str());
            assert_eq!(parts[1], name.as_str().to_uppercase().replace('-', "_"));
            assert_eq!(parts[2].to_lowercase().replace(' ', ""), name.as_str().replace('-', ""));
            assert_eq!(parts[3..], ["template", "NAME"]);
        }
        for template in Template::ALL {
            let name = PluginName::parse("other").unwrap();
            for (path, text) in template.files() {
                let left = (named(path, &name) + &named(text, &name)).to_lowercase();
                let left = left.replace(['-', '_'], " ").contains("template name");
                assert!(!left, "{}/{path}", template.name());
            }
        }
    }
}
