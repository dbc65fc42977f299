//! The sandbox: what a server is started in, set up by re-executing the program itself.
//!
//! A process cannot confine a child it is about to start without running code between `fork` and
//! `exec`, where hardly anything is allowed. So oz0 starts *itself* first, as `oz0 __sandbox`, and
//! that process confines itself at leisure, with ordinary safe calls, and then starts the server.
//!
//! **Tier 1** takes two such processes. The *outer* one leaves the host's user, mount, PID, IPC,
//! UTS and (unless the server has network) network namespaces, and starts the *inner* one, which
//! is thereby PID 1 of the new PID namespace. The inner one builds a root of its own, pivots into
//! it, gives up its rights layer by layer, and starts the server. When PID 1 ends, for whatever
//! reason, the kernel kills everything in its namespace: a daemon in a session of its own cannot
//! outlive it. The outer one dies with oz0 and the inner one with the outer one, since each has
//! asked the kernel to be killed when its parent ends, and then looked whether the parent had
//! ended before it asked.
//!
//! **Tier 0** is for kernels that refuse any of it. The outer process declares itself sub-reaper,
//! so that orphans of the server come to it, and kills every descendant before it ends. When oz0
//! ends, however abruptly, the kernel wakes it with a signal. The inner process confines itself by
//! Landlock, seccomp and limits in tier 0 as well, where the kernel has them; what is missing is
//! said.

pub(crate) mod confine;
pub(crate) mod inner;
pub(crate) mod outer;
pub(crate) mod processes;
pub(crate) mod protocol;
pub(crate) mod root;
pub(crate) mod wiring;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The word that makes `oz0` a sandbox rather than a command line.
pub const SANDBOX_ARGUMENT: &str = "__sandbox";

/// The exit code of a sandbox that was not started by a launcher, or lost it.
const MISUSED: u8 = 125;

/// Runs the sandbox if this process was started as one.
///
/// To be called first thing in `main`, before any thread is started and before any argument is
/// parsed: a user namespace can only be left by a process of a single thread. `None` means that
/// this process is an ordinary one.
pub fn sandbox_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == SANDBOX_ARGUMENT).then(|| sandbox_main(arguments))
}

/// What `oz0 __sandbox ARGUMENTS…` runs; see [`sandbox_if_asked`].
pub fn sandbox_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let words: Vec<Cow<'_, str>> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let code = match words.as_slice() {
        ["outer", tier @ ("1" | "0"), network @ ("network" | "alone"), parent] => {
            match parent.parse() {
                Ok(parent) if *tier == "1" => outer::namespaces(parent, *network == "network"),
                Ok(parent) => outer::sub_reaper(parent),
                Err(_) => MISUSED,
            }
        }
        ["inner", parent] => parent.parse().map_or(MISUSED, inner::first_process),
        ["inner-plain", parent, room] => {
            parent.parse().map_or(MISUSED, |parent| inner::plain_process(parent, Path::new(room)))
        }
        ["attached", parent, program, ..] => parent
            .parse()
            .map_or(MISUSED, |parent| outer::attached(parent, program.as_ref(), &arguments[3..])),
        _ => MISUSED,
    };
    ExitCode::from(code)
}
