//! Who pulled a locked package in: the shortest way to it from what the project asks for.

use std::collections::VecDeque;

use crate::Via;

/// A lock's packages and what each needs.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    names: Vec<String>,
    needs: Vec<Vec<usize>>,
    /// What the project asks for: the package, and the list that says so where the lock has one.
    roots: Vec<(usize, Option<String>)>,
}

impl Graph {
    /// Adds a package by the name that people know it by; its index.
    pub(crate) fn add(&mut self, name: impl Into<String>) -> usize {
        self.names.push(name.into());
        self.needs.push(Vec::new());
        self.names.len() - 1
    }

    /// Says that one needs another.
    pub(crate) fn need(&mut self, from: usize, to: usize) {
        self.needs[from].push(to);
    }

    /// Says that the project itself asks for it, in the list of this name.
    pub(crate) fn ask(&mut self, package: usize, list: Option<String>) {
        self.roots.push((package, list));
    }

    /// [`Self::via`], unless nobody will read it.
    pub(crate) fn via_unless(&self, unread: bool, target: usize) -> Option<Via> {
        if unread { None } else { self.via(target) }
    }

    /// How the project comes to `target`: the list that asks for it, or the packages between; nothing, where the lock does
    /// not say.
    pub(crate) fn via(&self, target: usize) -> Option<Via> {
        if let Some((_, list)) = self.roots.iter().find(|(package, _)| *package == target) {
            return list.clone().map(Via::List);
        }
        let mut before: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut seen = vec![false; self.names.len()];
        let mut next: VecDeque<usize> = VecDeque::new();
        for (package, _) in &self.roots {
            if !std::mem::replace(&mut seen[*package], true) {
                next.push_back(*package);
            }
        }
        while let Some(package) = next.pop_front() {
            for needed in &self.needs[package] {
                if !std::mem::replace(&mut seen[*needed], true) {
                    before[*needed] = Some(package);
                    next.push_back(*needed);
                }
            }
        }
        let mut chain = Vec::new();
        let mut at = before[target]?;
        loop {
            chain.push(self.names[at].clone());
            match before[at] {
                Some(above) => at = above,
                None => break,
            }
        }
        chain.reverse();
        Some(Via::Packages(chain))
    }
}
