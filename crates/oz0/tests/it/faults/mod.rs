//! Whatever breaks between an edge, its nodes and their servers: no answer is lost or given twice, nothing is called that
//! nobody approved, and nothing that was approved is lost.

mod clock;
mod disk;
mod fleet;
mod kills;
mod load;
mod many;
mod network;
mod restart;
