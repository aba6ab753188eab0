//! The handlers of a factory, and what they know.

use std::collections::BTreeMap;

use super::{Informer, Run};
use crate::trace::{Heard, Key, Member, State};

/// The handlers of all generations.
#[derive(Default)]
pub(super) struct Handlers(BTreeMap<usize, Handler>);

struct Handler {
    informer: Informer,
    known: BTreeMap<Key, State>,
    /// True if it joined between a shutdown and the next start.
    is_waiting: bool,
    has_ended: bool,
}

// === impl Handlers ===

impl Handlers {
    pub(super) fn join(&mut self, handler: usize, informer: Informer, run: Run) {
        let joined = Handler {
            informer,
            known: BTreeMap::new(),
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
        heard: &Heard,
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
        let known = handler.known.get(key).cloned();
        match heard {
            Heard::Added { new, .. } => {
                handler.known.insert(key.clone(), new.clone());
                let known = known?;
                Some(format!(
                    "handler {number} is told of {key} as new: {new}, but knows {known}"
                ))
            }
            Heard::Updated { old, new } => {
                handler.known.insert(key.clone(), new.clone());
                let is_legal = known.as_ref() == Some(old) && old.uid == new.uid && old != new;
                (!is_legal).then(|| {
                    format!(
                        "handler {number} is told of {key}: {old} -> {new}, but knows {known:?}"
                    )
                })
            }
            Heard::Deleted { .. } => {
                handler.known.remove(key);
                let is_unknown = known.is_none();
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
            let known = handler.known.iter();
            known.eq(members.iter().map(|member| (&member.key, &member.state)))
        };
        let present = self.0.iter().filter(|(_, own)| is_present(own));
        let wrong = present.filter(|(_, own)| !knows_all(own));
        wrong
            .map(|(number, own)| {
                let known = &own.known;
                format!("handler {number} knows {known:?}, the cache has {members:?}")
            })
            .collect()
    }
}
