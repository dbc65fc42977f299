//! The options of the programs that start packages: which take the next word, and what that word is.

use super::Word;

/// What an option's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A requirement, or several with commas between.
    Package,
    /// A module that is run.
    Module,
    /// A command line for a shell.
    Shell,
    /// A program's text.
    Code,
    /// A file of requirements, by its path.
    Requirements,
    /// Something else.
    Other,
}

/// A program's options that take a value, by every name.
pub(super) type Table = &'static [(&'static str, Kind)];

const O: Kind = Kind::Other;
const R: Kind = Kind::Requirements;

/// What `uvx`, `uv tool run` and `uv run` take.
pub(super) const UV: Table = &[
    ("--from", Kind::Package),
    ("--with", Kind::Package),
    ("-w", Kind::Package),
    ("--with-editable", Kind::Package),
    ("--with-requirements", R),
    ("--constraints", O),
    ("--constraint", O),
    ("-c", O),
    ("--overrides", O),
    ("--override", O),
    ("--build-constraints", O),
    ("-b", O),
    ("--requirements", R),
    ("--requirement", R),
    ("-r", R),
    ("--env-file", O),
    ("--python", O),
    ("-p", O),
    ("--python-platform", O),
    ("--index", O),
    ("--default-index", O),
    ("--index-url", O),
    ("-i", O),
    ("--extra-index-url", O),
    ("--find-links", O),
    ("-f", O),
    ("--upgrade-package", O),
    ("-P", O),
    ("--reinstall-package", O),
    ("--refresh-package", O),
    ("--index-strategy", O),
    ("--keyring-provider", O),
    ("--resolution", O),
    ("--prerelease", O),
    ("--fork-strategy", O),
    ("--config-setting", O),
    ("-C", O),
    ("--no-build-isolation-package", O),
    ("--no-sources-package", O),
    ("--no-build-package", O),
    ("--no-binary-package", O),
    ("--exclude-newer", O),
    ("--exclude-newer-package", O),
    ("--link-mode", O),
    ("--extra", O),
    ("--no-extra", O),
    ("--group", O),
    ("--no-group", O),
    ("--only-group", O),
    ("--package", O),
    ("--torch-backend", O),
    ("--cache-dir", O),
    ("--config-file", O),
    ("--directory", O),
    ("--project", O),
    ("--color", O),
    ("--allow-insecure-host", O),
    ("--python-preference", O),
    ("--python-fetch", O),
    ("--target", O),
    ("-t", O),
    ("--prefix", O),
    ("--editable", Kind::Package),
    ("-e", Kind::Package),
];

/// What `uv run` takes beside those.
pub(super) const UV_RUN: Table = &[("-m", Kind::Module), ("--module", Kind::Module)];

/// What `pip install` and its like take.
pub(super) const PIP: Table = &[
    ("-r", R),
    ("--requirement", R),
    ("-c", O),
    ("--constraint", O),
    ("-e", Kind::Package),
    ("--editable", Kind::Package),
    ("-t", O),
    ("--target", O),
    ("-d", O),
    ("-i", O),
    ("--index-url", O),
    ("--extra-index-url", O),
    ("-f", O),
    ("--find-links", O),
    ("--no-binary", O),
    ("--only-binary", O),
    ("--platform", O),
    ("--python-version", O),
    ("--implementation", O),
    ("--abi", O),
    ("--root", O),
    ("--prefix", O),
    ("--src", O),
    ("--upgrade-strategy", O),
    ("-C", O),
    ("--config-settings", O),
    ("--global-option", O),
    ("--progress-bar", O),
    ("--proxy", O),
    ("--retries", O),
    ("--timeout", O),
    ("--trusted-host", O),
    ("--cert", O),
    ("--client-cert", O),
    ("--cache-dir", O),
    ("--log", O),
    ("--python", O),
    ("--report", O),
    ("--group", O),
];

/// What `pipx` takes.
pub(super) const PIPX: Table = &[
    ("--spec", Kind::Package),
    ("--with", Kind::Package),
    ("--preinstall", Kind::Package),
    ("--python", O),
    ("--index-url", O),
    ("-i", O),
    ("--pip-args", O),
    ("--suffix", O),
];

/// What `npx`, `pnpm dlx`, `yarn dlx` and `bunx` take.
pub(super) const NPX: Table = &[
    ("-p", Kind::Package),
    ("--package", Kind::Package),
    ("-c", Kind::Shell),
    ("--call", Kind::Shell),
    ("-w", O),
    ("--workspace", O),
    ("--registry", O),
    ("--cache", O),
    ("--prefix", O),
    ("--userconfig", O),
    ("--loglevel", O),
    ("--node-arg", O),
    ("-n", O),
    ("--dir", O),
    ("-C", O),
    ("--filter", O),
    ("-F", O),
    ("--cwd", O),
    ("--reporter", O),
    ("--allow-build", O),
];

/// What a Python takes: clusters of letters, of which these end one.
pub(super) const PYTHON: Table = &[
    ("-m", Kind::Module),
    ("-c", Kind::Code),
    ("-W", O),
    ("-X", O),
    ("--check-hash-based-pycs", O),
];

/// What shells take.
pub(super) const SHELL: Table = &[("-o", O), ("+o", O), ("--rcfile", O), ("--init-file", O)];

/// What `env` takes.
pub(super) const ENV: Table = &[
    ("-u", O),
    ("--unset", O),
    ("-C", O),
    ("--chdir", O),
    ("-S", Kind::Shell),
    ("--split-string", Kind::Shell),
];

/// What programs take that start the rest of their words: `nice`, `timeout`, `sudo`, `xargs`, `stdbuf`.
pub(super) const PREFIX: Table = &[
    ("-n", O),
    ("--adjustment", O),
    ("-s", O),
    ("--signal", O),
    ("-k", O),
    ("--kill-after", O),
    ("-i", O),
    ("-o", O),
    ("-e", O),
    ("-u", O),
    ("-g", O),
    ("-I", O),
    ("-L", O),
    ("-P", O),
];

/// What the `run` of `poetry`, `conda` and others takes.
pub(super) const RUN: Table = &[
    ("-n", O),
    ("--name", O),
    ("-p", O),
    ("--prefix", O),
    ("--project", O),
    ("-P", O),
    ("-C", O),
    ("--directory", O),
    ("-e", O),
    ("--env", O),
    ("--environment", O),
    ("--cwd", O),
    ("-s", Kind::Package),
    ("--spec", Kind::Package),
    ("-w", Kind::Package),
    ("--with", Kind::Package),
    ("--manifest-path", O),
];

/// Words split into options and what follows the first that is none.
pub(super) struct Options<'o, 't> {
    /// Options with a value: their kind, and the value.
    pub(super) values: Vec<(Kind, Word<'o>)>,
    /// The names of options without one.
    pub(super) flags: Vec<&'o str>,
    /// The first word that is no option, and all behind it.
    pub(super) rest: &'o [Word<'t>],
}

impl<'o, 't> Options<'o, 't> {
    /// Reads the options at the beginning of `words`. `clusters` is for programs whose `-xm` is `-x -m`.
    pub(super) fn read(words: &'o [Word<'t>], tables: &[Table], clusters: bool) -> Self {
        let mut options = Self { values: Vec::new(), flags: Vec::new(), rest: &[] };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = &*word.text;
            if text == "--" {
                at += 1;
                break;
            }
            if text.len() < 2 || !text.starts_with(['-', '+']) {
                break;
            }
            at += 1;
            if let Some(kind) = kind_of(tables, text) {
                if let Some(value) = words.get(at) {
                    options.values.push((kind, value.from(0)));
                    at += 1;
                }
                continue;
            }
            if let Some(equals) = text.find('=').filter(|_| text.starts_with("--")) {
                if let Some(kind) = kind_of(tables, &text[..equals]) {
                    options.values.push((kind, word.from(equals + 1)));
                }
                continue;
            }
            if text.starts_with("--") {
                options.flags.push(text);
                continue;
            }
            match attached(tables, text, clusters) {
                // `-mNAME`, `-Im NAME`
                Some((kind, value)) if value < text.len() => {
                    options.values.push((kind, word.from(value)));
                }
                Some((kind, _)) => {
                    if let Some(value) = words.get(at) {
                        options.values.push((kind, value.from(0)));
                        at += 1;
                    }
                }
                None => options.flags.push(text),
            }
            // What follows a module or a text is theirs.
            if clusters && matches!(options.values.last(), Some((Kind::Module | Kind::Code, _))) {
                break;
            }
        }
        options.rest = &words[at.min(words.len())..];
        options
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.values.iter().any(|(found, _)| *found == kind)
    }
}

fn kind_of(tables: &[Table], name: &str) -> Option<Kind> {
    let mut all = tables.iter().flat_map(|table| table.iter());
    all.find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The option in a word of one `-` that takes a value, and where in the word that begins.
fn attached(tables: &[Table], text: &str, clusters: bool) -> Option<(Kind, usize)> {
    for (at, letter) in text.char_indices().skip(1) {
        let end = at + letter.len_utf8();
        if let Some(kind) = kind_of(tables, &format!("-{letter}")) {
            let equals = usize::from(text[end..].starts_with('=') && !clusters);
            return Some((kind, end + equals));
        }
        if !clusters {
            return None;
        }
    }
    None
}
