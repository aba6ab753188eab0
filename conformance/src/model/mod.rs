//! The oracle: what was true on the server at each of its revisions, folded from its log.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use crate::{
    plan::{Resource, Selection},
    trace::{Change, Key, Observation, State, Trace},
};

/// The server's log as one informer's selection sees it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// For each key its moments, in order of revision.
    keys: BTreeMap<Key, Vec<Moment>>,
    /// The revision of each moment with its key.
    revisions: BTreeMap<u64, Key>,
}

/// A change of one key within a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// The revision of the change.
    pub revision: u64,
    /// The state from then on; `None` if the object left the selection, be it by a label or by its end.
    pub state: Option<State>,
}

/// The histories of all informers in a trace.
#[derive(Clone, Debug, Default)]
pub struct Model {
    histories: BTreeMap<usize, History>,
}

// === impl Model ===

impl Model {
    /// Folds the log that is written in `trace`.
    pub fn of(trace: &Trace) -> Self {
        let changes: Vec<&Change> = trace
            .observations()
            .filter_map(|observation| match observation {
                Observation::Changed(change) => Some(change),
                _ => None,
            })
            .collect();
        let histories = trace
            .observations()
            .filter_map(|observation| match observation {
                Observation::InformerStarts {
                    informer,
                    selection,
                } => Some((*informer, History::of(&changes, selection))),
                _ => None,
            });
        Self {
            histories: histories.collect(),
        }
    }

    /// What an informer should have seen.
    pub fn history(&self, informer: usize) -> Option<&History> {
        self.histories.get(&informer)
    }

    /// The informers in order.
    pub fn informers(&self) -> impl Iterator<Item = (usize, &History)> {
        self.histories
            .iter()
            .map(|(informer, history)| (*informer, history))
    }
}

// === impl History ===

impl History {
    /// The part of `changes`, in order of revision, that concerns `selection`.
    pub fn of(changes: &[&Change], selection: &Selection) -> Self {
        let mut history = Self::default();
        for change in changes {
            if change.resource != selection.resource {
                continue;
            }
            let contains =
                |label: &Option<Arc<str>>| selection.contains(&change.namespace, label.as_deref());
            let was = change
                .before
                .as_ref()
                .is_some_and(|(_, label)| contains(label));
            let is = change.after.as_ref().filter(|(_, label)| contains(label));
            let state = is.map(|(uid, _)| State::new(uid.clone(), change.revision));
            if was || state.is_some() {
                history.push(change, state);
            }
        }
        history
    }

    /// What the selection holds at `revision`.
    pub fn at(&self, revision: u64) -> BTreeMap<Key, State> {
        let states = self.keys.iter().filter_map(|(key, moments)| {
            let last = moments
                .iter()
                .rev()
                .find(|moment| moment.revision <= revision)?;
            Some((key.clone(), last.state.clone()?))
        });
        states.collect()
    }

    /// What the selection holds at the end.
    pub fn last(&self) -> BTreeMap<Key, State> {
        self.at(u64::MAX)
    }

    /// All that happened to a key.
    pub fn moments(&self, key: &str) -> &[Moment] {
        self.keys.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether the key was ever in exactly this state.
    pub fn has_been(&self, key: &str, state: &State) -> bool {
        self.moments(key)
            .iter()
            .any(|moment| moment.state.as_ref() == Some(state))
    }

    /// The first departure of a key after `revision`: when the object left the selection.
    pub fn departure_after(&self, key: &str, revision: u64) -> Option<u64> {
        self.moments(key)
            .iter()
            .find(|moment| moment.revision > revision && moment.state.is_none())
            .map(|moment| moment.revision)
    }

    /// The revisions after `from` up to `to` at which anything happened, each with its key.
    pub fn changes_between(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Key)> {
        self.revisions
            .range((Bound::Excluded(from), Bound::Unbounded))
            .take_while(move |(revision, _)| **revision <= to)
            .map(|(revision, key)| (*revision, key))
    }

    fn push(&mut self, change: &Change, state: Option<State>) {
        let revision = change.revision;
        self.revisions.insert(revision, change.key.clone());
        let moments = self.keys.entry(change.key.clone()).or_default();
        moments.push(Moment { revision, state });
    }
}

/// The log's fold for one resource, whatever the selection: what the server should hold at the end.
pub fn fold(trace: &Trace, resource: Resource) -> BTreeMap<Key, State> {
    let changes: Vec<&Change> = trace
        .observations()
        .filter_map(|observation| match observation {
            Observation::Changed(change) => Some(change),
            _ => None,
        })
        .collect();
    History::of(&changes, &Selection::all(resource)).last()
}

#[cfg(test)]
mod tests;
