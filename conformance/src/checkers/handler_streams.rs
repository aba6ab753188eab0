//! The notifications of a handler about a key are legal: an add, updates of one uid from the last known state, a
//! delete.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{Heard, Key, Notified, Observation, State, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut handlers: BTreeMap<(usize, usize), Handler> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::HandlerJoins {
                informer,
                handler,
                merges,
                ..
            } => {
                handlers.entry((*informer, *handler)).or_default().merges = *merges;
            }
            Observation::HandlerLeaves { informer, handler } => {
                let handler = handlers.entry((*informer, *handler)).or_default();
                handler.has_left = true;
                // On several threads, a call may have begun before.
                handler.call_count_max = usize::from(!trace.lateness().is_zero());
            }
            Observation::Notified(notified) => {
                let place = (notified.informer, notified.handler);
                let handler = handlers.entry(place).or_default();
                for text in handler.hear(notified) {
                    findings.push(Finding::at(number, format!("{notified}: {text}")));
                }
            }
            _ => {}
        }
    }
    findings
}

/// The knowledge of one handler.
#[derive(Default)]
struct Handler {
    known: BTreeMap<Key, State>,
    /// True after a notification that is no part of the initial state, which is complete then.
    is_past_initial: bool,
    has_left: bool,
    /// True if changes that wait for it are merged: of those before a deletion it is not notified.
    merges: bool,
    /// The number of calls that may end after it left.
    call_count_max: usize,
    /// Keys with an illegal notification: each is reported once.
    confused: BTreeSet<Key>,
}

// === impl Handler ===

impl Handler {
    fn hear(&mut self, notified: &Notified) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.has_left {
            match self.call_count_max.checked_sub(1) {
                Some(count) => self.call_count_max = count,
                None => wrong.push("notified after it left".to_owned()),
            }
        }
        let known = self.known.get(&notified.key);
        match &notified.heard {
            Heard::Added { new, is_initial } => {
                if let Some(known) = known {
                    wrong.push(format!("added although known as {known}"));
                }
                if *is_initial && self.is_past_initial {
                    wrong.push("in the initial list after later news".to_owned());
                }
                self.is_past_initial |= !is_initial;
                self.known.insert(notified.key.clone(), new.clone());
            }
            Heard::Updated { old, new } => {
                match known {
                    None => wrong.push("updated although unknown".to_owned()),
                    Some(known) if known != old => {
                        wrong.push(format!("updated from another state than {known}"));
                    }
                    Some(_) => {}
                }
                if old.uid != new.uid {
                    wrong.push("updated to another uid".to_owned());
                }
                if new.revision < old.revision {
                    wrong.push("updated to an older version".to_owned());
                }
                self.known.insert(notified.key.clone(), new.clone());
            }
            Heard::Deleted { last, is_tombstone } => {
                self.is_past_initial = true;
                wrong.extend(self.deleted(known, last.as_ref(), *is_tombstone));
                self.known.remove(&notified.key);
            }
        }
        if !wrong.is_empty() && !self.confused.insert(notified.key.clone()) {
            wrong.clear();
        }
        wrong
    }

    fn deleted(
        &self,
        known: Option<&State>,
        last: Option<&State>,
        is_tombstone: bool,
    ) -> Option<String> {
        let Some(known) = known else {
            return Some("deleted although unknown".to_owned());
        };
        let may_be_last =
            |last: &State| last == known || self.merges && last.revision > known.revision;
        match last {
            None => Some("deleted without its last state".to_owned()),
            Some(last) if last.uid != known.uid => Some(format!("deleted as another than {known}")),
            Some(last) if is_tombstone && !may_be_last(last) => {
                Some(format!("the last known state is {known}"))
            }
            Some(last) if !is_tombstone && last.revision <= known.revision => Some(format!(
                "deleted without the version of the deletion; known as {known}"
            )),
            Some(_) => None,
        }
    }
}
