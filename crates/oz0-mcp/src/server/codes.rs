//! JSON-RPC error codes: the standard ones, those that 2026-07-28 reserves, and this gateway's own, which lie outside
//! the range that JSON-RPC keeps for itself.

pub(crate) const PARSE: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL: i64 = -32603;
pub(crate) const HEADER_MISMATCH: i64 = -32020;
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Too many requests of this client are in flight.
pub const BUSY: i64 = -31_001;
/// The gateway is shutting down.
pub const CLOSING: i64 = -31_002;
/// What waited for the client's answer is gone.
pub const EXPIRED: i64 = -31_003;
/// The client did not take what was sent to it.
pub const TOO_SLOW: i64 = -31_004;

/// The HTTP status that goes with an error in the modern era, where the status is part of the answer.
pub(crate) const fn status(code: i64) -> u16 {
    match code {
        PARSE | INVALID_REQUEST | INVALID_PARAMS | HEADER_MISMATCH | MISSING_CAPABILITY
        | UNSUPPORTED_VERSION => 400,
        METHOD_NOT_FOUND => 404,
        BUSY => 429,
        CLOSING => 503,
        _ => 200,
    }
}
