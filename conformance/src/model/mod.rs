//! The oracle: the state of the server at each of its revisions, folded from its log.

use std::{collections::BTreeMap, ops::Bound};

use crate::{
    plan::{Resource, Selection},
    trace::{Change, Key, Observation, Side, State, Trace},
};

/// The server's log within one informer's selection.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The moments of each key, in order of revision.
    keys: BTreeMap<Key, Vec<Moment>>,
    /// The key of each moment, by its revision.
    revisions: BTreeMap<u64, Key>,
}

/// A change of one key within a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// The revision of the change.
    pub revision: u64,
    /// The state from then on; `None` if the object left the selection, by a label or by its deletion.
    pub state: Option<State>,
}

/// The histories of all informers in a trace.
#[derive(Clone, Debug, Default)]
pub struct Model {
    histories: BTreeMap<usize, Histories>,
}

#[derive(Clone, Debug)]
struct Histories {
    own: History,
    /// The history of what the server sends, if the informer leaves some of it out.
    served: Option<History>,
    /// The history of the objects that the informer cannot decode.
    undecodable: History,
}

// === impl Model ===

impl Model {
    /// Folds the log in `trace`.
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
                } => Some((*informer, Histories::of(&changes, selection))),
                _ => None,
            });
        Self {
            histories: histories.collect(),
        }
    }

    /// Returns the history that an informer should have seen.
    pub fn history(&self, informer: usize) -> Option<&History> {
        Some(&self.histories.get(&informer)?.own)
    }

    /// Returns the history of the objects that an informer cannot decode, of those that the server sends.
    pub fn undecodable(&self, informer: usize) -> Option<&History> {
        Some(&self.histories.get(&informer)?.undecodable)
    }

    /// Returns the history that the server should have sent to an informer, which may leave some of it out.
    pub fn served(&self, informer: usize) -> Option<&History> {
        let histories = self.histories.get(&informer)?;
        Some(histories.served.as_ref().unwrap_or(&histories.own))
    }

    /// Returns the informers in order.
    pub fn informers(&self) -> impl Iterator<Item = (usize, &History)> {
        self.histories
            .iter()
            .map(|(informer, histories)| (*informer, &histories.own))
    }
}

// === impl Histories ===

impl Histories {
    fn of(changes: &[&Change], selection: &Selection) -> Self {
        let served = selection.served();
        let undecodable = if selection.is_strict {
            History::among(changes, &served, |side| side.is_spoiled)
        } else {
            History::default()
        };
        Self {
            own: History::of(changes, selection),
            served: (served != *selection).then(|| History::of(changes, &served)),
            undecodable,
        }
    }
}

// === impl History ===

impl History {
    /// Selects the part of `changes`, in order of revision, that concerns `selection`.
    pub fn of(changes: &[&Change], selection: &Selection) -> Self {
        Self::among(changes, selection, |_| true)
    }

    /// Selects the same part, and of it the objects that are `wanted`.
    fn among(changes: &[&Change], selection: &Selection, wanted: fn(&Side) -> bool) -> Self {
        let mut history = Self::default();
        for change in changes {
            if change.resource != selection.resource {
                continue;
            }
            let contains = |side: &Side| {
                let label = side.label.as_deref();
                selection.contains(&change.namespace, label, side.is_spoiled) && wanted(side)
            };
            let was = change.before.as_ref().is_some_and(contains);
            let is = change.after.as_ref().filter(|side| contains(side));
            let state = is.map(|side| State::new(side.uid.clone(), change.revision));
            if was || state.is_some() {
                history.push(change, state);
            }
        }
        history
    }

    /// Returns the state of the selection at `revision`.
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

    /// Returns the state of the selection at the end.
    pub fn last(&self) -> BTreeMap<Key, State> {
        self.at(u64::MAX)
    }

    /// Returns the moments of a key.
    pub fn moments(&self, key: &str) -> &[Moment] {
        self.keys.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the key was ever in exactly this state.
    pub fn has_been(&self, key: &str, state: &State) -> bool {
        self.moments(key)
            .iter()
            .any(|moment| moment.state.as_ref() == Some(state))
    }

    /// Returns the revision of the first departure of a key from the selection after `revision`.
    pub fn departure_after(&self, key: &str, revision: u64) -> Option<u64> {
        self.moments(key)
            .iter()
            .find(|moment| moment.revision > revision && moment.state.is_none())
            .map(|moment| moment.revision)
    }

    /// Returns the revisions after `from` up to `to` with a change, each with its key.
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

/// Folds the log for one resource, without a selection: the objects of the server at the end.
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
