//! `uv run`: a script, a module or a program, of a project or by itself.
//!
//! uv would install the project itself to find a program that it declares. Here it is not installed, since that runs its
//! code, so such a program becomes what an installer would have written into it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::UvRun;
use crate::local::{
    Local, MARKERS, Surroundings, absolute, check_requirement, interpreter, is_file, place,
    run_module, script,
};
use crate::refusal::Refusal;
use crate::shell;

pub(crate) fn is_python(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|end| end == "py" || end == "pyw")
}

/// What it starts.
pub(crate) fn run(run: &UvRun, around: &Surroundings<'_>) -> Result<Local, Refusal> {
    run.with.iter().try_for_each(|one| check_requirement(one))?;
    let here =
        run.directory.as_ref().map_or_else(|| around.here.clone(), |to| absolute(to, &around.here));
    let inner = Surroundings { here, ..*around };
    let words = &run.words;
    let python = |words: &[String]| {
        let mut argv = vec!["python3".to_owned()];
        argv.extend_from_slice(words);
        argv
    };
    let mut local = if is_file(&absolute(&words[0], &inner.here)) || is_python(&words[0]) {
        script("python3", &python(words), &inner)?
    } else if words[0] == "-m" {
        run_module_of(run, python(words), &inner)?
    } else if interpreter(&words[0]).as_deref() == Some("python3") {
        match words.get(1).map(String::as_str) {
            Some("-m") => run_module_of(run, python(&words[1..]), &inner)?,
            _ => script("python3", &python(&words[1..]), &inner)?,
        }
    } else {
        program_of_project(run, &inner)?
    };
    if !run.with.is_empty() {
        if local
            .project
            .as_deref()
            .is_some_and(|folder| MARKERS.iter().any(|marker| is_file(&folder.join(marker))))
        {
            return Err(Refusal::new(
                "uv run --with adds packages to those that the project has locked",
            )
            .hint(
                "add them to the project: uv add PACKAGE; then wrap the command without --with",
            ));
        }
        local.requirements.extend(run.with.iter().cloned());
    }
    Ok(local)
}

/// The folder of the project that `uv run` would find.
fn uv_project(run: &UvRun, around: &Surroundings<'_>) -> Option<PathBuf> {
    let start =
        run.project.as_ref().map_or_else(|| around.here.clone(), |to| absolute(to, &around.here));
    start.ancestors().find(|folder| is_file(&folder.join("pyproject.toml"))).map(Path::to_owned)
}

/// Refuses a project that nobody named as the plugin's folder and that is not the working folder.
fn consent(project: &Path, around: &Surroundings<'_>) -> Result<(), Refusal> {
    let asked =
        around.folder == Some(project) || around.folder.is_none() && project == around.working;
    if asked {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "the server is the project in {}, and it sees nothing but its plugin's folder",
        project.display()
    ))
    .hint(format!(
        "make the project the plugin's folder, which writes its manifest there: oz0 wrap --dir {} -- {}",
        shell::quoted(&project.to_string_lossy()),
        shell::line(around.command)
    )))
}

fn run_module_of(
    run: &UvRun,
    argv: Vec<String>,
    around: &Surroundings<'_>,
) -> Result<Local, Refusal> {
    let Some(project) = uv_project(run, around) else {
        return run_module(&argv[2].clone(), argv, None, around);
    };
    consent(&project, around)?;
    let inner = Surroundings { folder: Some(&project), here: around.here.clone(), ..*around };
    run_module(&argv[2].clone(), argv, None, &inner)
}

/// A program that the project declares, or that one of its packages brings.
fn program_of_project(run: &UvRun, around: &Surroundings<'_>) -> Result<Local, Refusal> {
    let name = &run.words[0];
    let Some(project) = uv_project(run, around) else {
        if run.with.is_empty() {
            return Err(Refusal::new(format!("where {name} comes from, the command does not say"))
                .hint("name the package: oz0 wrap -- uvx --from PACKAGE PROGRAM"));
        }
        // Such as `uv run --with mcp mcp run server.py`: the script is one of its arguments.
        let at = run.words.iter().position(|word| is_file(&absolute(word, &around.here)));
        let Some(at) = at else {
            return Ok(Local { argv: run.words.clone(), label: name.clone(), ..Local::default() });
        };
        let mut local = place(&absolute(&run.words[at], &around.here), false, around)?;
        let mut argv = run.words.clone();
        argv[at] = local.argv.remove(0);
        local.argv = argv;
        return Ok(local);
    };
    consent(&project, around)?;
    let label = project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut local = Local { project: Some(project.clone()), label, ..Local::default() };
    let described = fs::read_to_string(project.join("pyproject.toml")).unwrap_or_default();
    let described: toml::Table = described.parse().map_err(|error| {
        Refusal::new(format!(
            "{} does not decode: {error}",
            project.join("pyproject.toml").display()
        ))
    })?;
    let entry = described
        .get("project")
        .and_then(|project| project.get("scripts")?.get(name)?.as_str())
        .map(str::to_owned);
    let Some(entry) = entry else {
        local.argv.clone_from(&run.words);
        return Ok(local);
    };
    let identifier = |text: &str| {
        !text.is_empty()
            && text.split('.').all(|part| {
                part.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    && part.chars().all(|c| c.is_alphanumeric() || c == '_')
            })
    };
    let (module, function) = entry.split_once(':').unwrap_or((&entry, ""));
    let (module, function) = (module.trim(), function.trim());
    if !identifier(module) || !identifier(function) {
        return Err(Refusal::new(format!(
            "`{name} = \"{}\"` is no entry point",
            entry.escape_debug()
        )));
    }
    let first = function.split('.').next().unwrap_or(function);
    // What an installer would write into the program of that name: the project itself is not installed.
    local.argv = vec![
        "python3".to_owned(),
        "-c".to_owned(),
        format!("import sys; from {module} import {first}; sys.exit({function}())"),
    ];
    local.argv.extend_from_slice(&run.words[1..]);
    let top = module.split('.').next().unwrap_or(module);
    if !project.join(top).exists() && !is_file(&project.join(format!("{top}.py"))) {
        local.env.push(("PYTHONPATH".to_owned(), "src".to_owned()));
    }
    Ok(local)
}
