//! `oz0 policy`: the tenant's rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use oz0_api::policy::{Action, Before, Rule, RuleSet, SetRule, TenantPolicy, TenantRule};
use oz0_api::{Client, RuleId};
use oz0_listing::escape;
use serde_json::json;

use crate::cli::{self, Place, Policy};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::moment;
use crate::output::Output;

pub(crate) fn run(command: &Policy, settings: &Settings, output: Output) -> Result<Exit> {
    match command {
        Policy::List { json: as_json } => edge::ask(settings, async |client| {
            let policy = client.policy().await?;
            if *as_json {
                output.json(&json!(policy))?;
            } else if policy.rules.is_empty() {
                output.say(
                    "no rules: a plugin's own policy decides, and without one a person is asked about each call that may \
                     delete, overwrite, or says nothing of itself",
                );
            } else {
                output.data(&table(&policy))?;
            }
            Ok(Exit::Done)
        }),
        Policy::Set(arguments) => {
            let set = wanted(arguments)?;
            edge::ask(settings, async |client| {
                let set = client.set_rule(&set).await?;
                output.say(&told(&set));
                Ok(Exit::Done)
            })
        }
        Policy::Unset { id } => edge::ask(settings, async |client| {
            let id = whole(&client, id).await?;
            let TenantRule { rule, .. } = client.unset_rule(&id).await?;
            output.say(&format!(
                "the rule {id} is gone: {} {}",
                rule.matches,
                rule.action.as_str()
            ));
            Ok(Exit::Done)
        }),
    }
}

fn wanted(arguments: &cli::SetPolicy) -> Result<SetRule> {
    let when = match &arguments.when {
        None => BTreeMap::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            WrongUsage(format!(
                "--when is no JSON object of JSON pointers and JSON Schemas: {}",
                escape::line_within(&error.to_string(), 200)
            ))
        })?,
    };
    let action = match arguments.action {
        cli::Action::Allow => Action::Allow,
        cli::Action::Ask => Action::Ask,
        cli::Action::Refuse => Action::Refuse,
        cli::Action::Judge => Action::Judge,
    };
    let rule =
        Rule { matches: arguments.matches.clone(), action, reason: arguments.reason.clone(), when };
    let before = arguments.before.as_ref().map(|place| match place {
        Place::First => Before::First,
        Place::Rule(id) => Before::Rule(id.clone()),
    });
    Ok(SetRule { rule, before })
}

fn told(set: &RuleSet) -> String {
    let TenantRule { id, rule, .. } = &set.rule;
    let how = if set.replaced { "changed" } else { "set" };
    let mut text = format!(
        "rule {id} is {how}, in place {}: {} {}",
        set.place,
        rule.matches,
        rule.action.as_str()
    );
    if !set.after.is_empty() {
        let before: Vec<&str> = set.after.iter().map(RuleId::as_str).collect();
        let _ = write!(
            text,
            "\nrules before it decide some of these calls first: {}; --before moves it",
            before.join(", ")
        );
    }
    text
}

/// The rule whose ID begins so.
async fn whole(client: &Client, id: &str) -> Result<RuleId> {
    if let Ok(id) = id.parse() {
        return Ok(id);
    }
    let rules = client.policy().await?.rules;
    let begun: Vec<RuleId> = rules
        .into_iter()
        .map(|rule| rule.id)
        .filter(|rule| !id.is_empty() && rule.as_str().starts_with(id))
        .collect();
    let given = escape::line_within(id, 80);
    match &begun[..] {
        [one] => Ok(one.clone()),
        [] => Err(Refused::new(format!("no rule's ID begins with {given}"))
            .hint("`oz0 policy list` shows the rules")
            .into()),
        _ => {
            Err(WrongUsage(format!("several rules' IDs begin with {given}: give more of it"))
                .into())
        }
    }
}

/// One line a rule, and what belongs to it below.
fn table(policy: &TenantPolicy) -> String {
    let width = policy.rules.iter().map(|rule| rule.rule.matches.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    for TenantRule { id, rule, set_at, set_by } in &policy.rules {
        let _ = writeln!(
            text,
            "{id}  {:<width$}  {:<6}  {} by {}",
            rule.matches.as_str(),
            rule.action.as_str(),
            moment::shown(*set_at),
            escape::line(set_by)
        );
        for (pointer, schema) in &rule.when {
            let place = pointer.to_string();
            let place = if place.is_empty() { "the arguments" } else { &place };
            let _ = writeln!(
                text,
                "  when {}: {}",
                escape::line(place),
                escape::line(&schema.to_string())
            );
        }
        if let Some(reason) = &rule.reason {
            let _ = writeln!(text, "  {}", escape::line(reason));
        }
    }
    text
}
