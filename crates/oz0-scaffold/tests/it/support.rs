//! A registry with three releases, and a working folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use oz0_plugin::Plugin;
use oz0_scaffold::wrap::Files;
use oz0_scaffold::{Plan, Registries, Server, WrapError, Wrapping, wrap};
use oz0_server::{EnvironmentError, Registry};

/// Answers as a registry does whose newest version of everything is 2.3.4.
pub(crate) struct Fixed;

impl Registries for Fixed {
    fn newest(&self, _: Registry, _: &str, _: &str) -> Result<String, EnvironmentError> {
        Ok("2.3.4".to_owned())
    }

    fn python_files(&self, requirements: &[String]) -> Result<Files, EnvironmentError> {
        let lock = format!("# the lock of {}\n", requirements.join(", "));
        Ok(vec![("requirements.in", requirements.join("\n") + "\n"), ("requirements.txt", lock)])
    }

    fn node_files(&self, name: &str, version: &str) -> Result<Files, EnvironmentError> {
        Ok(vec![
            ("package.json", format!("{{\"dependencies\": {{\"{name}\": \"{version}\"}}}}\n")),
            ("package-lock.json", "{}\n".to_owned()),
        ])
    }
}

pub(crate) fn wrapping(working: &Path, command: &[&str]) -> Wrapping {
    let words = command.iter().map(|word| (*word).to_owned()).collect();
    Wrapping {
        server: Server::Command(words),
        name: None,
        folder: None,
        working: working.to_owned(),
        command_folder: None,
        search: vec![working.join("path"), "/usr/bin".into(), "/bin".into()],
        env: BTreeMap::new(),
        secrets: Vec::new(),
        egress: Vec::new(),
        license: None,
        force: false,
    }
}

/// A working folder without a link on its way.
pub(crate) fn working() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

pub(crate) fn write(folder: &Path, path: &str, text: &str) -> PathBuf {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

pub(crate) fn executable(folder: &Path, path: &str, bytes: &[u8]) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What comes of it, as a person reads it, with the working folder as `HERE`. What is written is loaded.
pub(crate) fn outcome(wrapping: &Wrapping) -> String {
    let text = match wrap::plan(wrapping, &Fixed) {
        Ok(plan) => match plan.write() {
            Ok(()) => written(&plan),
            Err(error) => refused(&error),
        },
        Err(error) => refused(&error),
    };
    text.replace(wrapping.working.to_str().unwrap(), "HERE")
}

fn refused(error: &WrapError) -> String {
    let WrapError::Refused(refusal) = error else { panic!("{error}") };
    match refusal.help() {
        Some(help) => format!("refused: {refusal}\nhint: {help}\n"),
        None => format!("refused: {refusal}\n"),
    }
}

pub(crate) fn written(plan: &Plan) -> String {
    let plugin = Plugin::load(plan.folder.path()).unwrap();
    assert_eq!(oz0_diagnostic::report::concise(plugin.diagnostics()), "");
    assert_eq!(plugin.manifest().unwrap().name.as_str(), plan.name);
    let mut text = format!("{}: {}\n", plan.folder.path().display(), plan.files().join(", "));
    let _ = writeln!(text, "runs: {}", plan.runs);
    for note in &plan.notes {
        let kind = if note.warns { "warning" } else { "note" };
        let _ = writeln!(text, "{kind}: {}", note.text);
    }
    let given = plan.run_arguments();
    if !given.is_empty() {
        let _ = writeln!(text, "with: {}", oz0_scaffold::shell::line(given));
    }
    let manifest = plan.manifest().lines().filter(|line| !line.starts_with('#'));
    text + "---\n" + &manifest.skip(2).collect::<Vec<_>>().join("\n") + "\n"
}
