//! Progress: one moving line on a terminal, plain lines elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Output;

/// What a command that takes a while says while it works.
#[derive(Clone)]
pub(crate) struct Progress {
    output: Output,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(output: Output) -> Self {
        let bar = output.moves().then(|| {
            let bar = ProgressBar::new_spinner();
            let style =
                ProgressStyle::with_template("{spinner} {msg}").expect("the template is right");
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
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
