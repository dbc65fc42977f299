//! What the policy adds to a call.
//!
//! A call's arguments are read strictly and held against a schema in any case; what comes on top is the decision. It is
//! measured over what tenants have: no rule at all, a hundred rules about other functions with the one that matters last,
//! and eight rules with conditions that all have to be looked at. Beside it stands what reading the same arguments costs,
//! which no call is spared.
//!
//! The goal: at most 5 µs a call, for each. The table shows the median of the rounds; the process fails if a goal is missed
//! and `--check` is given.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use oz0_api::policy::TenantRule;
use oz0_listing::FunctionId;
use oz0_node::policy::{PluginPolicy, Rules, Ruling, rule};
use oz0_policy::FunctionType;
use serde_json::{Value, json};

const ROUNDS: usize = 101;
const CALLS: u32 = 1000;
const GOAL: Duration = Duration::from_micros(5);
const ARGUMENTS: &str =
    r#"{"project":"OPS","fields":{"summary":"The build is red","labels":["ci","urgent"],"n":3}}"#;

fn rules(rules: impl IntoIterator<Item = Value>) -> Rules {
    let rules: Vec<TenantRule> = rules
        .into_iter()
        .enumerate()
        .map(|(number, mut rule)| {
            rule["id"] = json!(format!("{number:016x}"));
            rule["set_at"] = json!(0);
            rule["set_by"] = json!("token:admin");
            serde_json::from_value(rule).expect("it is a rule")
        })
        .collect();
    Rules::of_tenant(&rules)
}

fn median(mut once: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            for _ in 0..CALLS {
                once();
            }
            began.elapsed() / CALLS
        })
        .collect();
    took.sort_unstable();
    took[ROUNDS / 2]
}

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let id: FunctionId = "jira.create_issue".parse().expect("it is an ID");
    let arguments: Value = serde_json::from_str(ARGUMENTS).expect("it is JSON");
    let others = (0..100).map(|n| json!({"match": format!("tool{n}.*"), "action": "refuse"}));
    let last = json!({"match": "jira.create_issue", "action": "allow"});
    let conditions = (0..8).map(|n| {
        json!({"match": "jira.*", "action": "refuse",
            "when": {"/project": {"enum": [format!("P{n}")]}, "/fields/summary": {"pattern": "^(secret|private) "}}})
    });
    let cases = [
        ("no rule", rules([])),
        ("100 rules, the last matches", rules(others.chain([last.clone()]))),
        ("8 conditions that do not hold", rules(conditions.chain([last]))),
    ];
    let read = median(|| {
        let value: Value = serde_json::from_str(black_box(ARGUMENTS)).expect("it is JSON");
        black_box(value);
    });
    println!("{:<32} {:>10}", "", "median");
    println!("{:<32} {:>7} ns", "reading the arguments", read.as_nanos());
    let plugin = PluginPolicy::default();
    let mut met = true;
    for (name, tenant) in &cases {
        let took = median(|| {
            let ruling = rule(&id, FunctionType::Write, &plugin, tenant, black_box(&arguments));
            assert!(black_box(ruling) == Ruling::Allow);
        });
        met &= took <= GOAL;
        println!("{name:<32} {:>7} ns", took.as_nanos());
    }
    if check && !met { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
