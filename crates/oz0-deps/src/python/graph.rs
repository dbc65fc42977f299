//! Who needs whom in a lock: the shortest way from what the project asks for to a package.
//!
//! A step of the way is a package with the extra through which it goes on, since an extra is often the one reason why something
//! is there: `crewai[tools] → langchain-x`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::pyproject::folded;
use crate::Via;

/// A package, or one of its extras.
pub(super) type Step = (String, Option<String>);

/// What a lock says of who needs whom.
#[derive(Debug, Default)]
pub(super) struct Graph {
    needs: BTreeMap<Step, Vec<Step>>,
    needed: BTreeSet<String>,
    /// What the project asks for, and in which list of its own.
    roots: Vec<(Step, Option<String>)>,
}

impl Graph {
    /// Says that a package, or an extra of it, needs another one with these extras.
    pub(super) fn need(&mut self, by: &str, extra: Option<&str>, name: &str, extras: &[String]) {
        let by = (folded(by), extra.map(folded));
        let name = folded(name);
        if by.0 != name {
            self.needed.insert(name.clone());
        }
        let needs = self.needs.entry(by).or_default();
        needs.push((name.clone(), None));
        needs.extend(extras.iter().map(|extra| (name.clone(), Some(folded(extra)))));
    }

    /// Says that the project asks for a package, in a list.
    pub(super) fn root(&mut self, name: &str, extras: &[String], list: Option<&str>) {
        let name = folded(name);
        let list = list.map(str::to_owned);
        let steps = extras.iter().map(|extra| Some(folded(extra)));
        for extra in std::iter::once(None).chain(steps) {
            self.roots.push(((name.clone(), extra), list.clone()));
        }
    }

    pub(super) fn has_roots(&self) -> bool {
        !self.roots.is_empty()
    }

    /// Takes what nothing else needs for what the project asks for.
    pub(super) fn root_what_nobody_needs<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names {
            if !self.needed.contains(&folded(name)) {
                self.root(name, &[], None);
            }
        }
    }

    /// Through whom a package comes: nothing, when the project asks for it itself, or nobody knows.
    pub(super) fn via(&self, name: &str) -> Option<Via> {
        let name = folded(name);
        let mut from: BTreeMap<&Step, Option<&Step>> = BTreeMap::new();
        let mut waiting: VecDeque<&Step> = VecDeque::new();
        for (step, list) in &self.roots {
            if step.0 == name {
                return list.clone().map(Via::List);
            }
            if !from.contains_key(step) {
                from.insert(step, None);
                waiting.push_back(step);
            }
        }
        while let Some(step) = waiting.pop_front() {
            for next in self.needs.get(step).into_iter().flatten() {
                if next.0 == name {
                    return Some(Via::Packages(way(&from, step)));
                }
                if !from.contains_key(next) {
                    from.insert(next, Some(step));
                    waiting.push_back(next);
                }
            }
        }
        None
    }
}

/// The steps to the last one, each package once.
fn way(from: &BTreeMap<&Step, Option<&Step>>, last: &Step) -> Vec<String> {
    let mut steps = vec![last];
    while let Some(Some(before)) = steps.last().and_then(|step| from.get(step)) {
        steps.push(before);
    }
    steps
        .into_iter()
        .rev()
        .map(|(name, extra)| match extra {
            Some(extra) => format!("{name}[{extra}]"),
            None => name.clone(),
        })
        .collect()
}
