//! The formats: which files have which, and their readers.
//!
//! A reader takes a [`File`](crate::file::File) and puts what it finds into a [`Sink`](crate::file::Sink). It reads the file as
//! the program reads it that acts upon it, and what that program would refuse is unread, not empty. Most files of a tree hold
//! no trace of what is looked for; a reader of sources may leave such a file alone after a look at its bytes, a reader of
//! dependency files and locks may not.

use crate::file::{File, Sink};
use crate::{installed, node, python, source};

/// What a file is, by its name and place. A file may be several: `setup.py` is a dependency file and a Python source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `pyproject.toml`.
    Pyproject,
    /// `Pipfile`.
    Pipfile,
    /// `setup.cfg`.
    SetupCfg,
    /// `setup.py`.
    SetupPy,
    /// A requirements or constraints file, as pip reads it.
    Requirements,
    /// conda's `environment.yml`.
    Conda,
    /// `pixi.toml`.
    Pixi,
    /// `hatch.toml`.
    Hatch,
    /// `uv.toml`.
    UvToml,
    /// `uv.lock`.
    UvLock,
    /// `poetry.lock`.
    PoetryLock,
    /// `pdm.lock`.
    PdmLock,
    /// `Pipfile.lock`.
    PipfileLock,
    /// `pylock.toml` and `pylock.NAME.toml` (PEP 751).
    Pylock,
    /// `pixi.lock`, `conda-lock.yml`.
    CondaLock,
    /// `package.json`.
    PackageJson,
    /// `package-lock.json`, `npm-shrinkwrap.json`, and npm's own `node_modules/.package-lock.json`.
    PackageLock,
    /// `yarn.lock`, classic or berry.
    YarnLock,
    /// `pnpm-lock.yaml`.
    PnpmLock,
    /// `bun.lock`.
    BunLock,
    /// `bun.lockb`, which only Bun reads.
    BunLockBinary,
    /// A Python source, with the PEP 723 block that it may hold.
    Python,
    /// A notebook.
    Notebook,
    /// A JavaScript or TypeScript source.
    JavaScript,
    /// A component whose script blocks are JavaScript: `.vue`, `.svelte`, `.astro`.
    Component,
    /// A client's or plugin's list of servers: `.mcp.json` and the like.
    McpServers,
    /// A `.pth` file.
    Pth,
}

impl Format {
    /// What the file at `path` is by its name and folders: nothing, for most files.
    pub(crate) fn of(path: &str) -> Vec<Self> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let ending = lower.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut formats: Vec<Self> = match name {
            "pyproject.toml" => vec![Self::Pyproject],
            "Pipfile" => vec![Self::Pipfile],
            "setup.cfg" => vec![Self::SetupCfg],
            "setup.py" => vec![Self::SetupPy],
            "pixi.toml" => vec![Self::Pixi],
            "hatch.toml" => vec![Self::Hatch],
            "uv.toml" => vec![Self::UvToml],
            "uv.lock" => vec![Self::UvLock],
            "poetry.lock" => vec![Self::PoetryLock],
            "pdm.lock" => vec![Self::PdmLock],
            "Pipfile.lock" => vec![Self::PipfileLock],
            "pixi.lock" | "conda-lock.yml" | "conda-lock.yaml" => vec![Self::CondaLock],
            "environment.yml" | "environment.yaml" => vec![Self::Conda],
            "package.json" => vec![Self::PackageJson],
            "package-lock.json" | "npm-shrinkwrap.json" | ".package-lock.json" => {
                vec![Self::PackageLock]
            }
            "yarn.lock" => vec![Self::YarnLock],
            "pnpm-lock.yaml" => vec![Self::PnpmLock],
            "bun.lock" => vec![Self::BunLock],
            // Installers read no lock of Bun's that lies in an installed package.
            "bun.lockb" if !folders.split('/').any(|folder| folder == "node_modules") => {
                vec![Self::BunLockBinary]
            }
            ".mcp.json"
            | "mcp.json"
            | "mcp_config.json"
            | "mcp_settings.json"
            | "cline_mcp_settings.json"
            | "claude_desktop_config.json"
            | "gemini-extension.json" => vec![Self::McpServers],
            "plugin.json" if folders.ends_with(".claude-plugin") => vec![Self::McpServers],
            _ => Vec::new(),
        };
        if name
            .strip_prefix("pylock.")
            .is_some_and(|rest| rest.split('.').next_back() == Some("toml"))
        {
            formats.push(Self::Pylock);
        }
        if matches!(ending, "txt" | "in") && is_requirements(folders, &lower) {
            formats.push(Self::Requirements);
        }
        match ending {
            "py" | "pyi" | "pyw" => formats.push(Self::Python),
            "ipynb" => formats.push(Self::Notebook),
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
                formats.push(Self::JavaScript);
            }
            "vue" | "svelte" | "astro" => formats.push(Self::Component),
            "pth" => formats.push(Self::Pth),
            _ => {}
        }
        formats
    }

    /// Whether it is a program's text, and not a list of what the program needs.
    pub(crate) fn is_source(self) -> bool {
        matches!(self, Self::Python | Self::Notebook | Self::JavaScript | Self::Component)
    }

    /// Reads a file that has this format.
    pub(crate) fn read(self, file: &File<'_>, sink: &mut Sink) {
        match self {
            Self::Pyproject
            | Self::Pipfile
            | Self::SetupCfg
            | Self::SetupPy
            | Self::Requirements
            | Self::Conda
            | Self::Pixi
            | Self::Hatch
            | Self::UvToml
            | Self::UvLock
            | Self::PoetryLock
            | Self::PdmLock
            | Self::PipfileLock
            | Self::Pylock
            | Self::CondaLock => python::read(self, file, sink),
            Self::PackageJson
            | Self::PackageLock
            | Self::YarnLock
            | Self::PnpmLock
            | Self::BunLock
            | Self::BunLockBinary
            | Self::McpServers => node::read(self, file, sink),
            Self::Python | Self::Notebook | Self::JavaScript | Self::Component => {
                source::read(self, file, sink);
            }
            Self::Pth => installed::read(self, file, sink),
        }
    }
}

/// Whether a text file is a requirements or constraints file, by its name or by a folder of that name.
fn is_requirements(folders: &str, name: &str) -> bool {
    let named = |name: &str| name.contains("requirements") || name.contains("constraints");
    named(name) || is_in_requirements(folders)
}

/// Whether a folder on the way is one of requirements or constraints.
pub(crate) fn is_in_requirements(folders: &str) -> bool {
    let named = |folder: &str| {
        ["requirements", "constraints"].iter().any(|name| folder.eq_ignore_ascii_case(name))
    };
    folders.split('/').any(named)
}
