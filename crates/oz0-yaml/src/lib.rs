//! YAML with spans, limits, and edits that keep comments.
