use oz0_policy::{
    Action, Approval, Coverage, Decision, Function, FunctionType, Reason, Rule, Verdict, coverage,
    decide, outcomes,
};
use proptest::prelude::*;

fn rule(matches: &str, action: Action) -> Rule<u8> {
    Rule { matches: matches.parse().unwrap(), action, condition: None }
}

fn when(matches: &str, action: Action, condition: u8) -> Rule<u8> {
    Rule { condition: Some(condition), ..rule(matches, action) }
}

const SAVE: Function<'_> = Function {
    tool: "notes",
    name: "save",
    kind: FunctionType::Write,
    requires_approval: false,
    approval: Approval::Never,
};

fn verdict(function: &Function<'_>, tenant: &[Rule<u8>], suggested: &[Rule<u8>]) -> Decision {
    decide(function, tenant, suggested, |condition| *condition == 1)
}

#[test]
fn without_a_rule_the_type_decides() {
    for (kind, wanted) in [
        (FunctionType::Read, Verdict::Allow),
        (FunctionType::Write, Verdict::Allow),
        (FunctionType::SendsOut, Verdict::Allow),
        (FunctionType::Unknown, Verdict::Ask),
        (FunctionType::Destructive, Verdict::Ask),
    ] {
        let found = verdict(&Function { kind, ..SAVE }, &[], &[]);
        assert_eq!(found, Decision { verdict: wanted, reason: Reason::Type(kind) });
    }
}

#[test]
fn the_order_is_tenant_then_suggestion_then_the_tools_approval_then_the_type() {
    let tool = Function { approval: Approval::Always, ..SAVE };
    let (allow, ask) = ([rule("notes.save", Action::Allow)], [rule("notes.*", Action::Ask)]);
    assert_eq!(verdict(&tool, &allow, &ask).reason, Reason::Tenant(0));
    assert_eq!(verdict(&tool, &[], &allow).reason, Reason::Suggestion(0));
    assert_eq!(verdict(&tool, &[], &allow).verdict, Verdict::Allow);
    assert_eq!(verdict(&tool, &[], &[]).reason, Reason::Approval);
    assert_eq!(verdict(&SAVE, &[], &[]).reason, Reason::Type(FunctionType::Write));
}

#[test]
fn a_tools_approval_of_writes_asks_about_all_but_reads() {
    for kind in FunctionType::ALL {
        let function = Function { kind, approval: Approval::Writes, ..SAVE };
        let asks = verdict(&function, &[], &[]).verdict == Verdict::Ask;
        assert_eq!(asks, kind != FunctionType::Read, "{kind:?}");
    }
}

#[test]
fn requires_approval_raises_allow_to_ask_and_lowers_nothing() {
    let required = Function { requires_approval: true, ..SAVE };
    for (tenant, suggested, wanted, reason) in [
        (Action::Allow, None, Verdict::Ask, Reason::RequiresApproval),
        (Action::Ask, None, Verdict::Ask, Reason::Tenant(0)),
        (Action::Refuse, None, Verdict::Refuse, Reason::Tenant(0)),
        (Action::Allow, Some(Action::Refuse), Verdict::Ask, Reason::RequiresApproval),
    ] {
        let suggested: Vec<_> = suggested.map(|action| rule("*", action)).into_iter().collect();
        let found = verdict(&required, &[rule("*", tenant)], &suggested);
        assert_eq!(found, Decision { verdict: wanted, reason }, "{tenant:?}");
    }
}

#[test]
fn a_judge_runs_as_ask() {
    assert_eq!(verdict(&SAVE, &[], &[rule("*", Action::Judge)]).verdict, Verdict::Ask);
}

#[test]
fn the_first_rule_that_matches_and_holds_wins() {
    let rules = [
        rule("notes.read", Action::Refuse),
        rule("mail.*", Action::Refuse),
        when("notes.save", Action::Refuse, 0),
        when("notes.*", Action::Allow, 1),
        rule("*", Action::Refuse),
    ];
    assert_eq!(verdict(&SAVE, &rules, &[]).reason, Reason::Tenant(3));
}

#[test]
fn a_match_splits_at_the_first_dot() {
    let rules = [rule("notes.a.b", Action::Refuse)];
    assert_eq!(verdict(&Function { name: "a.b", ..SAVE }, &rules, &[]).verdict, Verdict::Refuse);
    assert_eq!(verdict(&SAVE, &rules, &[]).verdict, Verdict::Allow);
    assert!("notes".parse::<oz0_policy::Match>().is_err());
    assert!(".x".parse::<oz0_policy::Match>().is_err());
}

#[test]
fn coverage_is_by_the_first_rule_and_never_by_one_with_a_condition() {
    let asks = |action| matches!(action, Action::Ask | Action::Refuse);
    let of = |rules: &[Rule<u8>]| coverage("notes", "save", rules, asks);
    let (ask, allow) = (rule("notes.save", Action::Ask), rule("notes.*", Action::Allow));
    assert_eq!(of(&[]), Coverage::Uncovered);
    assert_eq!(of(&[rule("mail.*", Action::Ask)]), Coverage::Uncovered);
    assert_eq!(of(std::slice::from_ref(&ask)), Coverage::Covered(0));
    assert_eq!(of(&[rule("*", Action::Refuse)]), Coverage::Covered(0));
    assert_eq!(of(&[when("*", Action::Ask, 1)]), Coverage::Sometimes(0));
    assert_eq!(of(&[when("*", Action::Ask, 1), ask.clone()]), Coverage::Covered(1));
    assert_eq!(of(&[allow.clone(), ask.clone()]), Coverage::Undone { rule: 1, by: 0 });
    assert_eq!(of(&[ask.clone(), allow]), Coverage::Covered(0));
    assert_eq!(
        of(&[when("*", Action::Allow, 1), ask.clone()]),
        Coverage::Undone { rule: 1, by: 0 }
    );
    // A judge that comes first decides, and does not count here.
    assert_eq!(of(&[rule("*", Action::Judge), ask]), Coverage::Undone { rule: 1, by: 0 });
}

fn any_rules() -> impl Strategy<Value = Vec<Rule<u8>>> {
    let action = prop_oneof![
        Just(Action::Allow),
        Just(Action::Ask),
        Just(Action::Refuse),
        Just(Action::Judge)
    ];
    let matches = prop_oneof![Just("*"), Just("notes.*"), Just("notes.save"), Just("mail.send")];
    let one = (matches, action, proptest::option::of(0..4_u8))
        .prop_map(|(matches, action, condition)| Rule { condition, ..rule(matches, action) });
    proptest::collection::vec(one, 0..6)
}

fn any_function() -> impl Strategy<Value = Function<'static>> {
    let kind = proptest::sample::select(FunctionType::ALL.to_vec());
    let approval =
        prop_oneof![Just(Approval::Never), Just(Approval::Writes), Just(Approval::Always)];
    (kind, approval, any::<bool>()).prop_map(|(kind, approval, requires_approval)| Function {
        kind,
        approval,
        requires_approval,
        ..SAVE
    })
}

proptest! {
    /// Each condition may hold and may not, so what [`outcomes`] says is what some arguments lead to.
    #[test]
    fn what_could_happen_is_what_happens_for_some_arguments(
        function in any_function(), tenant in any_rules(), suggested in any_rules(),
    ) {
        let mut seen = oz0_policy::Outcomes::default();
        // Which of the four conditions hold: a bit each.
        for holding in 0..16_u8 {
            let holds = |condition: &u8| holding & (1 << condition) != 0;
            match decide(&function, &tenant, &suggested, holds).verdict {
                Verdict::Allow => seen.allow = true,
                Verdict::Ask => seen.ask = true,
                Verdict::Refuse => seen.refuse = true,
            }
        }
        let said = outcomes(&function, &tenant, &suggested);
        // Two rules of one condition hold together, which only decide() knows: outcomes() may say more, never less.
        prop_assert!(!seen.allow || said.allow);
        prop_assert!(!seen.ask || said.ask);
        prop_assert!(!seen.refuse || said.refuse);
    }

    #[test]
    fn a_tenants_refusal_that_comes_first_always_wins(
        function in any_function(), mut tenant in any_rules(), suggested in any_rules(),
    ) {
        tenant.insert(0, rule("notes.save", Action::Refuse));
        let found = decide(&function, &tenant, &suggested, |_| true);
        prop_assert_eq!(found, Decision { verdict: Verdict::Refuse, reason: Reason::Tenant(0) });
    }

    #[test]
    fn nothing_under_requires_approval_runs_unasked(
        function in any_function(), tenant in any_rules(), suggested in any_rules(),
    ) {
        let function = Function { requires_approval: true, ..function };
        prop_assert!(!outcomes(&function, &tenant, &suggested).allow);
    }
}
