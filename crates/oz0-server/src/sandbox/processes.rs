//! The processes below this one, found through `/proc`, and their end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// How long a process that was killed may take to go. One in an uninterruptible wait can take
/// longer, and goes when that ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills every descendant of this process, which is the sub-reaper: whatever is orphaned in the
/// meantime comes to it, so that nothing escapes by forking while it is hunted. Returns when none
/// is left, or after ten seconds.
pub(crate) fn end_descendants() {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // Stopped first, a process cannot fork while its family is looked for.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in descendants() {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        while super::wiring::reap().is_some() {}
        if descendants().is_empty() || Instant::now() > deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The descendants of this process, itself not counted.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut queue = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = queue.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.extend(Pid::from_raw(child));
            queue.push(child);
        }
    }
    found
}

/// The fourth field of `/proc/PID/stat`, after a name that may hold any character.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[after_name + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}
