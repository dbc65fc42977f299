//! The life of a plugin's versions: every state with every act, and every life with every event.

use std::fmt::Write as _;

use oz0_api::plugin::VersionState::{self, Candidate, Installed, Removed, Replaced, Withdrawn};
use oz0_api::{PluginName, PluginVersion};
use oz0_edge::version::{Act, Event, Life, No, decide, step};
use proptest::prelude::*;

/// What becomes of a version in a state, act by act in the order of [`Act::ALL`].
const TABLE: [(Option<VersionState>, [Option<VersionState>; 7]); 6] = [
    // Install, Offer, Promote, Replace, Withdraw, Restore, Remove
    (None, [Some(Installed), Some(Candidate), None, None, None, None, None]),
    (
        Some(Candidate),
        [None, Some(Candidate), Some(Installed), None, Some(Withdrawn), None, Some(Removed)],
    ),
    (
        Some(Installed),
        [Some(Installed), None, None, Some(Replaced), Some(Withdrawn), None, Some(Removed)],
    ),
    (
        Some(Replaced),
        [Some(Installed), Some(Candidate), None, None, None, Some(Installed), Some(Removed)],
    ),
    (Some(Withdrawn), [Some(Installed), Some(Candidate), None, None, None, None, Some(Withdrawn)]),
    (Some(Removed), [Some(Installed), Some(Candidate), None, None, None, None, Some(Removed)]),
];

#[test]
fn the_table_of_states_and_acts_holds() {
    assert_eq!(TABLE.len(), VersionState::ALL.len() + 1, "every state stands there, and none");
    for (state, row) in TABLE {
        for (act, expected) in Act::ALL.into_iter().zip(row) {
            assert_eq!(step(state, act), expected, "{state:?} {act:?}");
        }
    }
}

fn version(text: &str) -> PluginVersion {
    text.parse().unwrap()
}

fn life(versions: &[(&str, VersionState)], before: Option<&str>) -> Life {
    Life {
        versions: versions.iter().map(|(v, state)| (version(v), *state)).collect(),
        before: before.map(version),
    }
}

/// What is decided, in a line: `1.0.0 Replace, 2.0.0 Install`, or why nothing is.
fn decided(life: &Life, event: Event<'_>) -> String {
    match decide(life, event) {
        Ok(acts) => acts
            .iter()
            .map(|(version, act)| format!("{version} {act:?}"))
            .collect::<Vec<_>>()
            .join(", "),
        Err(no) => format!("no: {no:?}"),
    }
}

#[test]
fn the_table_of_lives_and_events_holds() {
    let (one, two, three) = (version("1.0.0"), version("2.0.0"), version("3.0.0"));
    let lives = [
        ("nothing", life(&[], None)),
        ("installed", life(&[("2.0.0", Installed)], None)),
        ("updated", life(&[("1.0.0", Replaced), ("2.0.0", Installed)], Some("1.0.0"))),
        ("candidate", life(&[("1.0.0", Installed), ("2.0.0", Candidate)], None)),
        ("withdrawn", life(&[("1.0.0", Installed), ("2.0.0", Withdrawn)], None)),
        ("removed", life(&[("1.0.0", Removed), ("2.0.0", Removed)], None)),
    ];
    let install = |version, downgrade| Event::Install { version, downgrade };
    let offer = |version, downgrade| Event::Offer { version, downgrade };
    let events = [
        ("install 1", install(&one, false)),
        ("install 1 knowingly", install(&one, true)),
        ("install 2", install(&two, false)),
        ("install 3", install(&three, false)),
        ("offer 1", offer(&one, false)),
        ("offer 1 knowingly", offer(&one, true)),
        ("offer 2", offer(&two, false)),
        ("offer 3", offer(&three, false)),
        ("promote 2", Event::Promote { version: &two }),
        ("promote 3", Event::Promote { version: &three }),
        ("roll 2 back", Event::Rollback { version: &two }),
        ("roll 3 back", Event::Rollback { version: &three }),
        ("remove", Event::Remove),
    ];
    let mut table = String::new();
    for (name, life) in &lives {
        for (event_name, event) in events {
            let decided = decided(life, event);
            let _ = writeln!(table, "{name:<10} {event_name:<20} {decided}");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_no_says_the_plugin_and_the_command_that_mends_it() {
    let plugin: PluginName = "team".parse().unwrap();
    let two = version("2.0.0");
    let event = Event::Offer { version: &two, downgrade: false };
    for no in [
        No::NotInstalled,
        No::CandidateThere(version("1.5.0")),
        No::IsCandidate,
        No::IsInstalled,
        No::Downgrade(version("3.0.0")),
        No::NoCandidate(version("1.0.0")),
        No::Another(version("3.0.0")),
        No::NothingBefore,
    ] {
        let problem = no.clone().problem(&plugin, event);
        assert!(problem.message.contains("team"), "{no:?}: {problem}");
        assert!(problem.hint.is_some_and(|hint| hint.contains("oz0 plugin ")), "{no:?}");
    }
}

fn any_event() -> impl Strategy<Value = (u8, u8, bool)> {
    (0..5_u8, 0..4_u8, any::<bool>())
}

proptest! {
    /// Whatever is asked in whatever order: at most one version is installed, at most one is a candidate and none alone, and
    /// what is known stays known.
    #[test]
    fn a_plugin_has_one_installed_version_and_one_candidate_beside_it(
        events in prop::collection::vec(any_event(), 0..40)
    ) {
        let versions = ["0.9.0", "1.0.0", "1.0.1-rc.1", "2.0.0"].map(version);
        let mut life = Life::default();
        let mut replaced: Vec<PluginVersion> = Vec::new();
        for (kind, at, downgrade) in events {
            let version = &versions[usize::from(at)];
            let event = match kind {
                0 => Event::Install { version, downgrade },
                1 => Event::Offer { version, downgrade },
                2 => Event::Promote { version },
                3 => Event::Rollback { version },
                _ => Event::Remove,
            };
            let Ok(acts) = decide(&life, event) else { continue };
            for (version, act) in &acts {
                replaced.retain(|one| one != version);
                if *act == Act::Replace {
                    replaced.push(version.clone());
                }
            }
            let known = life.versions.len();
            let after = life.after(&acts, replaced.last().cloned());
            prop_assert!(after.is_some(), "{life:?} {acts:?}");
            life = after.unwrap();
            let count = |wanted| life.versions.values().filter(|state| **state == wanted).count();
            prop_assert!(count(Installed) <= 1 && count(Candidate) <= count(Installed), "{life:?}");
            prop_assert!(life.versions.len() >= known);
            prop_assert_eq!(life.installed().is_none(), kind == 4 || life.versions.values()
                .all(|state| matches!(state, Removed | Withdrawn)));
        }
    }
}
