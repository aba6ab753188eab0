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
use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::finalizers::{
    CLAIM_PROTECTION, CLASS_PROTECTION, FOREGROUND, ORPHAN, VOLUME_PROTECTION, finalizers_of,
    is_deleted, without,
};
use self::{
    finalizers::{set_finalizers, wanted},
    grace::Grace,
    terminating::{is_held, mark_definition, mark_namespace},
};
use super::{Attempt, DeleteOptions, Outcome, Propagation, Write};
use crate::store::{StoredObject, Transaction};

/// The parameters of a deletion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub grace_period_seconds: Option<i64>,
    pub propagation: Option<Propagation>,
    /// Nothing is written.
    pub is_dry_run: bool,
}

/// The effect of a deletion on an object.
#[derive(Debug)]
enum Verdict {
    Unchanged,
    Marked(Value),
    /// It goes, having been stored as `marked` before if it is a pod.
    Gone {
        marked: Option<Value>,
        last: Value,
    },
}

// === impl Wanted ===

impl From<&DeleteOptions> for Wanted {
    fn from(options: &DeleteOptions) -> Self {
        Self {
            grace_period_seconds: options.grace_period_seconds,
            propagation: options.propagation,
            is_dry_run: options.is_dry_run,
        }
    }
}

/// Deletes the object of a write that admission has let through, or marks it as deleted.
pub(super) fn store(
    attempt: &mut Attempt<'_, '_>,
    write: &Write<'_>,
    wanted: Wanted,
    stored: &Arc<StoredObject>,
) -> Outcome {
    let (target, now) = (write.target, attempt.now());
    // An object that a webhook converts is marked in the version in which it is stored.
    let converted = target.conversion().map(|_| stored.to_value());
    let old = converted.as_ref().unwrap_or(&write.old);
    delete(attempt, target.rules(), wanted, stored, old, now)
}

/// Deletes `stored`, which its type shows as `old`, or marks it as deleted.
pub fn delete(
    tx: &mut Transaction<'_>,
    kind: &Kind,
    wanted: Wanted,
    stored: &Arc<StoredObject>,
    old: &Value,
    now: Timestamp,
) -> Outcome {
    let key = stored.key();
    match decide(kind, wanted, old, now) {
        Verdict::Unchanged => Outcome::Stored(Arc::clone(stored)),
        Verdict::Marked(new) => keep(tx, wanted, stored, old, new),
        Verdict::Gone { last, .. } if wanted.is_dry_run => Outcome::Deleted(last),
        Verdict::Gone { marked, mut last } => {
            if let Some(marked) = marked {
                keep(tx, wanted, stored, old, marked);
            }
            tx.delete(key);
            last["metadata"]["resourceVersion"] = json!(tx.revision().to_string());
            Outcome::Deleted(last)
        }
    }
}

/// Deletes `objects` without grace, or marks those that finalizers keep: what goes with what it belongs to.
pub fn delete_all(tx: &mut Transaction<'_>, objects: Vec<Arc<StoredObject>>, now: &str) {
    for object in objects {
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
        && grace.as_i64().unwrap_or_default() == 0
        && finalizers_of(new).is_empty()
        && (kind.habits.removal != Removal::AfterContent || !is_held(new))
}

fn decide(kind: &Kind, asked: Wanted, old: &Value, now: Timestamp) -> Verdict {
    let now_text = grace::after(now, 0).to_string();
    let mut new = old.clone();
    if kind.habits.removal == Removal::AfterContent && is_held(old) {
        mark_namespace(&mut new, &now_text);
        return Verdict::Marked(new);
    }
    if kind.habits.removal == Removal::AfterInstances {
        if !is_deleted(old) {
            mark_definition(&mut new, &now_text);
        }
        return Verdict::Marked(new);
    }
    let grace = if kind.habits.removal == Removal::Graceful {
        Grace::of_pod(old, asked.grace_period_seconds, now)
    } else {
        Grace::None
    };
    if matches!(grace, Grace::Pending) {
        return Verdict::Unchanged;
    }
    let finalizers = wanted(kind, asked.propagation, old);
    let has_finalizers = !finalizers.is_empty();
    if finalizers_of(old) != finalizers {
        set_finalizers(&mut new, &finalizers);
    }
    match grace {
        Grace::Seconds { deadline, seconds } => {
            mark(&mut new, &deadline.to_string(), seconds);
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

/// Stores `new`, unless it is what is stored, or nothing is to be.
fn keep(
    tx: &mut Transaction<'_>,
    wanted: Wanted,
    stored: &Arc<StoredObject>,
    old: &Value,
    new: Value,
) -> Outcome {
    if *old == new {
        Outcome::Stored(Arc::clone(stored))
    } else if wanted.is_dry_run {
        Outcome::Shown(new)
    } else {
        Outcome::Stored(tx.put(stored.key(), new))
    }
}

/// Makes an object one that only its finalizers keep.
fn mark_deleted(object: &mut Value, now: &str) {
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
    if metadata["deletionTimestamp"].is_null() && generation > 0 {
        metadata["generation"] = json!(generation + 1);
    }
    metadata["deletionTimestamp"] = json!(timestamp);
    metadata["deletionGracePeriodSeconds"] = json!(grace_seconds);
}
