//! The notifications of a handler about a key are legal: an add, updates of one uid from the last known state, a
//! delete.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{HandlerNotification, Key, NotifiedChange, Observation, State, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
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
    last_state: BTreeMap<Key, State>,
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
    fn hear(&mut self, notified: &HandlerNotification) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.has_left {
            match self.call_count_max.checked_sub(1) {
                Some(count) => self.call_count_max = count,
                None => wrong.push("notified after it left".to_owned()),
            }
        }
        let last_state = self.last_state.get(&notified.key);
        match &notified.change {
            NotifiedChange::Added { new, is_initial } => {
                if let Some(last_state) = last_state {
                    wrong.push(format!("added although known as {last_state}"));
                }
                if *is_initial && self.is_past_initial {
                    wrong.push("in the initial list after later news".to_owned());
                }
                self.is_past_initial |= !is_initial;
                self.last_state.insert(notified.key.clone(), new.clone());
            }
            NotifiedChange::Updated { old, new } => {
                match last_state {
                    None => wrong.push("updated although unknown".to_owned()),
                    Some(last_state) if last_state != old => {
                        wrong.push(format!("updated from another state than {last_state}"));
                    }
                    Some(_) => {}
                }
                if old.uid != new.uid {
                    wrong.push("updated to another uid".to_owned());
                }
                if new.revision < old.revision {
                    wrong.push("updated to an older version".to_owned());
                }
                self.last_state.insert(notified.key.clone(), new.clone());
            }
            NotifiedChange::Deleted { last, is_tombstone } => {
                self.is_past_initial = true;
                wrong.extend(self.deleted(last_state, last.as_ref(), *is_tombstone));
                self.last_state.remove(&notified.key);
            }
        }
        if !wrong.is_empty() && !self.confused.insert(notified.key.clone()) {
            wrong.clear();
        }
        wrong
    }

    fn deleted(
        &self,
        last_state: Option<&State>,
        last: Option<&State>,
        is_tombstone: bool,
    ) -> Option<String> {
        let Some(last_state) = last_state else {
            return Some("deleted although unknown".to_owned());
        };
        let may_be_last =
            |last: &State| last == last_state || self.merges && last.revision > last_state.revision;
        match last {
            None => Some("deleted without its last state".to_owned()),
            Some(last) if last.uid != last_state.uid => {
                Some(format!("deleted as another than {last_state}"))
            }
            Some(last) if is_tombstone && !may_be_last(last) => {
                Some(format!("the last known state is {last_state}"))
            }
            Some(last) if !is_tombstone && last.revision <= last_state.revision => Some(format!(
                "deleted without the version of the deletion; known as {last_state}"
            )),
            Some(_) => None,
        }
    }
}
