//! Diagnostics with exact spans, and the reporters that print them.
