//! x
pub mod cache;
/// x
pub struct Environments;
/// x
pub struct Prepared;
