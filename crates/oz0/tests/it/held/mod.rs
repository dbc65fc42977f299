//! What was approved is what gets called: held through the built binary, with real servers and real clients.

mod approval;
mod bound;
mod house;
mod kills;
mod listings;
mod variants;
