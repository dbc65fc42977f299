//! The end of the process that started the server.
//!
//! An editor that is killed says no `exit`, and its end of the pipe may live on in a child of it. So the process that it named
//! in `initialize` is watched, by a file descriptor that the kernel makes readable when it ends: no other process that gets
//! its number later is taken for it, and nothing is asked again and again. A thread waits at the descriptor.

use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::sync::oneshot;

/// Waits until the process with this number has ended. Never returns where the system does not let it be watched; then the end
/// of standard input is what ends the server.
pub(crate) async fn ended(process: u32) {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    let Some(id) = id else { return std::future::pending().await };
    let descriptor = match pidfd_open(id, PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(Errno::SRCH) => return,
        Err(_) => return std::future::pending().await,
    };
    let (tell, told) = oneshot::channel::<()>();
    let wait = move || {
        loop {
            match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None) {
                Ok(_) => {
                    // Nobody listens any more when the server has ended already.
                    let _ = tell.send(());
                    break;
                }
                Err(Errno::INTR) => {}
                // It cannot be watched; the channel goes with this thread.
                Err(_) => break,
            }
        }
    };
    let watching = thread::Builder::new().name("parent".to_owned()).spawn(wait).is_ok();
    if !watching || told.await.is_err() {
        std::future::pending::<()>().await;
    }
}
