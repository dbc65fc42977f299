//! Whether one policy of a plugin lets through what another did not.
//!
//! A person starts a plugin with its manifest before them. Somebody else may edit it while it runs, and must not let
//! through what that person had refused or wanted to be asked about. So the two manifests are compared over everything
//! that a call can be: every type that hints can make of a function, whatever its server lists, and every way in which
//! the conditions of rules can hold. That is finite, since a condition counts only by what it is equal to.

use crate::decision::{Approval, Rule, Verdict, decide};
use crate::function::{Function, Hints};

/// What a plugin says of one function's calls.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a, C> {
    /// Its suggested rules.
    pub rules: &'a [Rule<C>],
    /// The tool's `approval:`.
    pub approval: Approval,
    /// Whether the function stands under `requires_approval`.
    pub requires_approval: bool,
    /// The hints that it puts over the server's.
    pub hints: Hints,
}

/// Conditions that are told apart. Above so many, two lists of rules that differ count as one that lets more through.
const CONDITIONS: usize = 8;

/// Whether some call of the function is let through, or asked about, that `before` asked about, or refused.
pub fn loosens<C: PartialEq>(
    tool: &str,
    name: &str,
    before: &Said<'_, C>,
    after: &Said<'_, C>,
) -> bool {
    // Under a tenant's `allow` nothing but this asks.
    if before.requires_approval && !after.requires_approval {
        return true;
    }
    let mut conditions: Vec<&C> = Vec::new();
    for rule in before.rules.iter().chain(after.rules) {
        if rule.matches.covers(tool, name)
            && let Some(condition) = &rule.condition
            && !conditions.contains(&condition)
        {
            conditions.push(condition);
        }
    }
    let few = conditions.len() <= CONDITIONS;
    if !few && before.rules != after.rules {
        return true;
    }
    let worlds = if few { 1_u32 << conditions.len() } else { 1 };
    Hints::every().any(|listed| {
        let decided = |said: &Said<'_, C>, world: u32| {
            let function = Function {
                tool,
                name,
                kind: listed.merged(said.hints).function_type(),
                requires_approval: said.requires_approval,
                approval: said.approval,
            };
            let holds = |condition: &C| {
                let at = conditions.iter().position(|known| *known == condition);
                at.is_some_and(|at| world >> at & 1 == 1)
            };
            strictness(decide(&function, &[], said.rules, holds).verdict)
        };
        (0..worlds).any(|world| decided(after, world) < decided(before, world))
    })
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Refuse => 2,
    }
}
