//! A handler that knows an object is notified of its deletion: the fold of all notifications equals the server.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::{
    model::Model,
    trace::{Key, NotifiedChange, Observation, State, Trace},
};

/// The fold of a handler's notifications.
type HandlerFold = BTreeMap<Key, State>;

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut folds: BTreeMap<(usize, usize), HandlerFold> = BTreeMap::new();
    let mut left = BTreeSet::new();
    for observation in trace.observations() {
        match observation {
            Observation::HandlerJoins {
                informer, handler, ..
            } => {
                folds.insert((*informer, *handler), HandlerFold::new());
            }
            Observation::HandlerLeaves { informer, handler } => {
                left.insert((*informer, *handler));
            }
            Observation::Notified(notified) => {
                let fold = folds
                    .entry((notified.informer, notified.handler))
                    .or_default();
                match &notified.change {
                    NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => {
                        fold.insert(notified.key.clone(), new.clone());
                    }
                    NotifiedChange::Deleted { .. } => {
                        fold.remove(&notified.key);
                    }
                }
            }
            _ => {}
        }
    }
    let mut findings = Vec::new();
    for (place @ (informer, handler), fold) in folds {
        // A handler that left is not notified of the rest.
        let Some(history) = model.history(informer).filter(|_| !left.contains(&place)) else {
            continue;
        };
        let mut want = history.last();
        for (key, folded) in fold {
            let who = format!("handler {informer}.{handler}");
            match want.remove(&key) {
                Some(state) if state == folded => {}
                Some(state) => findings.push(Finding::whole(format!(
                    "{who} was last notified of {key} as {folded}, server's log has {state}"
                ))),
                None => findings.push(Finding::whole(format!(
                    "{who} was never notified of the end of {key}, known as {folded}"
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
