//! The life of a version, as a table and against what it must never do.

use oz0_api::plugin::VersionState::{self, Installed, Removed, Replaced};
use oz0_edge::version::{Act, step};
use proptest::prelude::*;

#[test]
fn the_table_of_transitions_holds() {
    let cases = [
        (None, Act::Install, Some(Installed)),
        (None, Act::Replace, None),
        (None, Act::Remove, None),
        (Some(Installed), Act::Install, Some(Installed)),
        (Some(Installed), Act::Replace, Some(Replaced)),
        (Some(Installed), Act::Remove, Some(Removed)),
        (Some(Replaced), Act::Install, Some(Installed)),
        (Some(Replaced), Act::Replace, Some(Replaced)),
        (Some(Replaced), Act::Remove, Some(Replaced)),
        (Some(Removed), Act::Install, Some(Installed)),
        (Some(Removed), Act::Replace, Some(Removed)),
        (Some(Removed), Act::Remove, Some(Removed)),
    ];
    for (state, act, expected) in cases {
        assert_eq!(step(state, act), expected, "{state:?} {act:?}");
    }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![Just(Act::Install), Just(Act::Replace), Just(Act::Remove)]
}

proptest! {
    #[test]
    fn a_version_that_was_known_stays_known_and_only_an_install_installs(
        acts in prop::collection::vec(act(), 0..20)
    ) {
        let mut state: Option<VersionState> = None;
        for act in acts {
            let next = step(state, act);
            prop_assert!(state.is_none() || next.is_some());
            if next == Some(Installed) && state != Some(Installed) {
                prop_assert_eq!(act, Act::Install);
            }
            state = next;
        }
    }
}
