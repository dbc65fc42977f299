//! Running the programs that lock and install: `uv` and `npm`.
//!
//! They run attached: re-executed through the sandbox's entry, so that nothing of them outlives
//! oz0, but not confined, since they need the network, the user's configuration of registries and
//! proxies, and their own caches. None of them is ever asked to run a package's code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::EnvironmentError;
use crate::sandbox::SANDBOX_ARGUMENT;
use crate::sandbox::protocol::Ended;

/// The lines kept of what an installer said.
const KEPT_LINES: usize = 30;

/// One run of an installer.
pub(crate) struct Installer<'a> {
    /// oz0's own program.
    pub(crate) oz0: &'a Path,
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<&'a OsStr>,
    pub(crate) folder: &'a Path,
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Such as "install the packages of mcp-server-time".
    pub(crate) operation: String,
}

impl Installer<'_> {
    /// Runs it to its end, and gives what it wrote to stdout.
    pub(crate) fn run(self) -> Result<String, EnvironmentError> {
        let program = self.program.display().to_string();
        let output = Command::new(self.oz0)
            .args([SANDBOX_ARGUMENT, "attached", &std::process::id().to_string()])
            .arg(self.program)
            .args(&self.arguments)
            .current_dir(self.folder)
            .env_remove("VIRTUAL_ENV")
            .env_remove("CONDA_PREFIX")
            .env_remove("PYTHONPATH")
            .env_remove("PYTHONHOME")
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|source| EnvironmentError::NotRun {
                operation: self.operation.clone(),
                program: program.clone(),
                source,
            })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = if said.trim().is_empty() { text } else { said };
        let lines: Vec<&str> = said.lines().collect();
        let status = match output.status.code() {
            Some(code) if code > 128 => Ended::Signalled(code - 128).to_string(),
            Some(code) => Ended::Exited(code).to_string(),
            None => output.status.to_string(),
        };
        Err(EnvironmentError::Installer {
            operation: self.operation,
            program,
            status,
            output: lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n"),
        })
    }
}

/// A program on this process's `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    std::env::split_paths(&std::env::var_os("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}
