//! Prediction: follows all choices of a decision at once, until the tokens leave one.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::{GRAMMAR, State, has};

/// One of the paths that a decision of the parser follows: the choice, the state, and the callers.
pub(super) type Configuration = (usize, usize, Vec<usize>);

/// The configurations that are possible after some tokens.
#[derive(Debug, Default)]
pub(super) struct Configurations {
    is_full: bool,
    /// The configurations that were added, and whether each has left the rule in which the decision is.
    seen: BTreeMap<Configuration, bool>,
    /// The configurations that wait for a token, or are at the end.
    open: BTreeSet<Configuration>,
}

// === impl Configurations ===

impl Configurations {
    pub(super) fn new(is_full: bool) -> Self {
        Self {
            is_full,
            ..Self::default()
        }
    }

    /// Returns whether no configuration is left.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the number of steps to the configurations, with their callers, which are copied.
    pub(super) fn steps(&self) -> usize {
        let callers = self.open.iter().map(|(_, _, callers)| callers.len() / 8);
        self.seen.len() + callers.sum::<usize>()
    }

    /// Adds a configuration, and those that it leads to without a token.
    pub(super) fn add(&mut self, configuration: Configuration, has_left: bool) {
        if self
            .seen
            .get(&configuration)
            .is_some_and(|is_allowed| *is_allowed || !has_left)
        {
            return;
        }
        self.seen.insert(configuration.clone(), has_left);
        let (choice, state, mut callers) = configuration;
        match &GRAMMAR.states[state] {
            State::Token { .. } => {
                self.open.insert((choice, state, callers));
            }
            State::Call { rule, next, .. } => {
                callers.push(*next);
                self.add((choice, GRAMMAR.starts[*rule], callers), has_left);
            }
            State::Decision(decision) => {
                for next in &decision.next {
                    self.add((choice, *next, callers.clone()), has_left);
                }
            }
            State::RuleEnd => match callers.pop() {
                Some(next) => self.add((choice, next, callers), has_left),
                None if self.is_full => {
                    self.open.insert((choice, state, callers));
                }
                None => {
                    for next in GRAMMAR.follows_of_end(state) {
                        self.add((choice, *next, Vec::new()), true);
                    }
                }
            },
        }
    }

    /// Returns the configurations after a token.
    pub(super) fn after(&self, token: u8) -> Self {
        let mut following = Self::new(self.is_full);
        for configuration in &self.open {
            let (choice, state, callers) = configuration;
            if let State::Token { set, next } = &GRAMMAR.states[*state]
                && has(*set, token)
            {
                let has_left = self.seen.get(configuration).copied().unwrap_or_default();
                following.add((*choice, *next, callers.clone()), has_left);
            }
        }
        following
    }

    /// Returns the first choice by which the rule can end.
    pub(super) fn finished(&self) -> Option<usize> {
        let left = self.open.iter().filter(|configuration| {
            let is_end = matches!(GRAMMAR.states[configuration.1], State::RuleEnd);
            is_end || self.seen.get(*configuration).copied().unwrap_or_default()
        });
        left.map(|(choice, ..)| *choice).min()
    }

    /// Returns the choice, if all configurations have the same.
    pub(super) fn only(&self) -> Option<usize> {
        let mut choices = self.open.iter().map(|(choice, ..)| *choice);
        let first = choices.next()?;
        choices.all(|choice| choice == first).then_some(first)
    }

    /// Returns the sets of choices that have the same states with the same callers.
    fn conflicts(&self) -> Vec<BTreeSet<usize>> {
        let mut callers_of: BTreeMap<(usize, usize), BTreeSet<&[usize]>> = BTreeMap::new();
        for (choice, state, callers) in &self.open {
            let all = callers_of.entry((*state, *choice)).or_default();
            all.insert(callers);
        }
        let mut sets: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for ((state, choice), callers) in callers_of {
            // Where it does not matter who calls, fewer callers stand for all.
            let is_new = |own: &&[usize]| {
                let mut others = callers.iter();
                self.is_full || !others.any(|other| other.len() < own.len() && own.ends_with(other))
            };
            let callers: Vec<&[usize]> = callers.iter().copied().filter(is_new).collect();
            sets.entry((state, callers)).or_default().insert(choice);
        }
        sets.into_values().collect()
    }

    /// Returns whether more tokens would not help without the callers.
    pub(super) fn is_conflict(&self) -> bool {
        let mut by_state: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (choice, state, _) in &self.open {
            by_state.entry(*state).or_default().insert(*choice);
        }
        self.conflicts().iter().any(|choices| choices.len() > 1)
            && by_state.values().all(|choices| choices.len() > 1)
    }

    /// Returns the first choice, if it is the first wherever there is one.
    pub(super) fn least(&self) -> Option<usize> {
        let conflicts = self.conflicts();
        let firsts = conflicts.iter().filter_map(|choices| choices.first());
        let firsts: BTreeSet<&usize> = firsts.collect();
        firsts
            .first()
            .copied()
            .copied()
            .filter(|_| firsts.len() == 1)
    }
}
