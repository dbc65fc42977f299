//! The tenant's policy: an ordered list of rules, of which the first that matches decides.

use std::collections::BTreeMap;

use oz0_api::audit::AuditSubject;
use oz0_api::policy::{Before, REASON, Rule, RuleSet, SetRule, TenantRule};
use oz0_api::{Code, Problem, RuleId, UnixMillis};

use super::db::{Conn, query, query_as};
use super::{Act, Actor, Answer, Store, StoreError, Write, parse, parse_json, random, to_json};

/// Rules of the tenant, at most.
const RULES: usize = 1_000;

/// The longest condition, in bytes of JSON.
const CONDITION: usize = 64 * 1024;

/// The rules, the first first.
pub(super) async fn rules(conn: &mut Conn) -> Result<Vec<TenantRule>, StoreError> {
    let rows: Vec<(String, String, i64, String)> =
        query_as("SELECT id, rule, set_at, set_by FROM policy_rules ORDER BY place, id")
            .fetch_all(conn)
            .await?;
    rows.into_iter()
        .map(|(id, rule, set_at, set_by)| {
            Ok(TenantRule {
                id: parse(&id)?,
                rule: parse_json(&rule)?,
                set_at: UnixMillis(set_at),
                set_by,
            })
        })
        .collect()
}

/// What is wrong with a rule.
fn check(rule: &Rule) -> Result<(), Problem> {
    let wrong = |what: String| Problem::new(Code::Malformed, what);
    if rule.reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON) {
        return Err(wrong(format!("a rule's reason has at most {REASON} characters")));
    }
    let length: usize = rule
        .when
        .iter()
        .map(|(pointer, schema)| pointer.to_string().len() + schema.to_string().len())
        .sum();
    if length > CONDITION {
        return Err(wrong(format!("a rule's condition has at most {CONDITION} bytes")));
    }
    if let Some(condition) = rule.condition()
        && let Err(error) = condition.check()
    {
        return Err(wrong(format!(
            "the rule cannot be set: {}",
            oz0_listing::escape::line_within(&error.to_string(), 400)
        )));
    }
    Ok(())
}

/// Where a rule is to stand among the others, as [`SetRule`] says.
fn place(rules: &[TenantRule], set: &SetRule) -> Result<usize, Problem> {
    match &set.before {
        Some(Before::First) => Ok(0),
        Some(Before::Rule(id)) => {
            rules.iter().position(|rule| rule.id == *id).ok_or_else(|| no_rule(id))
        }
        None => {
            let takes_all = |other: &TenantRule| {
                other.rule.when.is_empty() && other.rule.matches.includes(&set.rule.matches)
            };
            Ok(rules.iter().position(takes_all).unwrap_or(rules.len()))
        }
    }
}

fn no_rule(id: &RuleId) -> Problem {
    Problem::new(Code::NotFound, format!("there is no rule {id}"))
        .hint("`oz0 policy list` shows the rules")
}

impl Store {
    /// The tenant's policy.
    pub(crate) async fn policy(&self) -> Result<Vec<TenantRule>, StoreError> {
        let mut tx = self.read().await?;
        rules(&mut tx).await
    }

    /// Sets a rule.
    pub(crate) async fn set_rule(&self, actor: &Actor, set: &SetRule) -> Answer<RuleSet> {
        check(&set.rule)?;
        let mut write = self.write(actor).await?;
        let mut rules = rules(write.conn()).await?;
        let same = |other: &TenantRule| {
            other.rule.matches == set.rule.matches
                && other.rule.when.is_empty()
                && set.rule.when.is_empty()
        };
        let old = rules.iter().position(same);
        let mut was = None;
        let (id, place) = match (old, &set.before) {
            (Some(old), before) => {
                let rule = rules.remove(old);
                was = Some(rule.rule.action);
                let place = match before {
                    // Before itself is where it stands.
                    Some(Before::Rule(id)) if *id == rule.id => old,
                    Some(_) => place(&rules, set)?,
                    None => old,
                };
                (rule.id, place)
            }
            (None, _) if rules.len() >= RULES => {
                let what = format!("the policy has {RULES} rules already");
                return Err(Problem::new(Code::TooLarge, what).into());
            }
            (None, _) => (RuleId::from_random(random()?), place(&rules, set)?),
        };
        let rule =
            TenantRule { id, rule: set.rule.clone(), set_at: write.now, set_by: actor.to_string() };
        rules.insert(place, rule.clone());
        write.store_rules(&rules).await?;
        let mut detail = detail(&rule);
        detail.insert("place".to_owned(), (place + 1).to_string());
        if let Some(was) = was {
            detail.insert("was".to_owned(), was.as_str().to_owned());
        }
        write.audit(Act { action: "policy.set", subject: subject(detail) }).await?;
        write.commit().await?;
        let after = rules[..place]
            .iter()
            .filter(|other| {
                other.rule.matches.includes(&rule.rule.matches)
                    || rule.rule.matches.includes(&other.rule.matches)
            })
            .map(|other| other.id.clone())
            .collect();
        Ok(RuleSet { rule, place: place + 1, replaced: old.is_some(), after })
    }

    /// Takes a rule away.
    pub(crate) async fn unset_rule(&self, actor: &Actor, id: &RuleId) -> Answer<TenantRule> {
        let mut write = self.write(actor).await?;
        let mut rules = rules(write.conn()).await?;
        let at = rules.iter().position(|rule| rule.id == *id).ok_or_else(|| no_rule(id))?;
        let rule = rules.remove(at);
        write.store_rules(&rules).await?;
        write.audit(Act { action: "policy.unset", subject: subject(detail(&rule)) }).await?;
        write.commit().await?;
        Ok(rule)
    }
}

/// What the audit log says of a rule.
fn detail(rule: &TenantRule) -> BTreeMap<String, String> {
    let mut detail = BTreeMap::from([
        ("rule".to_owned(), rule.id.to_string()),
        ("match".to_owned(), rule.rule.matches.to_string()),
        ("action".to_owned(), rule.rule.action.as_str().to_owned()),
    ]);
    if let Some(reason) = &rule.rule.reason {
        detail.insert("reason".to_owned(), reason.clone());
    }
    if !rule.rule.when.is_empty() {
        let when = serde_json::to_string(&rule.rule.when).unwrap_or_default();
        detail.insert("when".to_owned(), when);
    }
    detail
}

fn subject(detail: BTreeMap<String, String>) -> AuditSubject {
    AuditSubject { detail, ..AuditSubject::default() }
}

impl Write<'_> {
    /// Writes the rules down as they are to be from now on.
    async fn store_rules(&mut self, rules: &[TenantRule]) -> Result<(), StoreError> {
        let revision = self.revision().await?;
        query("UPDATE counters SET value = $1 WHERE name = 'policy'")
            .bind(revision.0)
            .execute(self.conn())
            .await?;
        query("DELETE FROM policy_rules").execute(self.conn()).await?;
        for (place, rule) in rules.iter().enumerate() {
            query(
                "INSERT INTO policy_rules (id, place, rule, set_at, set_by)
                 VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(rule.id.as_str())
            .bind(i64::try_from(place).unwrap_or(i64::MAX))
            .bind(to_json(&rule.rule)?)
            .bind(rule.set_at.0)
            .bind(&rule.set_by)
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }
}
