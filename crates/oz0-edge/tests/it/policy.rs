//! The tenant's policy: an order that nobody has to think of, told to nodes at once, and written down.

use std::time::{Duration, Instant};

use oz0_api::node::{Poll, PollQuery};
use oz0_api::policy::{Action, Before, Rule, RuleSet, SetRule, TenantPolicy};
use oz0_api::{Client, Code};
use serde_json::{Value, json};

use crate::house::{House, refused};

fn rule(matches: &str, action: Action) -> SetRule {
    let rule = Rule {
        matches: matches.parse().unwrap(),
        action,
        reason: None,
        when: std::collections::BTreeMap::new(),
    };
    SetRule { rule, before: None }
}

fn when(matches: &str, action: Action, pointer: &str, schema: Value) -> SetRule {
    let mut set = rule(matches, action);
    set.rule.when.insert(pointer.parse().unwrap(), schema);
    set
}

async fn set(house: &House, rule: SetRule) -> RuleSet {
    house.admin.set_rule(&rule).await.unwrap()
}

fn lines(policy: &TenantPolicy) -> Vec<String> {
    policy
        .rules
        .iter()
        .map(|rule| {
            let condition = if rule.rule.when.is_empty() { "" } else { " when" };
            format!("{} {}{condition}", rule.rule.matches, rule.rule.action.as_str())
        })
        .collect()
}

#[tokio::test]
async fn a_new_rule_stands_before_what_would_take_every_call_from_it() {
    let house = House::new().await;
    set(&house, rule("*", Action::Ask)).await;
    set(&house, rule("team.*", Action::Allow)).await;
    set(&house, rule("notes.save", Action::Refuse)).await;
    let last = set(&house, rule("team.hello", Action::Refuse)).await;
    assert_eq!((last.place, last.replaced), (1, false));
    let some = set(&house, when("team.*", Action::Ask, "/x", json!({"const": 1}))).await;
    assert_eq!(some.place, 2);
    assert_eq!(some.after, std::slice::from_ref(&last.rule.id));
    assert_eq!(
        lines(&house.local.policy().await.unwrap()),
        ["team.hello refuse", "team.* ask when", "team.* allow", "notes.save refuse", "* ask"]
    );

    // Setting the same again changes it where it stands, and moves it where somebody says so.
    let again = set(&house, rule("team.*", Action::Refuse)).await;
    assert!(again.replaced && again.place == 3);
    let first = SetRule { before: Some(Before::First), ..rule("*", Action::Refuse) };
    assert_eq!(set(&house, first).await.place, 1);
    let before = Before::Rule(again.rule.id.clone());
    let placed = SetRule { before: Some(before), ..rule("wx.today", Action::Allow) };
    assert_eq!(set(&house, placed).await.place, 4);
    assert_eq!(
        lines(&house.local.policy().await.unwrap()),
        [
            "* refuse",
            "team.hello refuse",
            "team.* ask when",
            "wx.today allow",
            "team.* refuse",
            "notes.save refuse"
        ]
    );
    let unset = house.admin.unset_rule(&again.rule.id).await.unwrap();
    assert_eq!(unset.rule.action, Action::Refuse);
    assert_eq!(refused(house.admin.unset_rule(&again.rule.id).await), Code::NotFound);
    let nowhere =
        SetRule { before: Some(Before::Rule(again.rule.id)), ..rule("x.y", Action::Allow) };
    assert_eq!(refused(house.admin.set_rule(&nowhere).await), Code::NotFound);
    assert_eq!(house.local.policy().await.unwrap().rules.len(), 5);
}

#[tokio::test]
async fn only_a_person_sets_rules_and_each_act_is_written_down() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let allow = rule("*", Action::Allow);
    assert_eq!(refused(house.local.set_rule(&allow).await), Code::Forbidden);
    assert_eq!(refused(node.set_rule(&allow).await), Code::Forbidden);
    let mut said = when("team.*", Action::Refuse, "/to", json!({"pattern": "@example"}));
    said.rule.reason = Some("not outside".to_owned());
    let set = set(&house, said).await;
    assert_eq!(refused(house.local.unset_rule(&set.rule.id).await), Code::Forbidden);
    house.admin.unset_rule(&set.rule.id).await.unwrap();
    let log = house.log().await;
    for action in ["policy.set", "policy.unset"] {
        let entry = log.iter().find(|entry| entry.action == action).unwrap();
        assert_eq!(entry.actor, "token:admin");
        let detail = &entry.subject.detail;
        assert_eq!(detail["rule"], set.rule.id.to_string());
        assert_eq!(detail["match"], "team.*");
        assert_eq!(detail["action"], "refuse");
        assert_eq!(detail["reason"], "not outside");
        assert_eq!(detail["when"], r#"{"/to":{"pattern":"@example"}}"#);
    }
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_rule_that_nobody_could_apply_is_not_set() {
    let house = House::new().await;
    for schema in [json!({"type": "nothing"}), json!({"$ref": "https://example.com/x"})] {
        let error = house.admin.set_rule(&when("*", Action::Allow, "/x", schema)).await;
        let error = error.unwrap_err();
        assert_eq!(error.code(), Some(Code::Malformed));
        assert!(error.to_string().starts_with("the rule cannot be set: "), "{error}");
    }
    let long = json!({"const": "x".repeat(70_000)});
    let long = house.admin.set_rule(&when("*", Action::Allow, "/x", long)).await;
    assert_eq!(refused(long), Code::Malformed);
    assert!("team".parse::<oz0_api::PolicyMatch>().is_err());
    assert!("te am.*".parse::<oz0_api::PolicyMatch>().is_err());
    assert!(house.local.policy().await.unwrap().rules.is_empty());
}

fn after(poll: &Poll, known: &PollQuery) -> PollQuery {
    PollQuery {
        edge: Some(poll.edge.clone()),
        plugins: poll.plugins.revision,
        decisions: poll.decisions.revision,
        policy: poll.policy.as_ref().map_or(known.policy, |policy| policy.revision),
        wait: Some(20),
        ..PollQuery::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_node_hears_of_each_change_at_once_and_of_nothing_else() {
    let house = House::new().await;
    let node: Client = house.node("node-1").await;
    let first = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    assert!(first.policy.as_ref().unwrap().rules.is_empty(), "said also where there is none");
    let mut known = after(&first, &PollQuery::default());
    for round in 0..5 {
        let waiting = tokio::spawn({
            let (node, known) = (node.clone(), known.clone());
            async move { (node.poll(&known).await.unwrap(), Instant::now()) }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        let one = set(&house, rule(&format!("team.f{round}"), Action::Refuse)).await;
        let committed = Instant::now();
        let (poll, heard) = waiting.await.unwrap();
        assert!(heard.saturating_duration_since(committed) < Duration::from_millis(200));
        let policy = poll.policy.as_ref().unwrap();
        assert_eq!(policy.rules.len(), round + 1);
        assert!(policy.rules.contains(&one.rule));
        known = after(&poll, &known);
    }
    let quiet = node.poll(&PollQuery { wait: Some(0), ..known.clone() }).await.unwrap();
    assert!(quiet.policy.is_none() && !quiet.reset);

    // Taking the last rule away is a change like another.
    for rule in house.local.policy().await.unwrap().rules {
        house.admin.unset_rule(&rule.id).await.unwrap();
    }
    let poll = node.poll(&known).await.unwrap();
    assert!(poll.policy.unwrap().rules.is_empty());

    // A node that comes from another history is told everything.
    let elsewhere = PollQuery {
        edge: Some("0123456789abcdef0123456789abcdef".parse().unwrap()),
        ..known.clone()
    };
    let poll = node.poll(&elsewhere).await.unwrap();
    assert!(poll.reset && poll.policy.is_some());
}

#[tokio::test]
async fn rules_outlive_the_edge() {
    let house = House::new().await;
    let one = set(&house, when("team.*", Action::Ask, "/a~1b", json!({"enum": [1.5, "x"]}))).await;
    set(&house, rule("*", Action::Judge)).await;
    let house = house.restart().await;
    let policy = house.local.policy().await.unwrap();
    assert_eq!(lines(&policy), ["team.* ask when", "* judge"]);
    assert_eq!(policy.rules[0], one.rule);
}
