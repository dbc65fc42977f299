//! The host's interpreters: which programs a command's names stand for.
//!
//! A server is started by name (`python3 server.py`), and what that name means is the invoking
//! user's choice, by the order of their `PATH`. The sandbox shows a server that very program and
//! nothing else of where it lies. Version managers put scripts before the programs they manage;
//! such a script is asked once what it stands for, and the answer is kept in the cache for as long
//! as the script, the choice it reads and the program stay as they are.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::sandbox::protocol::Interpreter;
use crate::sandbox::root::in_system;

/// The names that plugins call interpreters by. Every server gets those that the host has, since a
/// script may start another.
const KNOWN: [&str; 3] = ["python3", "python", "node"];

/// Finds programs on a `PATH`, and remembers.
#[derive(Debug)]
pub(crate) struct Interpreters {
    path: Vec<PathBuf>,
    cache: PathBuf,
    found: Mutex<BTreeMap<String, Option<Interpreter>>>,
}

impl Interpreters {
    /// Looks on this process's `PATH`; `cache` is a folder to keep answers in.
    pub(crate) fn of_host(cache: PathBuf) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).filter(|path| path.is_absolute()).collect();
        Self { path, cache, found: Mutex::default() }
    }

    /// The known interpreters, and the program `name` if the host has it.
    pub(crate) fn needed_by(&self, name: Option<&str>) -> Vec<Interpreter> {
        let name = name.filter(|name| !name.contains('/') && !KNOWN.contains(name));
        let known = KNOWN.into_iter().filter_map(|name| self.find(name));
        // A program of the system is where it is on every machine.
        let other =
            name.and_then(|name| self.find(name)).filter(|found| !in_system(&found.program));
        known.chain(other).collect()
    }

    /// The program that a name stands for on the host.
    pub(crate) fn find(&self, name: &str) -> Option<Interpreter> {
        if let Some(known) = self.lock().get(name) {
            return known.clone();
        }
        let found = self.path.iter().map(|directory| directory.join(name)).find_map(|candidate| {
            let meta = candidate.metadata().ok()?;
            (meta.is_file() && meta.permissions().mode() & 0o111 != 0)
                .then(|| self.resolve(name, &candidate))
        });
        self.lock().insert(name.to_owned(), found.clone());
        found
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Option<Interpreter>>> {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn resolve(&self, name: &str, candidate: &Path) -> Interpreter {
        let known = KNOWN.contains(&name);
        let program = if known && is_script(candidate) {
            self.ask(name, candidate).unwrap_or_else(|| candidate.to_owned())
        } else {
            candidate.to_owned()
        };
        let program = program.canonicalize().unwrap_or(program);
        let prefix = known.then(|| program.parent()?.parent().map(Path::to_owned)).flatten();
        Interpreter { name: name.to_owned(), program, prefix }
    }

    /// Asks a version manager's script which program it starts.
    fn ask(&self, name: &str, script: &Path) -> Option<PathBuf> {
        let record = self.cache.join(format!("{}.json", fingerprint(script)));
        if let Some(answer) = fs::read(&record).ok().and_then(|bytes| Answer::still_true(&bytes)) {
            return Some(answer);
        }
        let question = match name {
            "node" => ["-p", "process.execPath"],
            // In a virtual environment, the interpreter below it.
            _ => ["-c", "import sys; print(getattr(sys, '_base_executable', sys.executable))"],
        };
        let output = Command::new(script).args(question).output().ok()?;
        let program = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        let program = program.canonicalize().ok()?;
        let answer = Answer { stamp: stamp(&program)?, program };
        // A cache that cannot be written costs the next start the same question.
        let _ = fs::create_dir_all(&self.cache);
        if let Ok(text) = serde_json::to_vec(&answer) {
            let _ = crate::environment::cache::replace(&record, &text);
        }
        Some(answer.program)
    }
}

#[derive(Serialize, Deserialize)]
struct Answer {
    program: PathBuf,
    stamp: String,
}

impl Answer {
    fn still_true(bytes: &[u8]) -> Option<PathBuf> {
        let answer: Self = serde_json::from_slice(bytes).ok()?;
        (stamp(&answer.program)? == answer.stamp).then_some(answer.program)
    }
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && &start == b"#!"
}

/// What tells one state of a file from another: size and time of change.
pub(crate) fn stamp(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    let time = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", meta.len(), time.as_nanos()))
}

/// What a version manager's choice depends on, as far as it can be seen: the script, the
/// manager's variables, its global choice beside the script's folder, and the folder-wise ones.
fn fingerprint(script: &Path) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text);
        hash.update([0]);
    };
    add(&script.to_string_lossy());
    add(&stamp(script).unwrap_or_default());
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["PYENV", "NODENV", "ASDF", "MISE", "VOLTA"].iter().any(|start| name.starts_with(start))
        {
            add(&name);
            add(&value.to_string_lossy());
        }
    }
    let mut choices: Vec<PathBuf> = script
        .ancestors()
        .skip(2)
        .take(1)
        .flat_map(|manager| ["version", "tools/image/platform.json"].map(|name| manager.join(name)))
        .collect();
    if let Ok(here) = std::env::current_dir() {
        choices.extend(here.ancestors().flat_map(|folder| {
            [".python-version", ".node-version", ".nvmrc", ".tool-versions", "mise.toml"]
                .map(|name| folder.join(name))
        }));
    }
    for path in choices {
        if let Some(stamp) = stamp(&path) {
            add(&path.to_string_lossy());
            add(&stamp);
        }
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
