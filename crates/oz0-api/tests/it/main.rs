//! The API's types at the door, and the client against peers that misbehave.

mod client;
mod ids;
mod types;
