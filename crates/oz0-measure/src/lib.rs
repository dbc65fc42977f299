//! The test node: measures what a plugin's servers list, and runs its contract tests.
//!
//! A listing that is to be pinned must be the same tomorrow and elsewhere, so one look is not enough. Each server is looked
//! at three times: once; a second later in equal surroundings, which shows what differs from start to start (*unstable*: an
//! error, since it could never be approved for longer than one start); and in other surroundings, which shows what depends on
//! where it runs (*bound*: a warning, since every node gives it the same ones).
//!
//! The first look's listing is the measured one. It is the caller's to write down, and only when nothing failed.
//!
//! What is wrong with the plugin is a finding in [`Measurement::findings`]; a [`MeasureError`] says that oz0 itself could not
//! measure.

mod cause;
mod checks;
mod compare;
mod contract;
mod findings;
mod hidden;
mod look;
mod measure;
mod report;
mod scratch;

pub use checks::{
    BOUND_TO_SURROUNDINGS, CONTRACT_FAILED, ENVIRONMENT_FAILED, HIDDEN_CHARACTERS, LEFT_OUT,
    NOT_AS_COMMITTED, NOT_COMPARED, SERVER_FAILED, STDOUT_JUNK, UNCALLABLE, UNKNOWN_FUNCTION,
    UNSTABLE_LISTING, UNUSED_POINTER,
};
pub use measure::{Event, MeasureError, Measurer, Options, PLACEHOLDER, of_unusable};
pub use oz0_mcp::EraChoice;
pub use report::{Change, Measurement, Remote, Server, changes};
