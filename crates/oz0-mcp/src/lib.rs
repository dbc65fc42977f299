//! The Model Context Protocol on the wire, as raw JSON-RPC.
