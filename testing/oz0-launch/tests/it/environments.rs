//! Locked environments.
