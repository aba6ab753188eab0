//! The handlers of a factory, and what they know.

use std::collections::BTreeMap;

use super::{Informer, Run};
use crate::trace::{Key, Member, NotifiedChange, State};

/// The handlers of all generations.
#[derive(Default)]
pub(super) struct Handlers(BTreeMap<usize, Handler>);

struct Handler {
    informer: Informer,
    states: BTreeMap<Key, State>,
    /// True if it joined between a shutdown and the next start.
    is_waiting: bool,
    has_ended: bool,
}

// === impl Handlers ===

impl Handlers {
    pub(super) fn join(&mut self, handler: usize, informer: Informer, run: Run) {
        let joined = Handler {
            informer,
            states: BTreeMap::new(),
            is_waiting: run == Run::Stopped,
            has_ended: false,
        };
        self.0.insert(handler, joined);
    }

    pub(super) fn leave(&mut self, handler: usize) {
        if let Some(left) = self.0.get_mut(&handler) {
            left.has_ended = true;
        }
    }

    /// Ends the handlers of an informer.
    pub(super) fn end(&mut self, informer: &Informer) {
        let handlers = self.0.values_mut();
        for handler in handlers.filter(|handler| handler.informer == *informer) {
            handler.has_ended = true;
        }
    }

    pub(super) fn end_all(&mut self) {
        for handler in self.0.values_mut() {
            handler.has_ended = true;
        }
    }

    /// Takes a start, from which on all handlers are notified.
    pub(super) fn start(&mut self) {
        for handler in self.0.values_mut() {
            handler.is_waiting = false;
        }
    }

    pub(super) fn is_waiting(&self, handler: usize) -> bool {
        self.0.get(&handler).is_some_and(|own| own.is_waiting)
    }

    /// Takes a notification, and describes its violation.
    pub(super) fn hear(
        &mut self,
        number: usize,
        key: &Key,
        change: &NotifiedChange,
        run: Run,
    ) -> Option<String> {
        let handler = self.0.get_mut(&number).filter(|own| !own.has_ended);
        let Some(handler) = handler else {
            return Some(format!("handler {number} is told of {key} after its end"));
        };
        if !matches!(run, Run::Running | Run::Stopping) {
            return Some(format!(
                "handler {number} is told of {key} while nothing runs"
            ));
        }
        let states = handler.states.get(key).cloned();
        match change {
            NotifiedChange::Added { new, .. } => {
                handler.states.insert(key.clone(), new.clone());
                let states = states?;
                Some(format!(
                    "handler {number} is told of {key} as new: {new}, but knows {states}"
                ))
            }
            NotifiedChange::Updated { old, new } => {
                handler.states.insert(key.clone(), new.clone());
                let is_legal = states.as_ref() == Some(old) && old.uid == new.uid && old != new;
                (!is_legal).then(|| {
                    format!(
                        "handler {number} is told of {key}: {old} -> {new}, but knows {states:?}"
                    )
                })
            }
            NotifiedChange::Deleted { .. } => {
                handler.states.remove(key);
                let is_unknown = states.is_none();
                is_unknown.then(|| {
                    format!(
                        "handler {number} is told of the deletion of {key}, which it does not know"
                    )
                })
            }
        }
    }

    /// Describes the handlers of an informer that know something else than its cache.
    pub(super) fn compare(&self, informer: &Informer, members: &[Member]) -> Vec<String> {
        let is_present = |handler: &Handler| {
            handler.informer == *informer && !handler.has_ended && !handler.is_waiting
        };
        let knows_all = |handler: &Handler| {
            let states = handler.states.iter();
            states.eq(members.iter().map(|member| (&member.key, &member.state)))
        };
        let present = self.0.iter().filter(|(_, own)| is_present(own));
        let wrong = present.filter(|(_, own)| !knows_all(own));
        wrong
            .map(|(number, own)| {
                let states = &own.states;
                format!("handler {number} knows {states:?}, the cache has {members:?}")
            })
            .collect()
    }
}
