//! A `PostgreSQL` server of a test's own.
//!
//! It listens on a Unix socket in a folder of its own, and ends with whoever started it, for whatever reason that ends: a
//! script waits for the end of its standard input. The server refuses to run as root, so for root it runs as `postgres`, the
//! user that Debian's package makes.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Says where its folder is, then does what it is told line by line and answers each with a line, and cleans up at the end.
const SCRIPT: &str = r#"
set -e
folder=$(mktemp -d /tmp/oz0-postgres.XXXXXX)
end() { pg_ctl -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$folder"; }
trap end EXIT
trap '' INT TERM HUP
initdb -D "$folder/data" -U oz0 -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
cat >>"$folder/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 200
shared_buffers = 32MB
# What survives the end of the machine is not what a test can see; the end of a process does.
fsync = off
END
echo "$folder"
while read -r what rest; do
  case $what in
    conf) echo "$rest" >>"$folder/data/postgresql.conf" ;;
    start) pg_ctl -D "$folder/data" -w -l "$folder/log" start >/dev/null 2>&1 || { tail "$folder/log" >&2; echo failed; continue; } ;;
    stop) pg_ctl -D "$folder/data" -m "$rest" -w stop >/dev/null 2>&1 || { echo failed; continue; } ;;
    *) "$what" $rest >"$folder/said" 2>&1 || { cat "$folder/said" >&2; echo failed; continue; } ;;
  esac
  echo done
done
"#;

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    /// None once it is to end.
    told: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
    script: Child,
}

/// A program of the system: on the PATH, or where Debian keeps `PostgreSQL`'s.
pub fn system_program(name: &str) -> PathBuf {
    env::split_paths(&path())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}

/// The PATH, and where Debian keeps `PostgreSQL`'s programs, the newest first.
fn path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path()).collect();
    versions.sort();
    folders.extend(versions.iter().rev().map(|version| version.join("bin")));
    env::join_paths(folders).unwrap_or(path)
}

impl Postgres {
    /// Makes a server and starts it.
    ///
    /// # Errors
    ///
    /// What the system said where it cannot be made or started; what the server says is on standard error.
    pub fn start() -> io::Result<Self> {
        let server = Self::prepare()?;
        server.tell("start")?;
        Ok(server)
    }

    /// Makes a server that does not run yet.
    ///
    /// # Errors
    ///
    /// As [`Self::start`].
    pub fn prepare() -> io::Result<Self> {
        let is_root = Command::new("id").arg("-u").output()?.stdout.trim_ascii() == b"0";
        let mut command = if is_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--", "sh", "-c", SCRIPT]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", SCRIPT]);
            command
        };
        let piped = command.env("PATH", path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = piped.current_dir("/").spawn()?;
        let (Some(stdin), Some(stdout)) = (script.stdin.take(), script.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut stdout = BufReader::new(stdout);
        let mut folder = String::new();
        stdout.read_line(&mut folder)?;
        if folder.is_empty() {
            return Err(io::Error::other("PostgreSQL cannot be set up\nhint: cargo xtask setup"));
        }
        let folder = PathBuf::from(folder.trim_end());
        Ok(Self { folder, told: Mutex::new(Some((stdin, stdout))), script })
    }

    /// Does something with the server: `start`, `stop fast`, `stop immediate`, `conf NAME = VALUE`, or one of its programs.
    ///
    /// # Errors
    ///
    /// Where it was not done.
    pub fn tell(&self, what: &str) -> io::Result<()> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((stdin, stdout)) = &mut *told else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        writeln!(stdin, "{what}")?;
        let mut answer = String::new();
        stdout.read_line(&mut answer)?;
        if answer.trim_end() == "done" {
            return Ok(());
        }
        Err(io::Error::other(format!("PostgreSQL: `{what}` was not done")))
    }

    /// The folder that its socket is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The script ends when nobody can tell it anything any more, and the server with it.
        drop(self.told.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.script.wait();
    }
}

/// Makes a database at the server whose socket is in this folder, and says its address.
///
/// # Errors
///
/// What the system or the server said.
pub fn create_database(folder: &Path, name: &str) -> io::Result<String> {
    program("createdb", folder, &[name])?;
    Ok(address(folder, name))
}

/// Takes a database away, whoever uses it.
///
/// # Errors
///
/// What the system or the server said.
pub fn drop_database(folder: &Path, name: &str) -> io::Result<()> {
    program("dropdb", folder, &["--force", "--if-exists", name])
}

/// The address of a database at the server whose socket is in this folder.
pub fn address(folder: &Path, name: &str) -> String {
    format!("postgres:///{name}?host={}&user=oz0", folder.display())
}

fn program(name: &str, folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new(system_program(name));
    command.arg("-h").arg(folder).args(["-U", "oz0"]).args(arguments);
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}
