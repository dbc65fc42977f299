//! The test node: measures what a plugin's servers list, and runs its contract tests.
