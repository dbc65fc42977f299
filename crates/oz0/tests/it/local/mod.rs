//! `oz0 up` and `oz0 mcp`: real processes on one data folder, and the clients that find them.

mod home;
mod mcp;
mod state;
mod up;
