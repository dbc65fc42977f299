//! Whole processes on the clock, in turn.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Counted runs of each command, after one that is not.
pub(crate) const RUNS: usize = 31;

/// Runs all of them in turn, and gives the times of each, in their order.
pub(crate) fn in_turn<const N: usize>(commands: [&dyn Fn() -> Duration; N]) -> [Times; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(RUNS));
    for run in 0..=RUNS {
        for (command, times) in commands.iter().zip(&mut times) {
            let time = command();
            if run > 0 {
                times.push(time);
            }
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        Times(times)
    })
}

/// The times of one command, the shortest first.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// The median.
    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    /// The median, and between which times the middle half lies.
    pub(crate) fn told(&self) -> String {
        let (low, high) = (self.0[self.0.len() / 4], self.0[self.0.len() * 3 / 4]);
        format!("{:.1} ms ({:.1} to {:.1})", millis(self.median()), millis(low), millis(high))
    }

    /// How many times the other's median this one's is.
    pub(crate) fn ratio(&self, other: &Self) -> f64 {
        self.median().as_secs_f64() / other.median().as_secs_f64()
    }
}

/// In milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Runs a command that must end well, with nothing printed.
pub(crate) fn quiet(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{command:?} ended with {status}");
}

/// How long a command takes, on the clock.
pub(crate) fn wall(command: &mut Command) -> Duration {
    let began = Instant::now();
    quiet(command);
    began.elapsed()
}
