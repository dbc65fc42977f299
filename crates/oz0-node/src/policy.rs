//! What happens to a call: the tenant's rules, the plugin's, the type of the function; and the words for it.
//!
//! Public for whoever wants to know what a node would do.
//!
//! The order in which they count is [`oz0_policy::decide`]'s. Here is what it is asked with: rules with their conditions
//! compiled, made when the edge says them and not at a call, and the type that the *served* listing has, which is the
//! accepted one with the manifest's overrides merged.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use oz0_api::RuleId;
use oz0_api::plugin::PluginDescription;
use oz0_api::policy::{Rule, TenantRule};
use oz0_listing::{FunctionId, Pointer, ToolId, escape};
use oz0_policy::{Approval, Condition, Decision, Function, FunctionType, Reason, Verdict, decide};
use serde_json::Value;

/// How much of a rule's reason is told, in characters.
const REASON: usize = 400;

/// A list of rules.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<oz0_policy::Rule<Condition>>,
    said: Vec<Said>,
}

/// What people are told of a rule.
#[derive(Debug)]
struct Said {
    /// A tenant's rule has one.
    id: Option<String>,
    reason: Option<String>,
}

impl Rules {
    /// The tenant's.
    pub fn of_tenant(rules: &[TenantRule]) -> Self {
        Self::of(rules.iter().map(|rule| (&rule.rule, Some(rule.id.to_string()))))
    }

    /// A plugin's own.
    fn suggested(rules: &[Rule]) -> Self {
        Self::of(rules.iter().map(|rule| (rule, None)))
    }

    fn of<'a>(rules: impl Iterator<Item = (&'a Rule, Option<String>)>) -> Self {
        let mut all = Self::default();
        for (rule, id) in rules {
            all.rules.push(oz0_policy::Rule {
                matches: rule.matches.to_match(),
                action: rule.action.into(),
                condition: rule.condition(),
            });
            let reason = rule.reason.as_ref();
            let reason = reason.map(|reason| escape::line_within(reason, REASON).into_owned());
            all.said.push(Said { id, reason });
        }
        all
    }

    /// Whether the rule with this ID is one of them.
    pub fn has(&self, id: &RuleId) -> bool {
        self.said.iter().any(|said| said.id.as_deref() == Some(id.as_str()))
    }

    /// A rule as people know it, in brackets.
    fn named(&self, index: usize) -> String {
        match self.said.get(index) {
            Some(Said { id: Some(id), reason: Some(reason) }) => format!(" (rule {id}: {reason})"),
            Some(Said { id: Some(id), reason: None }) => format!(" (rule {id})"),
            Some(Said { id: None, reason: Some(reason) }) => format!(" ({reason})"),
            _ => String::new(),
        }
    }
}

/// What a plugin says of its functions' calls.
#[derive(Debug, Default)]
pub struct PluginPolicy {
    suggested: Rules,
    tools: HashMap<ToolId, ToolPolicy>,
}

#[derive(Debug, Default)]
struct ToolPolicy {
    approval: Approval,
    requires_approval: BTreeSet<String>,
    labels: HashMap<String, Pointer>,
}

impl PluginPolicy {
    /// What this plugin says.
    pub fn of(description: &PluginDescription) -> Self {
        let tools = description.tools.iter().map(|(id, tool)| {
            let labels = tool
                .overrides
                .iter()
                .filter_map(|(function, said)| Some((function.clone(), said.ai_label.clone()?)));
            let policy = ToolPolicy {
                approval: tool.approval.into(),
                requires_approval: tool.requires_approval.clone(),
                labels: labels.collect(),
            };
            (id.clone(), policy)
        });
        Self { suggested: Rules::suggested(&description.policy), tools: tools.collect() }
    }

    /// Where the text stands that gets the AI label.
    pub fn label(&self, id: &FunctionId) -> Option<&Pointer> {
        self.tools.get(&id.tool())?.labels.get(id.function())
    }
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// It goes through.
    Allow,
    /// A person is asked.
    Ask(Asks),
    /// It is refused, in these words.
    Refuse(String),
}

/// That a person is asked, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asks {
    /// The function's type.
    pub kind: FunctionType,
    /// Why, in words.
    pub why: String,
    /// Whether only a person's own decision counts.
    pub requires_approval: bool,
}

/// Decides a call of this function, of this type, with these arguments.
pub fn rule(
    id: &FunctionId,
    kind: FunctionType,
    plugin: &PluginPolicy,
    tenant: &Rules,
    arguments: &Value,
) -> Ruling {
    let tool_id = id.tool();
    let tool = plugin.tools.get(&tool_id);
    let requires_approval = tool.is_some_and(|tool| tool.requires_approval.contains(id.function()));
    let function = Function {
        tool: tool_id.as_str(),
        name: id.function(),
        kind,
        requires_approval,
        approval: tool.map_or(Approval::Never, |tool| tool.approval),
    };
    // A condition that says neither yes nor no ends the search at its rule.
    let unusable = RefCell::new(None);
    let holds = |condition: &Condition| {
        condition.holds(arguments).unwrap_or_else(|why| {
            *unusable.borrow_mut() = Some(why.to_string());
            true
        })
    };
    let Decision { verdict, reason } =
        decide(&function, &tenant.rules, &plugin.suggested.rules, holds);
    if let Some(why) = unusable.into_inner() {
        let why = escape::line_within(&why, REASON);
        let whose = match reason {
            Reason::Tenant(index) => format!("of the tenant's policy{}", tenant.named(index)),
            _ => "that its plugin suggests".to_owned(),
        };
        return Ruling::Refuse(format!(
            "{id} is not called: whether a rule {whose} holds for these arguments cannot be said: {why}; decide with: \
             oz0 policy set {id} ask"
        ));
    }
    match verdict {
        Verdict::Allow => Ruling::Allow,
        Verdict::Refuse => Ruling::Refuse(match reason {
            Reason::Tenant(index) => format!(
                "{id} is not called: the policy refuses it{}; `oz0 policy list` shows the rules",
                tenant.named(index)
            ),
            Reason::Suggestion(index) => format!(
                "{id} is not called: its plugin's own policy refuses it{}; to decide otherwise: oz0 policy set {id} ask",
                plugin.suggested.named(index)
            ),
            _ => format!("{id} is not called"),
        }),
        Verdict::Ask => {
            let why = match reason {
                Reason::Tenant(index) => format!("the policy asks{}", tenant.named(index)),
                Reason::Suggestion(index) => {
                    format!("its plugin asks{}", plugin.suggested.named(index))
                }
                Reason::RequiresApproval => "a person decides every call of it".to_owned(),
                Reason::Approval => "its tool asks about calls like this".to_owned(),
                Reason::Type(FunctionType::Destructive) => "it may delete or overwrite".to_owned(),
                Reason::Type(_) => "its server does not say whether it changes anything".to_owned(),
            };
            Ruling::Ask(Asks { kind, why, requires_approval })
        }
    }
}
