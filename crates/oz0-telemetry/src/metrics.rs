//! Numbers, as Prometheus reads them: `OpenMetrics` text 1.0.
//!
//! A part of oz0 that counts has a [`Source`]. Its labels are of things that an operator put there, plugins and their
//! functions, nodes, routes, and outcomes that are listed in the code: nothing that a client or a server says becomes one.

use std::fmt::Write as _;
use std::sync::Arc;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

/// The media type of [`page`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds that a call, a listing or a request may take: OpenTelemetry's buckets of `mcp.server.operation.duration`.
pub const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Seconds of what should take next to none: from 10 µs to 1 s.
pub const SHORT: [f64; 14] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
    0.1, 0.25, 1.0,
];

/// Something that counts.
pub trait Source: Send + Sync {
    /// Reads what is read only when somebody asks, and gives what it counts in.
    fn registry(&self) -> &Registry;
}

/// The page of these sources, with what program this is.
pub fn page(sources: &[Arc<dyn Source>]) -> String {
    let mut own = Registry::default();
    let build = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("os", std::env::consts::OS),
        ("arch", std::env::consts::ARCH),
    ];
    own.register("oz0_build", "What program this is", Info::new(build.to_vec()));
    let refused = ConstCounter::new(oz0_serve::refused());
    let what =
        "Connections that were closed at once, since their address held its part of the port";
    own.register("oz0_connections_refused", what, refused);
    let mut text = String::new();
    let registries = sources.iter().map(|source| source.registry());
    for registry in std::iter::once(&own).chain(registries) {
        if encode_registry(&mut text, registry).is_err() {
            // Writing to a String cannot fail; what encodes itself could, and then its part is missing.
            let _ = writeln!(text, "# something that counts could not be written");
        }
    }
    let _ = encode_eof(&mut text);
    text
}
