//! The stdio transport: one message a line over a pair of byte streams.
//!
//! Two tasks, one for each direction, joined only by the connection's book-keeping: a peer that does not read never
//! keeps us from reading. The streams are handed in, so a pipe in memory serves as well as a child process.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::core::{Core, Out};
use crate::error::Closed;
use crate::line::{Line, Lines};
use crate::message::one_line;

const CHUNK: usize = 64 << 10;

pub(crate) fn read(
    core: Arc<Core>,
    mut reader: impl AsyncRead + Send + Unpin + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut lines = Lines::new(core.limits.message);
        let mut chunk = vec![0; CHUNK];
        let end = loop {
            match reader.read(&mut chunk).await {
                Ok(0) => break Closed::ByPeer(String::new()),
                Ok(count) => lines.feed(&chunk[..count], |line| take(&core, &line)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Closed::Broken(format!("reading its output failed: {error}")),
            }
        };
        lines.finish(|line| take(&core, &line));
        core.close(&end);
    })
}

fn take(core: &Arc<Core>, line: &Line<'_>) {
    match line {
        Line::Whole(line) => core.take(line, None),
        Line::TooLong(head) => {
            core.waste(&String::from_utf8_lossy(head), "a line above the size limit");
            core.oversized("a line");
        }
    }
}

pub(crate) fn write(
    core: Arc<Core>,
    mut outgoing: mpsc::Receiver<Out>,
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        while let Some(Out::Message(message)) = outgoing.recv().await {
            let mut line = one_line(message);
            line.push('\n');
            let written = async {
                writer.write_all(line.as_bytes()).await?;
                writer.flush().await
            };
            if let Err(error) = written.await {
                core.close(&Closed::Broken(format!("writing to its input failed: {error}")));
                return;
            }
        }
        // Dropping the writer would close the pipe as well; this also ends in-memory and half-closed streams.
        let _ = writer.shutdown().await;
    })
}
