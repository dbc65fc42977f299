//! What is seen of oz0 from outside: its log, its metrics, and the one ID that a call has from its client to the server.
//!
//! The crates that do the work say what happens with `tracing`, under the targets of [`target`], and count it with
//! `prometheus-client`. What becomes of that is decided here, and set up by the binary: [`log`] writes events to stderr,
//! one a line; [`metrics`] writes the numbers where Prometheus reads them; with the feature `otel`, spans go to a
//! collector.
//!
//! Three things hold whatever is said. **An event is one line**, in which nothing is invisible: names and reasons come from
//! servers and clients, who would write lines of their own. **Nobody floods the log**: of each kind of event only so many a
//! second are written, and how many were not is said. **Nothing in it is a secret**: arguments, results, tokens and header
//! values are never handed to `tracing`, at any level. The last is a rule for who calls it, and held by tests from outside.

mod flood;
mod line;
pub mod log;
pub mod metrics;
#[cfg(feature = "otel")]
mod otel;
pub mod port;
pub mod trace;

/// The targets of events and spans: what `--log` names.
pub mod target {
    /// Calls: a span for each, and how it ended.
    pub const CALL: &str = "oz0::call";
    /// A node: its servers, its edge, what it runs.
    pub const NODE: &str = "oz0::node";
    /// An edge: what was written into its audit log, its nodes, its store.
    pub const EDGE: &str = "oz0::edge";
    /// Requests that were turned away, and listeners.
    pub const HTTP: &str = "oz0::http";
    /// The log itself.
    pub const LOG: &str = "oz0::log";
    /// What is said to people, where no log is written.
    pub const TALK: &str = "oz0::talk";
}
