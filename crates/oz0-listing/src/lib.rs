//! A function's listing: escape, canonical JSON, hash, names, differences and files.
