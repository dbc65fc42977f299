//! Rules about calls: those that a plugin suggests for its own functions, and those of the tenant, which come first.

use std::collections::BTreeMap;

use oz0_listing::{FunctionId, Pointer};
use oz0_policy::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{CallPattern, PluginName, PolicyMatch, RuleId, UnixMillis};

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl Action {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Ask, Self::Refuse, Self::Judge];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
            Self::Judge => "judge",
        }
    }
}

impl From<Action> for oz0_policy::Action {
    fn from(action: Action) -> Self {
        match action {
            Action::Allow => Self::Allow,
            Action::Ask => Self::Ask,
            Action::Refuse => Self::Refuse,
            Action::Judge => Self::Judge,
        }
    }
}

/// Which calls of a whole tool a person is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ToolApproval")]
pub enum Approval {
    /// None, as far as the tool says.
    #[default]
    Never,
    /// Each that may write.
    Writes,
    /// Each.
    Always,
}

impl Approval {
    /// Whether nothing is said.
    pub const fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }
}

impl From<Approval> for oz0_policy::Approval {
    fn from(approval: Approval) -> Self {
        match approval {
            Approval::Never => Self::Never,
            Approval::Writes => Self::Writes,
            Approval::Always => Self::Always,
        }
    }
}

/// The longest reason of a rule, in characters.
pub const REASON: usize = 1000;

/// One rule. In a list the first that matches, and whose condition holds, decides.
///
/// A member that is not known is refused: of a misspelt `when` a rule would be left that holds always.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The functions.
    #[serde(rename = "match")]
    pub matches: PolicyMatch,
    /// What happens to their calls.
    pub action: Action,
    /// Why, for people and for whoever is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// JSON pointers into the arguments, and the JSON Schemas that must all hold there; always where there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<Pointer, schemars::Schema>")]
    pub when: BTreeMap<Pointer, Value>,
}

impl Rule {
    /// The condition, compiled; none where the rule always holds.
    pub fn condition(&self) -> Option<Condition> {
        if self.when.is_empty() {
            return None;
        }
        let parts: Vec<(String, &Value)> =
            self.when.iter().map(|(pointer, schema)| (pointer.to_string(), schema)).collect();
        Some(Condition::new(parts.iter().map(|(pointer, schema)| (pointer.as_str(), *schema))))
    }
}

/// A rule of the tenant.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TenantRule {
    /// Its ID.
    pub id: RuleId,
    /// What it says.
    #[serde(flatten)]
    pub rule: Rule,
    /// When it was set.
    pub set_at: UnixMillis,
    /// By whom, as it stands in the audit log.
    pub set_by: String,
}

/// Asks for a rule of the tenant to be set.
///
/// A rule without a condition takes the place of one without a condition that is about the same functions. Another one
/// is put before the first rule without a condition that would take every call from it, else at the end.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRule {
    /// The rule.
    pub rule: Rule,
    /// Where it is to stand instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
}

/// A place in the tenant's policy.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// Before every rule.
    First,
    /// Before this one.
    Rule(RuleId),
}

/// The tenant's policy.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TenantPolicy {
    /// The rules, the first first.
    pub rules: Vec<TenantRule>,
}

/// What came of setting a rule.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RuleSet {
    /// The rule.
    pub rule: TenantRule,
    /// Its place, from 1.
    pub place: usize,
    /// Whether it took the place of one about the same functions.
    pub replaced: bool,
    /// The rules before it that take calls from it.
    pub after: Vec<RuleId>,
}

/// When a hook is called.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    /// Before a function is called: it may refuse the call, and change its arguments.
    BeforeCall,
    /// After a function was called: it may refuse the result.
    AfterCall,
}

/// A function that is called around other calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// When.
    pub on: HookPoint,
    /// Around whose calls.
    pub of: HookScope,
    /// Around which of them; all, where it is left out.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<CallPattern>,
    /// The function: one of the plugin's own.
    pub call: FunctionId,
}

/// Whose calls a hook is called around.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookScope {
    /// The plugin's own.
    Own,
    /// Those of another plugin.
    Plugin(PluginName),
    /// Those of every plugin.
    Every,
}
