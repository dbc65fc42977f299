//! What the system lets a process have.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one. A gateway has a descriptor or three for each
/// server and client, and the usual soft limit of 1024 stands for programs that use `select`. Each
/// server gets limits of its own. Where it cannot be raised it stays.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// How many files this process may have open.
pub(crate) fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
