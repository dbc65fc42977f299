//! A stack that the parsers do not outgrow.
//!
//! The parsers of programming languages call themselves for every level of what they read, and so does whoever looks at their
//! trees. A stack that overflows is no panic: it ends the process. So they run on a thread whose stack has a gibibyte of
//! addresses, of which only what is used becomes memory, and what could outgrow even that is found out beforehand and not parsed.

use std::cell::Cell;
use std::thread;

/// How many bytes of addresses the stack has.
pub(crate) const SIZE: usize = 1 << 30;

thread_local! {
    static DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Marks the thread as one that was made with [`SIZE`], so that [`deep`] needs no other.
pub(crate) fn mark() {
    DEEP.set(true);
}

/// Runs `work` on a deep stack: here, if this thread has one, else on a thread of its own.
pub(crate) fn deep<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if DEEP.get() {
        return work();
    }
    thread::scope(|scope| {
        let run = move || {
            mark();
            work()
        };
        let thread = thread::Builder::new()
            .name("deep".to_owned())
            .stack_size(SIZE)
            .spawn_scoped(scope, run)
            .expect("the system gives a thread a gibibyte of addresses");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
