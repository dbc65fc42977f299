//! A plugin's servers: locks, surroundings, sandbox, start and stop.
