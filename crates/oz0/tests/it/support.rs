//! What the tests of the built binary share: a plugin made of texts, a run of `oz0`, the scripted server.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oz0_api::audit::{AuditEntry, AuditQuery};

/// The built `oz0`.
pub(crate) const OZ0: &str = env!("CARGO_BIN_EXE_oz0");

/// The checkout.
pub(crate) fn checkout() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate is two levels below the checkout").to_owned()
}

/// Where the tests keep what they install, so that the second run of a test asks the network for nothing.
pub(crate) fn cache() -> PathBuf {
    let base = std::env::var_os("OZ0_TEST_CACHE").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache/oz0-tests"),
        PathBuf::from,
    );
    base.join("environments")
}

/// `oz0` with the given arguments, in surroundings of its own.
pub(crate) fn oz0<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(OZ0);
    command
        .args(arguments)
        .env("OZ0_CACHE", cache())
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("OZ0_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1");
    command
}

/// What a finished run said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Both streams, for the message of a failing test.
    pub(crate) fn all(&self) -> String {
        format!("exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("oz0 prints UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("oz0 prints UTF-8"),
        }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Said {
    command.output().expect("the command starts").into()
}

/// A folder of files, each given by its path and text.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

/// Writes one file below a folder, with the folders it is in.
pub(crate) fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
    fs::write(path, text).expect("the file can be written");
}

/// Copies a folder with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type is known").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}

/// The whole audit log of an edge.
pub(crate) async fn audit_log(admin: &oz0_api::Client) -> Vec<AuditEntry> {
    let (mut after, mut entries) = (0, Vec::new());
    loop {
        let query = AuditQuery { after, limit: Some(1000), ..AuditQuery::default() };
        let page = admin.audit(&query).await.expect("the edge answers");
        entries.extend(page.entries);
        after = page.next;
        if !page.more {
            return entries;
        }
    }
}

/// Lets every call through on this data folder, from now on: other people's servers say little of what their functions do,
/// and in these tests nobody is there to be asked.
pub(crate) fn let_all_through(data: &Path) {
    use std::io::{BufRead as _, BufReader};
    let mut up = oz0(["up", "--json", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"])
        .arg("--data")
        .arg(data)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("oz0 starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(up.stdout.take().expect("it is piped"));
    stdout.read_line(&mut line).expect("it says where it is");
    let said = run(oz0(["policy", "set", "*", "allow", "--data"]).arg(data));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(up.id()).expect("process IDs are small"));
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
    up.wait().expect("it ends");
    assert_eq!(said.code, Some(0), "{}", said.all());
}
