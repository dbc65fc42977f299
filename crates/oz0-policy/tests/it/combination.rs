use oz0_policy::{Part, combine};

const NOTHING: Part<&str> =
    Part { what: "", private: false, outside: false, sends: false, unasked: false };

#[test]
fn it_is_open_only_when_all_three_come_together_and_something_runs_unasked() {
    for bits in 0..16_u8 {
        let parts = [
            Part { what: "read", private: bits & 1 != 0, ..NOTHING },
            Part { what: "search", outside: bits & 2 != 0, ..NOTHING },
            Part { what: "send", sends: bits & 4 != 0, unasked: bits & 8 != 0, ..NOTHING },
        ];
        assert_eq!(combine(parts).is_open(), bits == 15, "{bits:04b}");
    }
}

#[test]
fn one_function_can_bring_all_three() {
    let all = Part { what: "post", private: true, outside: true, sends: true, unasked: true };
    let combination = combine([all]);
    assert!(combination.is_open());
    assert_eq!(combination.unasked, ["post"]);
}

#[test]
fn a_part_that_asks_is_listed_as_sending_and_not_as_unasked() {
    let asks = Part { what: "send", sends: true, ..NOTHING };
    let combination = combine([asks]);
    assert_eq!((combination.sending, combination.unasked), (vec!["send"], vec![]));
}
