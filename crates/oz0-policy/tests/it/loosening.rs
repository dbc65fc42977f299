use oz0_policy::{Action, Approval, Function, Hints, Rule, Said, Verdict, decide, loosens};
use proptest::prelude::*;

const ALLOW: Rule<u8> = rule(Action::Allow, None);
const ASK: Rule<u8> = rule(Action::Ask, None);
const REFUSE: Rule<u8> = rule(Action::Refuse, None);

const fn rule(action: Action, condition: Option<u8>) -> Rule<u8> {
    Rule { matches: oz0_policy::Match::All, action, condition }
}

fn said(rules: &[Rule<u8>]) -> Said<'_, u8> {
    Said { rules, approval: Approval::Never, requires_approval: false, hints: Hints::default() }
}

fn looser(before: &Said<'_, u8>, after: &Said<'_, u8>) -> bool {
    loosens("notes", "save", before, after)
}

#[test]
fn less_asking_is_looser_and_more_is_not() {
    let none = said(&[]);
    for (before, after) in [
        (said(&[ASK]), none),
        (said(&[REFUSE]), said(&[ASK])),
        (none, said(&[ALLOW])),
        (Said { approval: Approval::Always, ..none }, Said { approval: Approval::Writes, ..none }),
        (Said { approval: Approval::Writes, ..none }, none),
        (Said { requires_approval: true, ..said(&[ASK]) }, said(&[ASK])),
        (
            said(&[rule(Action::Refuse, Some(1)), ALLOW]),
            said(&[rule(Action::Refuse, Some(2)), ALLOW]),
        ),
        (
            said(&[rule(Action::Refuse, Some(1)), ALLOW]),
            said(&[ALLOW, rule(Action::Refuse, Some(1))]),
        ),
    ] {
        assert!(looser(&before, &after), "{before:?} -> {after:?}");
        assert!(!looser(&before, &before));
        assert!(!looser(&after, &after));
    }
    assert!(!looser(&none, &said(&[rule(Action::Ask, Some(1))])));
    assert!(!looser(&said(&[ASK]), &said(&[rule(Action::Refuse, Some(1)), ASK])));
    // What is listed is not known, and a hint that says less of a write says less of it whatever is listed.
    let read = Said { hints: Hints { read_only: Some(true), ..Hints::default() }, ..none };
    assert!(looser(&none, &read));
    let destroys = Said { hints: Hints { destructive: Some(true), ..Hints::default() }, ..none };
    assert!(!looser(&none, &destroys));
}

#[test]
fn more_conditions_than_are_told_apart_are_never_taken_for_stricter() {
    let many: Vec<Rule<u8>> = (0..20).map(|n| rule(Action::Ask, Some(n))).collect();
    let mut more = many.clone();
    more.insert(0, REFUSE);
    assert!(!looser(&said(&many), &said(&many)));
    assert!(looser(&said(&many), &said(&more)));
}

fn rules() -> impl Strategy<Value = Vec<Rule<u8>>> {
    let action = prop::sample::select(vec![Action::Allow, Action::Ask, Action::Refuse]);
    prop::collection::vec((action, prop::option::of(0_u8..3)), 0..4)
        .prop_map(|rules| rules.into_iter().map(|(action, when)| rule(action, when)).collect())
}

fn approval() -> impl Strategy<Value = Approval> {
    prop::sample::select(vec![Approval::Never, Approval::Writes, Approval::Always])
}

proptest! {
    /// Whatever is listed and whatever holds: where nothing is looser, no call is.
    #[test]
    fn no_call_goes_further_than_before(
        before in rules(), after in rules(), approvals in (approval(), approval()),
        requires in any::<(bool, bool)>(), world in 0_u8..8, tenant in rules(),
    ) {
        let was = Said { approval: approvals.0, requires_approval: requires.0, ..said(&before) };
        let is = Said { approval: approvals.1, requires_approval: requires.1, ..said(&after) };
        prop_assume!(!looser(&was, &is));
        for listed in Hints::every() {
            let verdict = |said: &Said<'_, u8>| {
                let function = Function {
                    tool: "notes", name: "save", kind: listed.function_type(),
                    requires_approval: said.requires_approval, approval: said.approval,
                };
                let holds = |condition: &u8| world >> condition & 1 == 1;
                match decide(&function, &tenant, said.rules, holds).verdict {
                    Verdict::Allow => 0, Verdict::Ask => 1, Verdict::Refuse => 2,
                }
            };
            prop_assert!(verdict(&is) >= verdict(&was), "{listed:?}");
        }
    }
}
