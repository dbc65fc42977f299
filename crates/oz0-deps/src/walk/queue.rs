//! The list of what is still to be read, which all threads share.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A folder of the tree.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its real path from the root, as the system has it.
    pub(super) path: Vec<u8>,
    /// The path that a link gives it, when that is how it is looked at: only what the link's name changes is read.
    pub(super) alias: Option<Vec<u8>>,
    /// How many folders it is in.
    pub(super) depth: usize,
    /// Whether a package may be installed in it.
    pub(super) place: crate::installed::Place,
    /// Whether it is in a copy of a package that is looked for.
    pub(super) copied: bool,
}

/// Something to read.
#[derive(Debug)]
pub(super) enum Job {
    Folder(Folder),
    /// Files of a folder, by their names. Their number is what the first counts as, in an ordered walk.
    Files(Arc<Folder>, Vec<Vec<u8>>),
    /// A file at a path from the root, inside of a checkout's `.git`, that a link leads to.
    Stray(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    jobs: Vec<Job>,
    /// How many threads have a job, and may put more here.
    busy: usize,
    /// How many wait for one.
    waiting: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        let state = State { jobs: Vec::new(), busy: 0, waiting: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts jobs on the list. The last is taken first.
    pub(super) fn push(&self, jobs: &mut Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let mut state = self.state();
        state.jobs.append(jobs);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// The first job of a thread, or the next one when it has done one; none when all is done.
    pub(super) fn next(&self, first: bool) -> Option<Job> {
        let mut state = self.state();
        if !first {
            state.busy -= 1;
        }
        loop {
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                self.changed.notify_all();
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Forgets what is on the list.
    pub(super) fn clear(&self) {
        self.state().jobs.clear();
    }
}
