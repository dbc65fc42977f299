//! Progress: one moving line on a terminal, for what takes over a second; plain lines elsewhere.

use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// What is quicker than this shows no moving line.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a command that takes a while says while it works.
#[derive(Clone)]
pub(crate) struct Progress {
    output: Output,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(output: Output) -> Self {
        let bar = output.moves().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            let style =
                ProgressStyle::with_template("{spinner} {msg}").expect("the template is right");
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
            let later = bar.downgrade();
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                if let Some(bar) = later.upgrade().filter(|bar| !bar.is_finished()) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            });
            bar
        });
        Self { output, bar }
    }

    /// Says what is being done now: the line that moves, or a line of its own.
    pub(crate) fn now(&self, text: String) {
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None => self.output.say(&text),
        }
    }

    /// Hands on what another program prints, above the line that moves.
    pub(crate) fn print(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the moving line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
