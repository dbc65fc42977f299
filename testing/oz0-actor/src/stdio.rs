//! The server over its own stdin and stdout.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::stage::{Incoming, Piece, Stage};

pub(crate) async fn run(stage: Arc<Stage>) -> Result<(), String> {
    if stage.script.stubborn {
        crate::ignore_sigterm()?;
    }
    let (sink, mut pieces) = mpsc::channel(64);
    let writing = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(piece) = pieces.recv().await {
            let bytes = match piece {
                Piece::Message(mut text) => {
                    text.push('\n');
                    text.into_bytes()
                }
                Piece::Raw(bytes) => bytes,
                Piece::Status { .. } => continue,
            };
            if stdout.write_all(&bytes).await.is_err() || stdout.flush().await.is_err() {
                return;
            }
        }
    });
    stage.event("start", &sink).await;
    stage.start_timers(&sink);
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while stdin.read_until(b'\n', &mut line).await.map_err(|error| format!("stdin: {error}"))? > 0 {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        stage.log(json!({"body": text}));
        let Ok(message) = serde_json::from_str::<Incoming>(&text) else { continue };
        let (stage, sink) = (Arc::clone(&stage), sink.clone());
        tokio::spawn(async move { stage.take(message, &sink).await });
    }
    stage.event("end", &sink).await;
    if stage.script.stubborn {
        std::future::pending::<()>().await;
    }
    drop(sink);
    // Answers that are still being written; those that wait for ever do not keep the process.
    let _ = tokio::time::timeout(Duration::from_millis(100), writing).await;
    // The runtime would wait for a blocked read of stdin.
    std::process::exit(0);
}
