//! Whoever heard of an object hears of its end: the fold of what a handler was told equals the server.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::{
    model::Model,
    trace::{Heard, Key, Observation, State, Trace},
};

/// What a handler was told of, folded.
type Folded = BTreeMap<Key, State>;

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut folds: BTreeMap<(usize, usize), Folded> = BTreeMap::new();
    let mut left = BTreeSet::new();
    for observation in trace.observations() {
        match observation {
            Observation::HandlerJoins {
                informer, handler, ..
            } => {
                folds.insert((*informer, *handler), Folded::new());
            }
            Observation::HandlerLeaves { informer, handler } => {
                left.insert((*informer, *handler));
            }
            Observation::Notified(notified) => {
                let fold = folds
                    .entry((notified.informer, notified.handler))
                    .or_default();
                match &notified.heard {
                    Heard::Added { new, .. } | Heard::Updated { new, .. } => {
                        fold.insert(notified.key.clone(), new.clone());
                    }
                    Heard::Deleted { .. } => {
                        fold.remove(&notified.key);
                    }
                }
            }
            _ => {}
        }
    }
    let mut findings = Vec::new();
    for (place @ (informer, handler), fold) in folds {
        // Who left need not hear how it went on.
        let Some(history) = model.history(informer).filter(|_| !left.contains(&place)) else {
            continue;
        };
        let mut want = history.last();
        for (key, told) in fold {
            let who = format!("handler {informer}.{handler}");
            match want.remove(&key) {
                Some(state) if state == told => {}
                Some(state) => findings.push(Finding::whole(format!(
                    "{who} last heard of {key} as {told}, server's log has {state}"
                ))),
                None => findings.push(Finding::whole(format!(
                    "{who} never heard of the end of {key}, known as {told}"
                ))),
            }
        }
        for (key, state) in want {
            findings.push(Finding::whole(format!(
                "handler {informer}.{handler} does not know of {key}, server's log has {state}"
            )));
        }
    }
    findings
}
