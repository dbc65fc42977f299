use oz0_policy::{FunctionType, Hints};

fn hints(read_only: Option<bool>, destructive: Option<bool>, open_world: Option<bool>) -> Hints {
    Hints { read_only, destructive, open_world }
}

#[test]
fn each_set_of_hints_has_the_type_that_the_table_says() {
    use FunctionType::{Destructive, Read, SendsOut, Unknown, Write};
    let (yes, no) = (Some(true), Some(false));
    for (read_only, destructive, open_world, wanted) in [
        (None, None, None, Unknown),
        (None, None, no, Unknown),
        (yes, None, None, Read),
        (yes, no, yes, Read),
        (no, None, None, SendsOut),
        (no, no, yes, SendsOut),
        (None, no, None, SendsOut),
        (no, None, no, Write),
        (None, no, no, Write),
        (no, yes, no, Destructive),
        (None, yes, None, Destructive),
        // It says both: the worse one is believed.
        (yes, yes, None, Destructive),
    ] {
        let hints = hints(read_only, destructive, open_world);
        assert_eq!(hints.function_type(), wanted, "{hints:?}");
    }
}

#[test]
fn an_override_replaces_the_hints_that_it_says_and_no_other() {
    let listed = hints(Some(true), None, Some(true));
    let over = hints(None, Some(true), Some(false));
    assert_eq!(listed.merged(over), hints(Some(true), Some(true), Some(false)));
    assert_eq!(listed.merged(Hints::default()), listed);
}

#[test]
fn the_types_are_ordered_by_strictness_and_all_but_read_send() {
    assert!(FunctionType::ALL.is_sorted());
    let sending: Vec<_> = FunctionType::ALL.into_iter().filter(|kind| kind.sends()).collect();
    assert_eq!(sending, FunctionType::ALL[1..]);
}
