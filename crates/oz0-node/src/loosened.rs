//! What a manifest says of calls, so that an edit of it lets nothing more through than the person who started it saw.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::policy::{Hook, HookScope};
use oz0_listing::{Pointer, ToolId};
use oz0_plugin::manifest::{self, Manifest};
use oz0_policy::{Approval, Hints, Match, Rule, Said, loosens};
use serde_json::Value;

use crate::describe;

/// A rule's condition, compared by what is written.
type When = BTreeMap<String, Value>;

/// What one manifest says of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    rules: Vec<Rule<When>>,
    tools: BTreeMap<ToolId, Tool>,
    hooks: BTreeSet<Hook>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Tool {
    approval: Approval,
    requires_approval: BTreeSet<String>,
    hints: BTreeMap<String, Hints>,
    labels: BTreeMap<String, Pointer>,
}

impl Calls {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let rules = manifest.policy.iter().filter_map(|rule| {
            let when: When = rule
                .when
                .iter()
                .map(|(pointer, schema)| (pointer.pointer().to_string(), schema.as_json().clone()))
                .collect();
            Some(Rule {
                matches: rule.matches.to_string().parse().ok()?,
                action: match rule.action.value {
                    manifest::Action::Allow => oz0_policy::Action::Allow,
                    manifest::Action::Ask => oz0_policy::Action::Ask,
                    manifest::Action::Refuse => oz0_policy::Action::Refuse,
                    manifest::Action::Judge => oz0_policy::Action::Judge,
                },
                condition: (!when.is_empty()).then_some(when),
            })
        });
        let tools = manifest.tools.iter().map(|(id, tool)| (id.value.clone(), Tool::of(tool)));
        Self {
            rules: rules.collect(),
            tools: tools.collect(),
            // One that cannot be described is not run, before an edit or after it.
            hooks: describe::hooks(manifest).unwrap_or_default().into_iter().collect(),
        }
    }

    /// What this lets through that `start` did not, in words; empty where it is no more.
    pub(crate) fn beyond(&self, start: &Self) -> Vec<String> {
        let mut more = Vec::new();
        let nothing = Tool::default();
        for (id, tool) in &self.tools {
            let had = start.tools.get(id).unwrap_or(&nothing);
            let mut names: BTreeSet<&str> = tool.names().chain(had.names()).collect();
            names.extend(self.named(id).chain(start.named(id)));
            for name in &names {
                let (before, after) = (had.said(name, &start.rules), tool.said(name, &self.rules));
                if loosens(id.as_str(), name, &before, &after) {
                    more.push(format!("calls of {id}.{name} with less asking"));
                }
            }
            // Any other function: its name is none that stands anywhere.
            let (before, after) = (had.said("", &start.rules), tool.said("", &self.rules));
            if loosens(id.as_str(), "", &before, &after) {
                more.push(format!("calls of {id} with less asking"));
            }
            for (name, label) in &had.labels {
                if tool.labels.get(name) != Some(label) {
                    more.push(format!("calls of {id}.{name} without the AI label"));
                }
            }
        }
        for hook in start.hooks.difference(&self.hooks) {
            more.push(format!("calls around which {} is not called", hook.call));
        }
        for hook in self.hooks.difference(&start.hooks) {
            let whose = match &hook.of {
                HookScope::Own => continue,
                HookScope::Plugin(name) => name.to_string(),
                HookScope::Every => "every plugin".to_owned(),
            };
            more.push(format!("that {} looks at the calls of {whose}", hook.call));
        }
        more
    }

    /// The functions of a tool that rules name.
    fn named<'a>(&'a self, tool: &'a ToolId) -> impl Iterator<Item = &'a str> {
        self.rules.iter().filter_map(move |rule| match &rule.matches {
            Match::Function { tool: of, name } if of == tool.as_str() => Some(name.as_str()),
            _ => None,
        })
    }
}

impl Tool {
    fn of(tool: &manifest::Tool) -> Self {
        let mut hints = BTreeMap::new();
        let mut labels = BTreeMap::new();
        for (name, said) in &tool.overrides {
            if let Some(annotations) = &said.annotations {
                let hint =
                    |hint: &Option<oz0_plugin::Spanned<bool>>| hint.as_ref().map(|h| h.value);
                let said = Hints {
                    read_only: hint(&annotations.read_only),
                    destructive: hint(&annotations.destructive),
                    open_world: hint(&annotations.open_world),
                };
                hints.insert(name.as_str().to_owned(), said);
            }
            if let Some(pointer) = &said.ai_label {
                labels.insert(name.as_str().to_owned(), pointer.pointer().clone());
            }
        }
        Self {
            approval: match tool.approval() {
                manifest::Approval::Never => Approval::Never,
                manifest::Approval::Writes => Approval::Writes,
                manifest::Approval::Always => Approval::Always,
            },
            requires_approval: tool
                .requires_approval
                .iter()
                .map(|name| name.as_str().to_owned())
                .collect(),
            hints,
            labels,
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.requires_approval.iter().chain(self.hints.keys()).map(String::as_str)
    }

    fn said<'a>(&self, name: &str, rules: &'a [Rule<When>]) -> Said<'a, When> {
        Said {
            rules,
            approval: self.approval,
            requires_approval: self.requires_approval.contains(name),
            hints: self.hints.get(name).copied().unwrap_or_default(),
        }
    }
}
