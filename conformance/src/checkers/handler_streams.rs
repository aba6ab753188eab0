//! What a handler hears of a key is legal: an add, updates of one uid from what it was last told, a delete.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::{
    model::Model,
    trace::{Heard, Key, Notified, Observation, State, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let mut handlers: BTreeMap<(usize, usize), Handler> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::HandlerLeaves { informer, handler } => {
                handlers.entry((*informer, *handler)).or_default().has_left = true;
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

/// What one handler knows.
#[derive(Default)]
struct Handler {
    known: BTreeMap<Key, State>,
    /// Whether it was told anything that is no part of the initial state: then that is complete.
    is_past_initial: bool,
    has_left: bool,
    /// Keys it was told of wrongly, so that one mistake is one finding.
    confused: BTreeSet<Key>,
}

// === impl Handler ===

impl Handler {
    fn hear(&mut self, notified: &Notified) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.has_left {
            wrong.push("told after it left".to_owned());
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
                wrong.extend(deleted(known, last.as_ref(), *is_tombstone));
                self.known.remove(&notified.key);
            }
        }
        if !wrong.is_empty() && !self.confused.insert(notified.key.clone()) {
            wrong.clear();
        }
        wrong
    }
}

fn deleted(known: Option<&State>, last: Option<&State>, is_tombstone: bool) -> Option<String> {
    let Some(known) = known else {
        return Some("deleted although unknown".to_owned());
    };
    match last {
        None => Some("deleted without its last state".to_owned()),
        Some(last) if last.uid != known.uid => Some(format!("deleted as another than {known}")),
        Some(last) if is_tombstone && last != known => {
            Some(format!("the last known state is {known}"))
        }
        Some(last) if !is_tombstone && last.revision <= known.revision => Some(format!(
            "deleted without the version of the deletion; known as {known}"
        )),
        Some(_) => None,
    }
}
