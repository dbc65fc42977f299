//! Running the programs that lock and install: `uv` and `npm`.
//!
//! They run attached: re-executed through the sandbox's entry, so that nothing of them outlives
//! oz0, but not confined, since they need the network, the user's configuration of registries and
//! proxies, and their own caches. None of them is ever asked to run a package's code.

use std::ffi::{OsStr, OsString};
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
    /// Beside the variables of the user that [`is_passed`] lets through.
    pub(crate) environment: Vec<(&'static str, OsString)>,
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
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)))
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
            output: oz0_listing::escape::text(
                &lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n"),
            )
            .into_owned(),
        })
    }
}

/// Whether a variable of the user reaches an installer: where things are on the machine, how to
/// reach a registry, and the choices of version managers whose scripts stand for `python3` and
/// `npm`. Nothing that changes what is installed, or runs something with it. The page
/// `docs/reference/environments.md` lists them.
fn is_passed(name: &str) -> bool {
    const NAMES: [&str; 43] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SSL_CLIENT_CERT",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "NETRC",
        "UV_DEFAULT_INDEX",
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
        "UV_INSECURE_HOST",
        "UV_KEYRING_PROVIDER",
        "UV_NATIVE_TLS",
        "UV_SYSTEM_CERTS",
        "UV_HTTP_TIMEOUT",
        "UV_OFFLINE",
        "PIP_INDEX_URL",
        "PIP_CERT",
        "PIP_CLIENT_CERT",
        "PIP_PROXY",
        "PIP_TRUSTED_HOST",
        "PIP_CONFIG_FILE",
        "NPM_TOKEN",
        "NODE_AUTH_TOKEN",
        "NPM_CONFIG_REGISTRY",
        "NPM_CONFIG_USERCONFIG",
        "NPM_CONFIG_GLOBALCONFIG",
    ];
    const MANAGERS: [&str; 5] = ["PYENV_", "NODENV_", "ASDF_", "MISE_", "VOLTA_"];
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&upper.as_str())
        || MANAGERS.iter().any(|start| upper.starts_with(start))
        || upper.starts_with("UV_INDEX_") && !upper.contains("STRATEGY")
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
