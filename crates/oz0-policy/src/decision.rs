//! What happens to a call: the one order in which a tenant's rules, a plugin's and a function's own hints count.
//!
//! A tenant's `refuse` always wins. `requires_approval` raises *allow* to *ask*. Else the first of these that says
//! something decides: the tenant's rules, the plugin's suggestion, the tool's `approval:`, the default of the function's
//! type. In one list the first rule that matches wins, and a rule with a condition matches only where the condition holds.

use crate::function::{Function, FunctionType};
use crate::matching::Match;

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It goes through.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Refuse,
    /// A judge decides; it runs as *ask*.
    Judge,
}

/// What a tool says of its calls as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Approval {
    /// Nothing.
    #[default]
    Never,
    /// A person is asked about each call that may write.
    Writes,
    /// A person is asked about each call.
    Always,
}

/// A rule of a tenant's policy or of a plugin's suggestion. `C` is its condition on the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule<C> {
    /// The functions.
    pub matches: Match,
    /// What happens to their calls.
    pub action: Action,
    /// When, where the rule does not always hold.
    pub condition: Option<C>,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It goes through.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is refused.
    Refuse,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The tenant's rule with this index.
    Tenant(usize),
    /// The function stands under `requires_approval`, and what would have decided allows it.
    RequiresApproval,
    /// The plugin's suggested rule with this index.
    Suggestion(usize),
    /// The tool's `approval:`.
    Approval,
    /// The default of the function's type.
    Type(FunctionType),
}

/// A verdict and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

impl From<Action> for Verdict {
    fn from(action: Action) -> Self {
        match action {
            Action::Allow => Self::Allow,
            Action::Ask | Action::Judge => Self::Ask,
            Action::Refuse => Self::Refuse,
        }
    }
}

/// What happens to one call. `holds` says whether a condition holds for the call's arguments.
pub fn decide<C>(
    function: &Function<'_>,
    tenant: &[Rule<C>],
    suggested: &[Rule<C>],
    holds: impl Fn(&C) -> bool,
) -> Decision {
    let first = |rules: &[Rule<C>]| {
        let mut rules = rules.iter().enumerate();
        rules.find_map(|(index, rule)| {
            let matches = rule.matches.covers(function.tool, function.name)
                && rule.condition.as_ref().is_none_or(&holds);
            matches.then(|| (index, Verdict::from(rule.action)))
        })
    };
    let found = first(tenant)
        .map(|(index, verdict)| Decision { verdict, reason: Reason::Tenant(index) })
        .or_else(|| {
            let (index, verdict) = first(suggested)?;
            Some(Decision { verdict, reason: Reason::Suggestion(index) })
        })
        .unwrap_or_else(|| unruled(function));
    if function.requires_approval && found.verdict == Verdict::Allow {
        return Decision { verdict: Verdict::Ask, reason: Reason::RequiresApproval };
    }
    found
}

/// What happens where no rule matches.
fn unruled(function: &Function<'_>) -> Decision {
    let by_tool = match function.approval {
        Approval::Never => false,
        Approval::Writes => function.kind.sends(),
        Approval::Always => true,
    };
    if by_tool {
        return Decision { verdict: Verdict::Ask, reason: Reason::Approval };
    }
    let verdict = match function.kind {
        FunctionType::Destructive | FunctionType::Unknown => Verdict::Ask,
        FunctionType::Read | FunctionType::Write | FunctionType::SendsOut => Verdict::Allow,
    };
    Decision { verdict, reason: Reason::Type(function.kind) }
}

/// What could happen to a function's calls, whatever their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcomes {
    /// Some arguments let it through.
    pub allow: bool,
    /// Some make a person be asked.
    pub ask: bool,
    /// Some are refused.
    pub refuse: bool,
}

impl Outcomes {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Allow => self.allow = true,
            Verdict::Ask => self.ask = true,
            Verdict::Refuse => self.refuse = true,
        }
    }
}

/// What could happen to a function's calls: [`decide`] with nothing known of the arguments, so that each condition may
/// hold and may not.
pub fn outcomes<C>(function: &Function<'_>, tenant: &[Rule<C>], suggested: &[Rule<C>]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut add = |verdict| {
        let asks = function.requires_approval && verdict == Verdict::Allow;
        outcomes.add(if asks { Verdict::Ask } else { verdict });
    };
    for rule in tenant.iter().chain(suggested) {
        if !rule.matches.covers(function.tool, function.name) {
            continue;
        }
        add(rule.action.into());
        if rule.condition.is_none() {
            return outcomes;
        }
    }
    add(unruled(function).verdict);
    outcomes
}

/// How a list of rules stands to a function that wants a rule of some kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The rule with this index always holds, and no other comes before it.
    Covered(usize),
    /// There is such a rule, and the rule `by`, which comes first, takes calls from it.
    Undone {
        /// The rule that would cover the function.
        rule: usize,
        /// The rule before it.
        by: usize,
    },
    /// There is such a rule, and it holds only for some arguments.
    Sometimes(usize),
    /// There is none.
    Uncovered,
}

/// How `rules` stand to a function that wants one of the actions that `counts` names, unconditionally.
///
/// A rule with a condition covers nothing. One that *allows* on a condition takes calls away all the same, so a covering
/// rule after it is undone; one that asks on a condition takes none.
pub fn coverage<C>(
    tool: &str,
    name: &str,
    rules: &[Rule<C>],
    counts: impl Fn(Action) -> bool,
) -> Coverage {
    let mut before = None;
    let mut sometimes = None;
    for (index, rule) in rules.iter().enumerate() {
        if !rule.matches.covers(tool, name) {
            continue;
        }
        match (&rule.condition, counts(rule.action)) {
            (None, true) => {
                return before
                    .map_or(Coverage::Covered(index), |by| Coverage::Undone { rule: index, by });
            }
            (Some(_), true) => {
                sometimes.get_or_insert(index);
            }
            (None, false) => {
                before.get_or_insert(index);
            }
            (Some(_), false) if rule.action == Action::Allow => {
                before.get_or_insert(index);
            }
            (Some(_), false) => {}
        }
    }
    sometimes.map_or(Coverage::Uncovered, Coverage::Sometimes)
}
