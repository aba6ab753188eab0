//! Deletions: an object is removed, or marked and kept until its finalizers are gone and its grace period has ended.
//!
//! Clients delete through admission, and controllers directly: both use this module.

mod finalizers;
mod grace;
mod terminating;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use fakeserver_kinds::{Kind, Removal};
use fakeserver_value::edit::remove;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::finalizers::{
    CLAIM_PROTECTION, CLASS_PROTECTION, FOREGROUND, ORPHAN, VOLUME_PROTECTION, finalizers_of,
    is_deleted, without,
};
use self::{
    finalizers::{finalizers_after_deletion, set_finalizers},
    grace::Grace,
    terminating::{is_held, mark_definition, mark_namespace},
};
use super::{Attempt, DeleteOptions, ExistingObject, Outcome, Propagation, Write};
use crate::store::{StoredObject, Transaction};

/// The parameters of a deletion.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeletionParameters {
    pub grace_period_seconds: Option<i64>,
    pub propagation: Option<Propagation>,
    /// True if the deprecated `orphanDependents` asks to delete dependents.
    pub is_cascading: bool,
    /// True for a dry run.
    pub is_dry_run: bool,
}

/// The effect of a deletion on an object.
#[derive(Debug)]
enum Verdict {
    Unchanged,
    Marked(Value),
    /// The object is deleted. A pod is stored as `marked` first.
    Gone {
        marked: Option<Value>,
        last: Value,
    },
}

// === impl DeletionParameters ===

impl From<&DeleteOptions> for DeletionParameters {
    fn from(options: &DeleteOptions) -> Self {
        Self {
            grace_period_seconds: options.grace_period_seconds,
            propagation: options.propagation(),
            is_cascading: options.orphan_dependents == Some(false),
            is_dry_run: options.is_dry_run,
        }
    }
}

/// Deletes the object of a write that admission has let through, or marks it as deleted.
pub(super) fn store(
    attempt: &mut Attempt<'_, '_>,
    write: &Write<'_>,
    parameters: DeletionParameters,
    stored: &Arc<StoredObject>,
) -> Outcome {
    let (target, now) = (write.target, attempt.now());
    // An object that a webhook converts is marked in the version in which it is stored.
    let converted = target.conversion().map(|_| stored.to_value());
    let old = converted.as_ref().unwrap_or(&write.old);
    delete(attempt, target.rules(), parameters, stored, old, now)
}

/// Deletes `stored`, whose API form is `old`, or marks it as deleted.
pub fn delete(
    tx: &mut Transaction<'_>,
    kind: &Kind,
    parameters: DeletionParameters,
    stored: &Arc<StoredObject>,
    old: &Value,
    now: Timestamp,
) -> Outcome {
    let key = stored.key();
    match decide(kind, parameters, old, now) {
        Verdict::Unchanged => Outcome::Stored(Arc::clone(stored)),
        Verdict::Marked(new) => store_marked(tx, parameters, stored, old, new),
        Verdict::Gone { last, .. } if parameters.is_dry_run => Outcome::Deleted(last),
        Verdict::Gone { marked, mut last } => {
            if let Some(marked) = marked {
                store_marked(tx, parameters, stored, old, marked);
            }
            // The revision of a deletion is the version of the last state, in the response as in the watch event.
            tx.delete(key);
            last["metadata"]["resourceVersion"] = json!(tx.revision().to_string());
            Outcome::Deleted(last)
        }
    }
}

/// Returns the options of the deletion of `existing` as admission sees them: with the defaults that upstream's registry has
/// filled in by then.
pub fn options_for_admission(
    kind: &Kind,
    options: &DeleteOptions,
    existing: &ExistingObject,
    now: Timestamp,
) -> DeleteOptions {
    let mut options = options.clone();
    match kind.habits.removal {
        Removal::AfterContent | Removal::AfterInstances => {
            let uid = &mut options.preconditions.uid;
            uid.get_or_insert_with(|| existing.stored.uid().to_owned());
        }
        Removal::Graceful => {
            let requested = options.grace_period_seconds;
            let grace = Grace::of_pod(&existing.object, requested, now);
            options.grace_period_seconds = match grace {
                Grace::Seconds { seconds, .. } => Some(seconds),
                Grace::None | Grace::Pending => requested.map(grace::positive),
            };
        }
        Removal::Immediate => {
            let requested = options.grace_period_seconds;
            options.grace_period_seconds = requested.map(grace::positive);
        }
    }
    options
}

/// Returns whether a deletion of `old` leaves it as it is: it terminates already. Admission is not asked about one.
pub fn is_without_effect(
    kind: &Kind,
    parameters: DeletionParameters,
    old: &Value,
    now: Timestamp,
) -> bool {
    match kind.habits.removal {
        Removal::Graceful => {
            let grace = Grace::of_pod(old, parameters.grace_period_seconds, now);
            matches!(grace, Grace::Pending)
        }
        Removal::AfterContent => is_deleted(old) && is_held(old),
        _ => false,
    }
}

/// Deletes `objects` without grace, or marks those that finalizers keep: what goes with what it belongs to.
pub fn delete_all(tx: &mut Transaction<'_>, objects: Vec<Arc<StoredObject>>, now: &str) {
    for object in objects {
        // Without grace and propagation, as upstream deletes the instances of a definition.
        let mut value = object.to_value();
        if finalizers_of(&value).is_empty() {
            tx.delete(object.key());
        } else if !is_deleted(&value) {
            mark_deleted(&mut value, now);
            tx.put(object.key(), value);
        }
    }
}

/// Returns whether an object that becomes `new` was only kept by finalizers that are gone now.
pub fn is_finished(kind: &Kind, old: &Value, new: &Value) -> bool {
    let grace = &old["metadata"]["deletionGracePeriodSeconds"];
    is_deleted(old)
        // A pod whose grace period has not ended stays, even without finalizers: its kubelet deletes it.
        && grace.as_i64().unwrap_or_default() == 0
        && finalizers_of(new).is_empty()
        && (kind.habits.removal != Removal::AfterContent || !is_held(new))
}

fn decide(kind: &Kind, parameters: DeletionParameters, old: &Value, now: Timestamp) -> Verdict {
    let now_text = grace::after(now, 0).to_string();
    let mut new = old.clone();
    // Namespaces and definitions are first: they ignore the grace period and the propagation of the request.
    if kind.habits.removal == Removal::AfterContent && is_held(old) {
        mark_namespace(&mut new, &now_text, parameters.is_cascading);
        return Verdict::Marked(new);
    }
    if kind.habits.removal == Removal::AfterInstances {
        if !is_deleted(old) {
            mark_definition(&mut new, &now_text);
        }
        return Verdict::Marked(new);
    }
    // Only pods have a grace period; for other kinds upstream ignores `gracePeriodSeconds`.
    let grace = if kind.habits.removal == Removal::Graceful {
        Grace::of_pod(old, parameters.grace_period_seconds, now)
    } else {
        Grace::None
    };
    // Before the finalizers: a deletion that does not shorten the grace period has no effect at all, not even by its
    // propagation.
    if matches!(grace, Grace::Pending) {
        return Verdict::Unchanged;
    }
    // Before the object is marked: whether it stays depends on the finalizers that the propagation adds.
    let finalizers = finalizers_after_deletion(kind, parameters.propagation, old);
    let has_finalizers = !finalizers.is_empty();
    if finalizers_of(old) != finalizers {
        set_finalizers(&mut new, &finalizers);
    }
    match grace {
        Grace::Seconds { deadline, seconds } => {
            mark(&mut new, &deadline.to_string(), seconds);
            // A pod without a grace period is marked and deleted at once, as by upstream: watchers see both events.
            if seconds > 0 || has_finalizers {
                return Verdict::Marked(new);
            }
            Verdict::Gone {
                marked: Some(new.clone()),
                last: new,
            }
        }
        _ if has_finalizers => {
            mark_deleted(&mut new, &now_text);
            Verdict::Marked(new)
        }
        _ => Verdict::Gone {
            marked: None,
            last: new,
        },
    }
}

/// Stores the marked object `new`, unless it is unchanged or the write is a dry run.
fn store_marked(
    tx: &mut Transaction<'_>,
    parameters: DeletionParameters,
    stored: &Arc<StoredObject>,
    old: &Value,
    mut new: Value,
) -> Outcome {
    if *old == new {
        Outcome::Stored(Arc::clone(stored))
    } else if parameters.is_dry_run {
        Outcome::Object(new)
    } else {
        // A custom object stays in the version in which it is stored, whatever the version of the request.
        remove(&mut new, "apiVersion");
        Outcome::Stored(tx.put(stored.key(), new))
    }
}

/// Makes an object one that only its finalizers keep.
fn mark_deleted(object: &mut Value, now: &str) {
    // A deletion never moves the timestamp to a later time; a pod's may lie in the future, by its grace period.
    let is_earlier = |timestamp: &Value| timestamp.as_str().is_some_and(|text| text <= now);
    let timestamp = &object["metadata"]["deletionTimestamp"];
    let timestamp = if is_earlier(timestamp) {
        timestamp.as_str().unwrap_or_default().to_owned()
    } else {
        now.to_owned()
    };
    mark(object, &timestamp, 0);
}

/// Marks an object as deleted. The first time increments its generation, if it has one.
fn mark(object: &mut Value, timestamp: &str, grace_seconds: i64) {
    let metadata = &mut object["metadata"];
    let generation = metadata["generation"].as_i64().unwrap_or_default();
    // Once: the deletion is a change of the desired state, which `observedGeneration` has to be able to follow.
    if metadata["deletionTimestamp"].is_null() && generation > 0 {
        metadata["generation"] = json!(generation + 1);
    }
    metadata["deletionTimestamp"] = json!(timestamp);
    metadata["deletionGracePeriodSeconds"] = json!(grace_seconds);
}
