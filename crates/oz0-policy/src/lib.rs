//! What a call's policy decides, what an agent combines, and the data that hosts, keys and words are judged by.
//!
//! The linter warns about a function that runs unasked, the install screen shows what will be asked, the gateway asks, and
//! the console explains why. If each of them had its own idea of the order in which rules count, a plugin could be shown
//! as safe and called as unsafe. So the decision stands here once, as a function of its arguments: no I/O, no manifest, no
//! wire. Whoever holds a plugin, a listing or a tenant's rules turns them into these few types and asks.
//!
//! - [`FunctionType`]: what kind of call a function's hints make it.
//! - [`decide`] and [`outcomes`]: what happens to a call, and what could happen to one.
//! - [`Condition`]: when a rule holds, by a call's arguments.
//! - [`loosens`]: whether an edit lets through what was refused or asked about.
//! - [`combine`]: private data, outside input and sending out in one agent.
//! - [`forbidden`]: packages that no plugin may bring in.
//! - [`hosts`], [`providers`], [`annex_iii`]: data files, each read at its first use and held to its shape by a test.

pub mod annex_iii;
mod combination;
mod condition;
mod data;
mod decision;
pub mod forbidden;
mod function;
pub mod hosts;
mod loosening;
mod matching;
pub mod providers;

pub use combination::{Combination, Part, combine};
pub use condition::{Condition, Unusable};
pub use data::DataError;
pub use decision::{
    Action, Approval, Coverage, Decision, Outcomes, Reason, Rule, Verdict, coverage, decide,
    outcomes,
};
pub use function::{Function, FunctionType, Hints};
pub use loosening::{Said, loosens};
pub use matching::Match;
