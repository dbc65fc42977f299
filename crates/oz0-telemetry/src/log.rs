//! The log: events on stderr, one a line, as text or as JSON.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::flood::Flood;
use crate::line::Lines;

/// How an event is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: an object a line.
    Json,
}

/// What is logged where nothing else is said: what an operator needs.
pub const FILTER: &str = "info";

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// What is to be logged cannot be read.
    #[error("`{given}` does not say what to log: {reason}")]
    Filter {
        /// What was given, escaped.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something in this process logs already.
    #[error("the log was started before")]
    Started,
    /// The collector's exporter could not be made.
    #[error("could not make the exporter to an OpenTelemetry collector: {0}")]
    Exporter(String),
}

/// The log, until it is dropped; then what is on its way to a collector is waited for.
#[derive(Debug)]
#[must_use = "what is on its way to a collector is waited for when it is dropped"]
pub struct Log {
    #[cfg(feature = "otel")]
    _spans: Option<crate::otel::Sending>,
}

/// Writes events to stderr from now on. `filter` is a level, or directives as `tracing`'s `EnvFilter` reads them
/// (`info,oz0::call=debug`); where there is none, no line is written, and only spans are sent, where a collector is named.
///
/// Called before any runtime is made: what sends spans has a thread of its own.
pub fn start(filter: Option<&str>, format: Format) -> Result<Log, LogError> {
    let wanted = filter
        .map(|given| {
            EnvFilter::builder().parse(given).map_err(|error| LogError::Filter {
                given: oz0_escape::line_within(given, 200).into_owned(),
                reason: oz0_escape::line_within(&error.to_string(), 200).into_owned(),
            })
        })
        .transpose()?;
    #[cfg(feature = "otel")]
    let spans = crate::otel::layer().map_err(LogError::Exporter)?;
    #[cfg(feature = "otel")]
    let (spans, sending) = spans.unzip();
    #[cfg(not(feature = "otel"))]
    let spans: Option<tracing_subscriber::layer::Identity> = None;
    if wanted.is_none() && spans.is_none() {
        return Ok(Log {
            #[cfg(feature = "otel")]
            _spans: None,
        });
    }
    let lines = wanted.map(|wanted| {
        let flood = Flood::default();
        flood.watch();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Lines::new(
            format,
            flood,
            io::stderr,
        ));
        match format {
            Format::Text => lines.with_filter(wanted).boxed(),
            Format::Json => lines
                .json()
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(false)
                .with_filter(wanted)
                .boxed(),
        }
    });
    tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .try_init()
        .map_err(|_| LogError::Started)?;
    Ok(Log {
        #[cfg(feature = "otel")]
        _spans: sending,
    })
}
