//! Contract tests: the plugin's own `tests/`, run against fakes.
//!
//! They are the plugin's code, so they run as its servers do: on a copy of the packed files, in the same surroundings and the
//! same sandbox. The copy is theirs alone and they may write to it. What they print is handed through as it comes.

use oz0_plugin::ContractTests;
use oz0_server::{Ended, FolderAccess, LaunchError, LaunchSpec, Launcher, StopBounds};
use tokio::io::AsyncReadExt;
use tokio::time::{Duration, timeout};

/// How long one runner may take: 15 minutes.
const BOUND: Duration = Duration::from_mins(15);

/// One run of a test runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suite {
    /// What people call it.
    pub(crate) name: &'static str,
    /// Its command, in the plugin's folder.
    pub(crate) argv: Vec<String>,
    /// What it runs, for messages.
    pub(crate) what: String,
    /// Whether its runner is pytest.
    pub(crate) needs_pytest: bool,
}

/// The runs that a plugin's contract tests ask for.
pub(crate) fn suites(tests: &ContractTests) -> Vec<Suite> {
    // Tests write to both streams, and the order of what they print matters to whoever reads it.
    let shell = |script: &str, arguments: &[String]| {
        let mut argv = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned(), "sh".to_owned()];
        argv.extend_from_slice(arguments);
        argv
    };
    let mut suites = Vec::new();
    if !tests.pytest.is_empty() {
        suites.push(Suite {
            name: "pytest",
            argv: shell(r#"exec python3 -m pytest -p no:cacheprovider "$@" 2>&1"#, &tests.pytest),
            what: format!("{} in tests/", count(tests.pytest.len(), "file")),
            needs_pytest: true,
        });
    }
    if let Some(package) = tests.npm {
        let folder = package.strip_suffix("/package.json").unwrap_or(".").to_owned();
        suites.push(Suite {
            name: "npm test",
            argv: shell(r#"cd "$1" && exec npm test 2>&1"#, &[folder]),
            what: package.to_owned(),
            needs_pytest: false,
        });
    }
    suites
}

pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// How a suite ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
}

/// Runs one suite, handing on what it prints.
pub(crate) async fn run(
    launcher: &Launcher,
    suite: &Suite,
    mut spec: LaunchSpec,
    hand_on: &(dyn Fn(&[u8]) + Send + Sync),
) -> Result<Outcome, LaunchError> {
    spec.argv.clone_from(&suite.argv);
    spec.folder_access = FolderAccess::Write;
    spec.declared.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
    let mut running = match launcher.start(&spec).await {
        Ok(running) => running,
        Err(error @ LaunchError::Program { .. }) => return Ok(Outcome::Failed(error.to_string())),
        Err(error) => return Err(error),
    };
    let (stdin, mut stdout) = running.take_stdio().expect("it just started");
    drop(stdin);
    let read = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
            hand_on(&buffer[..count]);
        }
        running.wait().await
    };
    match timeout(BOUND, read).await {
        Ok(Ended::Exited(0)) => Ok(Outcome::Passed),
        Ok(ended) => Ok(Outcome::Failed(format!("{} ended with {ended}", suite.name))),
        Err(_) => {
            running.stop(StopBounds::default()).await;
            Ok(Outcome::Failed(format!(
                "{} did not end within {} minutes",
                suite.name,
                BOUND.as_secs() / 60
            )))
        }
    }
}
