//! Servers that are files of this machine.
//!
//! In its sandbox a server sees its plugin's folder, the system and its locked environment. So the
//! files that it is must be the plugin's: a server with a project of its own gets the manifest into
//! that project's folder, where its lock lies, and a single script or program is copied into a new
//! one. Which of the two it is, only the folder can tell, and nothing of it is run to find out.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use oz0_server::in_system;

use crate::package::program_name;
use crate::plan::Note;
use crate::python;
use crate::refusal::Refusal;
use crate::shell;
use crate::wrap::plain;

/// Where the command is looked at from.
pub(crate) struct Surroundings<'a> {
    /// The folder that the command's paths are relative to, absolute.
    pub(crate) here: PathBuf,
    /// The working folder of whoever asks: what it is a project's, that project may be written to.
    pub(crate) working: &'a Path,
    /// The folders of programs.
    pub(crate) search: &'a [PathBuf],
    /// The folder that was asked for, absolute.
    pub(crate) folder: Option<&'a Path>,
    /// The whole command, to be repeated in hints.
    pub(crate) command: &'a [String],
}

/// A file that becomes the plugin's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CopiedFile {
    pub(crate) from: PathBuf,
    /// In the plugin's folder.
    pub(crate) to: String,
    pub(crate) executable: bool,
}

/// A server of this machine, and what its plugin needs.
#[derive(Debug, Default)]
pub(crate) struct Local {
    pub(crate) argv: Vec<String>,
    /// The project that the manifest is put into; a new folder otherwise.
    pub(crate) project: Option<PathBuf>,
    pub(crate) copied: Vec<CopiedFile>,
    /// Requirements to lock, as PEP 508 has them.
    pub(crate) requirements: Vec<String>,
    /// Modules that its script imports, and that nothing says the packages of.
    pub(crate) imports: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    /// What it may be called.
    pub(crate) label: String,
    pub(crate) notes: Vec<Note>,
}

/// What says that a folder is a project's.
pub(crate) const MARKERS: [&str; 8] = [
    "package.json",
    "package-lock.json",
    "pyproject.toml",
    "uv.lock",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "requirements.in",
];

/// The longest script that is looked into.
const SCRIPT: u64 = 1 << 20;
/// The largest program that is copied, which is as large as a plugin may be.
const PROGRAM: u64 = 256 << 20;

/// Programs that run a script.
const INTERPRETERS: [&str; 16] = [
    "bash", "sh", "dash", "zsh", "bun", "deno", "ruby", "perl", "php", "java", "dotnet", "tsx",
    "ts-node", "Rscript", "lua", "pwsh",
];

/// Ends of the names of scripts.
const SCRIPTS: [&str; 14] = [
    ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".jar", ".dll", ".sh", ".R",
    ".lua",
];

/// The name by which the sandbox has an interpreter.
pub(crate) fn interpreter(program: &str) -> Option<String> {
    let base = program_name(program);
    let python = base
        .strip_prefix("python")
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'));
    if python {
        return Some("python3".to_owned());
    }
    match base {
        "node" | "nodejs" => Some("node".to_owned()),
        base if INTERPRETERS.contains(&base) => Some(base.to_owned()),
        _ => None,
    }
}

/// A command of this machine.
pub(crate) fn local(argv: &[String], around: &Surroundings<'_>) -> Result<Local, Refusal> {
    match interpreter(&argv[0]) {
        Some(name) => script(&name, argv, around),
        None => program(argv, around),
    }
}

pub(crate) fn absolute(path: impl AsRef<Path>, here: &Path) -> PathBuf {
    plain(&here.join(path))
}

pub(crate) fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}

/// An interpreter with a script.
pub(crate) fn script(
    name: &str,
    argv: &[String],
    around: &Surroundings<'_>,
) -> Result<Local, Refusal> {
    let venv = environment_of(&absolute(&argv[0], &around.here)).filter(|_| argv[0].contains('/'));
    let mut words = argv[1..].to_vec();
    let module = words
        .iter()
        .take_while(|word| word.starts_with('-'))
        .position(|word| word == "-m")
        .filter(|_| name == "python3");
    if let Some(at) = module {
        let Some(module) = words.get(at + 1).cloned() else {
            return Err(Refusal::new("python takes a module after -m"));
        };
        words.insert(0, name.to_owned());
        return run_module(&module, words, venv.as_deref(), around);
    }
    let found = words
        .iter()
        .position(|word| !word.starts_with('-') && is_file(&absolute(word, &around.here)));
    let Some(at) = found else {
        let named = words.iter().find(|word| SCRIPTS.iter().any(|end| word.ends_with(end)));
        if let Some(named) = named {
            let path = absolute(named, &around.here);
            return Err(Refusal::new(format!("there is no file {}", path.display())));
        }
        if !words.iter().any(|word| ["-c", "-e", "-p", "--eval"].contains(&word.as_str())) {
            return Err(Refusal::new(format!("the command of {name} names no script")));
        }
        words.insert(0, name.to_owned());
        return Ok(Local { argv: words, label: name.to_owned(), ..Local::default() });
    };
    let path = absolute(&words[at], &around.here);
    let mut local = place(&path, false, around)?;
    let declared = declared_requirements(&path)?;
    let locked = local.project.as_deref().is_some_and(has_python_lock);
    if !locked {
        // What nothing says where to have it from.
        if name == "python3" && declared.is_none() {
            local.imports = python::packages(&path);
        }
        local.requirements = declared.unwrap_or_default();
    }
    if let (Some(venv), false, true) = (&venv, locked, local.requirements.is_empty()) {
        return Err(unlocked(venv, &argv[0]));
    }
    words[at] = local.argv.remove(0);
    words.insert(0, name.to_owned());
    local.argv = words;
    Ok(local)
}

/// The virtual environment that an interpreter belongs to.
fn environment_of(program: &Path) -> Option<PathBuf> {
    let root = program.parent()?.parent()?;
    is_file(&root.join("pyvenv.cfg")).then(|| root.to_owned())
}

fn unlocked(venv: &Path, python: &str) -> Refusal {
    Refusal::new(format!(
        "the server's packages are those of {}, which no server sees in its sandbox, and no lock says which they are",
        venv.display()
    ))
    .hint(format!(
        "in a folder with the script: uv pip freeze --python {} > requirements.in; uv pip compile --universal --generate-hashes -o requirements.txt requirements.in; then wrap it with --dir FOLDER",
        shell::quoted(python)
    ))
}

fn has_python_lock(folder: &Path) -> bool {
    ["uv.lock", "requirements.txt"].iter().any(|lock| is_file(&folder.join(lock)))
}

/// `python -m MODULE`: a module of the project, or of a package in its lock. Which package a module is of, its name does
/// not say.
pub(crate) fn run_module(
    module: &str,
    argv: Vec<String>,
    venv: Option<&Path>,
    around: &Surroundings<'_>,
) -> Result<Local, Refusal> {
    let path = module.replace('.', "/");
    let folder = around.folder.unwrap_or(&around.here);
    let own = ["", "src"].into_iter().find(|base| {
        let base = folder.join(base);
        is_file(&base.join(format!("{path}.py"))) || is_file(&base.join(&path).join("__main__.py"))
    });
    let locked = has_python_lock(folder);
    if (own.is_none() && !locked) || (own.is_none() && around.folder.is_none()) {
        return Err(Refusal::new(format!(
            "which package the module {module} is of, its name does not say"
        ))
        .hint(format!(
            "name the package, as in: oz0 wrap -- uvx PACKAGE; or the server's project, with its lock: oz0 wrap --dir PROJECT -- {}",
            shell::line(around.command)
        )));
    }
    if let (Some(venv), false) = (venv, locked) {
        return Err(unlocked(venv, &around.command[0]));
    }
    let env = match own {
        Some("src") => vec![("PYTHONPATH".to_owned(), "src".to_owned())],
        _ => Vec::new(),
    };
    let label = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Local { argv, project: Some(folder.to_owned()), env, label, ..Local::default() })
}

/// A program that is no interpreter.
fn program(argv: &[String], around: &Surroundings<'_>) -> Result<Local, Refusal> {
    let name = &argv[0];
    let path = if name.contains('/') {
        absolute(name, &around.here)
    } else {
        let found = around.search.iter().map(|folder| folder.join(name));
        found.into_iter().find(|path| is_program(path)).ok_or_else(|| {
            Refusal::new(format!("there is no program {name} on the PATH"))
                .hint("name its path, or the package that it comes from: oz0 wrap -- npx PACKAGE")
        })?
    };
    if !is_file(&path) {
        return Err(Refusal::new(format!("there is no program {}", path.display())));
    }
    if !is_program(&path) {
        return Err(Refusal::new(format!("{} is no executable file", path.display()))
            .hint("put the interpreter in front of it, as in: oz0 wrap -- python3 SERVER.py"));
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let label = program_name(name).to_owned();
    if in_system(&real) {
        let mut argv = argv.to_vec();
        if name.contains('/') || !in_system(&path) {
            argv[0] = text(&real)?;
        }
        let note = Note::plain(format!(
            "{} is this machine's own program: it is no part of the plugin, and another machine may have another",
            real.display()
        ));
        return Ok(Local { argv, label, notes: vec![note], ..Local::default() });
    }
    let mut head = Vec::new();
    let looked = fs::File::open(&real).and_then(|file| file.take(4096).read_to_end(&mut head));
    looked.map_err(|error| Refusal::new(format!("cannot read {}: {error}", real.display())))?;
    if !head.starts_with(b"\x7fELF") {
        check_first_line(&head, &path, &real)?;
    }
    let inside = around.folder.is_some_and(|folder| path.starts_with(folder));
    let mut local = if head.starts_with(b"\x7fELF") && !inside {
        // A program is its one file, wherever it was built.
        let size = real.metadata().map_or(0, |meta| meta.len());
        if size > PROGRAM {
            return Err(Refusal::new(format!("{} is larger than a plugin may be", real.display())));
        }
        copied(&real, &format!("bin/{}", file_name(&path)), true)
    } else {
        place(if inside { &path } else { &real }, true, around)?
    };
    if !local.argv[0].contains('/') {
        local.argv[0] = format!("./{}", local.argv[0]);
    }
    local.argv.extend_from_slice(&argv[1..]);
    local.label = label;
    Ok(local)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Refuses an executable script whose interpreter no server sees. It is mostly a launcher that an installer made.
fn check_first_line(head: &[u8], path: &Path, real: &Path) -> Result<(), Refusal> {
    if let Some(package) = installed_package(real) {
        return Err(Refusal::new(format!(
            "{} is a program of the package {package}, which is installed outside of every sandbox",
            path.display()
        ))
        .hint(format!("name the package instead: oz0 wrap -- npx {}", shell::quoted(&package))));
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    let Some(line) = line.strip_prefix("#!") else {
        return Err(Refusal::new(format!("{} is no program that Linux runs", path.display()))
            .hint("name the program itself, or the interpreter in front of the script"));
    };
    let program = line.trim().split([' ', '\t']).next().unwrap_or_default();
    if in_system(Path::new(program)) {
        return Ok(());
    }
    let parts: Vec<&str> = program.split('/').collect();
    let tool = parts.windows(3).find_map(|parts| match parts {
        ["venvs" | "tools", tool, "bin"] => Some(*tool),
        _ => None,
    });
    let hint = match tool {
        Some(tool) => format!("name the package instead: oz0 wrap -- uvx {}", shell::quoted(tool)),
        None => "name the package that it comes from, as in: oz0 wrap -- uvx PACKAGE; or its project, with a lock, by --dir".to_owned(),
    };
    Err(Refusal::new(format!(
        "{} runs with {program}, which no server sees in its sandbox",
        path.display()
    ))
    .hint(hint))
}

/// The npm package that a file is installed with.
fn installed_package(real: &Path) -> Option<String> {
    let parts: Vec<&str> = real.iter().filter_map(|part| part.to_str()).collect();
    let at = parts.iter().rposition(|part| *part == "node_modules")?;
    let first = parts.get(at + 1)?;
    Some(if first.starts_with('@') {
        format!("{first}/{}", parts.get(at + 2)?)
    } else {
        (*first).to_owned()
    })
}

/// Where a server's own file goes: into its project's folder, or copied into a new one.
pub(crate) fn place(
    path: &Path,
    executable: bool,
    around: &Surroundings<'_>,
) -> Result<Local, Refusal> {
    let label = label(path);
    if let Some(folder) = around.folder
        && let Ok(inside) = path.strip_prefix(folder)
    {
        let argv = vec![text(inside)?];
        return Ok(Local { argv, project: Some(folder.to_owned()), label, ..Local::default() });
    }
    let Some(project) = project(path) else {
        return Ok(copied(path, &file_name(path), executable));
    };
    let why = project.why(path);
    let command = shell::line(around.command);
    if around.folder.is_none() && project.folder == around.working {
        let argv = vec![text(path.strip_prefix(&project.folder).unwrap_or(path))?];
        let mut note = Note::plain(format!(
            "{} is taken for the server's project, since {why}: all of it is the plugin",
            project.folder.display()
        ));
        if let Alone::Can | Alone::Lacks(_) = alone(path, &project) {
            note.hint = Some(format!(
                "for a plugin of {} alone, name a new folder: oz0 wrap --dir NEW -- {command}",
                file_name(path)
            ));
        }
        let notes = vec![note];
        return Ok(Local { argv, project: Some(project.folder), label, notes, ..Local::default() });
    }
    let alone = alone(path, &project);
    if around.folder.is_some() {
        let lacks = match alone {
            Alone::Can => None,
            Alone::Lacks(what) => Some(what),
            Alone::Cannot => {
                return Err(Refusal::new(format!(
                    "{} is part of the project in {}, since {why}, and a copy of it alone would lack the project's packages",
                    path.display(),
                    project.folder.display()
                ))
                .hint(whole(&project.folder, &command)));
            }
        };
        let mut local = copied(path, &file_name(path), executable);
        local.notes.extend(lacks.map(|what| {
            Note::warning(
                format!("{what}, which {} names, is no part of the copy", file_name(path)),
                format!("if the server needs it, {}", whole(&project.folder, &command)),
            )
        }));
        return Ok(local);
    }
    let mut hint = whole(&project.folder, &command);
    if !matches!(alone, Alone::Cannot) {
        hint.push_str("; or copy the file alone into a new folder, with --dir NEW");
    }
    Err(Refusal::new(format!(
        "{} is part of a project, since {why}, and its server sees nothing but its plugin's folder",
        path.display()
    ))
    .hint(hint))
}

/// What to do for the whole project.
fn whole(project: &Path, command: &str) -> String {
    format!(
        "make the project the plugin's folder, which writes its manifest there: oz0 wrap --dir {} -- {command}",
        shell::quoted(&project.to_string_lossy())
    )
}

/// What a copy of a file without its project is.
enum Alone {
    /// Everything it needs, as far as can be seen.
    Can,
    /// A script without this file, which it names.
    Lacks(String),
    /// Nothing that runs: its packages are the project's.
    Cannot,
}

fn alone(path: &Path, project: &Project) -> Alone {
    let python = path.extension().is_some_and(|end| end == "py" || end == "pyw");
    if !project.marked {
        Alone::Lacks(project.found.clone())
    } else if python
        && (matches!(declared_requirements(path), Ok(Some(_))) || python::packages(path).is_empty())
    {
        Alone::Can
    } else {
        Alone::Cannot
    }
}

/// What a script may be called by: its file's name, or its project's where every such file has that name.
fn label(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !["server", "main", "index", "app", "cli", "__main__", "mcp", "mcp_server"].contains(&&*stem)
    {
        return stem;
    }
    let folders = path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    folders
        .into_iter()
        .find(|name| !["build", "dist", "src", "out", "lib", "bin"].contains(name))
        .map_or(stem, str::to_owned)
}

fn copied(path: &Path, to: &str, executable: bool) -> Local {
    let note = Note::plain(format!(
        "{} is copied into the plugin's folder; what becomes of it later does not reach the copy",
        path.display()
    ));
    let to = to.to_owned();
    let copied = CopiedFile { from: path.to_owned(), to: to.clone(), executable };
    let label = label(path);
    Local { argv: vec![to], copied: vec![copied], label, notes: vec![note], ..Local::default() }
}

/// A file's name, where every system can hold it; a plain one otherwise.
fn file_name(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain) {
        return name.to_owned();
    }
    let end = path.extension().and_then(|end| end.to_str()).filter(|end| end.chars().all(plain));
    end.map_or_else(|| "server".to_owned(), |end| format!("server.{end}"))
}

fn text(path: &Path) -> Result<String, Refusal> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Refusal::new(format!("{} is not UTF-8, and a manifest is", path.display())))
}

/// A folder that a file is taken to be part of, and why.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    /// The file that says so.
    pub(crate) found: String,
    /// Whether it is one that lists the project's packages, and not only one beside the script that the script names.
    pub(crate) marked: bool,
}

impl Project {
    fn why(&self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if self.marked {
            format!("{} lies there", self.found)
        } else {
            format!("{name} names {}, which lies beside it", self.found)
        }
    }
}

/// The folder of the project that a file belongs to: the nearest one with a file that says so, else its own where other
/// files in it are named in it. `None` for a file by itself.
pub(crate) fn project(path: &Path) -> Option<Project> {
    let home = std::env::home_dir();
    for folder in path.ancestors().skip(1) {
        if folder.parent().is_none() || home.as_deref() == Some(folder) {
            break;
        }
        if let Some(marker) = MARKERS.iter().find(|marker| is_file(&folder.join(marker))) {
            let found = (*marker).to_owned();
            return Some(Project { folder: folder.to_owned(), found, marked: true });
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    let folder = path.parent()?;
    let source = read_script(path)?;
    let words: std::collections::BTreeSet<&str> =
        source.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).collect();
    let siblings = fs::read_dir(folder).ok()?.flatten().filter(|entry| entry.path() != path);
    let needed = siblings.filter(|entry| {
        let sibling = entry.path();
        let stem = sibling.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let source = sibling.extension().and_then(|end| end.to_str()).is_some_and(|end| {
            SCRIPTS.iter().any(|script| script[1..] == *end) || end == "json" || end == "yaml"
        });
        let package = sibling.join("__init__.py").is_file();
        (source || package) && words.contains(stem)
    });
    // The first by name, so that the same folder gives the same reason.
    let found = needed.map(|entry| entry.file_name().to_string_lossy().into_owned()).min()?;
    Some(Project { folder: folder.to_owned(), found, marked: false })
}

pub(crate) fn read_script(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(SCRIPT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a script says that it needs, in its metadata (PEP 723); `None` where it has none.
fn declared_requirements(path: &Path) -> Result<Option<Vec<String>>, Refusal> {
    let Some(source) = read_script(path) else { return Ok(None) };
    let Some((_, rest)) = source.split_once("# /// script\n") else { return Ok(None) };
    let metadata: String = rest
        .lines()
        .take_while(|line| line.starts_with('#') && line.trim_end() != "# ///")
        .map(|line| line.strip_prefix("# ").unwrap_or(&line[1..]))
        .fold(String::new(), |text, line| text + line + "\n");
    let table: toml::Table = metadata.parse().map_err(|error| {
        Refusal::new(format!("the metadata of {} does not decode: {error}", path.display()))
    })?;
    let listed = table.get("dependencies").and_then(toml::Value::as_array);
    let requirements: Vec<String> =
        listed.into_iter().flatten().filter_map(|one| one.as_str()).map(str::to_owned).collect();
    requirements.iter().try_for_each(|one| check_requirement(one))?;
    Ok(Some(requirements))
}

/// A requirement that a registry's release can fulfil. An option of an installer is none, whatever line it stands in.
pub(crate) fn check_requirement(text: &str) -> Result<(), Refusal> {
    let specifier = text.split(';').next().unwrap_or_default();
    let plain = !text.chars().any(|c| c.is_control() || "@#\\".contains(c));
    if plain {
        crate::package::pypi(specifier.trim())?;
        return Ok(());
    }
    Err(Refusal::new(format!(
        "`{}` is no requirement of a registry's release",
        text.escape_debug()
    )))
}
