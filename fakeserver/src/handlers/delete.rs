//! DELETE of an object.
//!
//! An object without finalizers goes at once. One with finalizers, or a pod on a node, is marked and stays until these are
//! gone, or the pod is deleted without grace.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Call, definitions, namespaces,
    write::{Outcome, remove},
};
use crate::{
    request::{DeleteOptions, Propagation, parse_delete_options},
    response::{Encoding, Shape},
    status::{Named, Status, Success},
    storage::{ObjectKey, StoredObject, Transaction},
};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What a delete has come to.
#[derive(Debug)]
pub(super) enum Deletion {
    /// The object is gone; this was its last state.
    Gone(Value),
    /// It is marked, and stays for now.
    Kept(Outcome),
}

/// Deletes the object, or marks it as deleted.
pub(super) fn delete(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = options(call, body)?;
    let named = call.named(call.name());
    let is_namespace = call.strategy().is_namespace();
    if is_namespace {
        namespaces::check_mortal(named)?;
    }
    let (uid, deletion) = call.server.core.storage.transact(|tx| {
        let key = call.key(call.name());
        let existing = tx.get(&key).ok_or_else(|| Status::not_found(named))?;
        let uid = existing.uid().to_owned();
        Ok::<_, Status>((uid, delete_in(call, tx, &options, &key, &existing)?))
    })?;
    if is_namespace && matches!(deletion, Deletion::Kept(Outcome::Stored(_))) {
        namespaces::empty_later(call.server, call.name(), &uid);
    }
    if call.strategy().is_definition() && !options.is_dry_run {
        definitions::clean_up_later(call.server, call.name(), &uid);
    }
    Ok(answer(call, &encoding, &deletion, uid))
}

/// The options of a delete, from the body if there is one.
pub(super) fn options(call: &Call<'_>, body: &[u8]) -> Result<DeleteOptions, Status> {
    let body = parse_delete_options(call.headers, body)?;
    DeleteOptions::parse(&call.query, body.as_ref())
}

fn answer(call: &Call<'_>, encoding: &Encoding, deletion: &Deletion, uid: String) -> Response {
    match deletion {
        Deletion::Kept(outcome) => call.answer(StatusCode::OK, encoding, outcome, &[]),
        Deletion::Gone(object) if call.strategy().returns_deleted() => {
            let outcome = Outcome::Shown(object.clone());
            call.answer(StatusCode::OK, encoding, &outcome, &[])
        }
        Deletion::Gone(_) => {
            let success = Success::of(call.named(call.name()), uid);
            call.succeed(StatusCode::OK, encoding, &success)
        }
    }
}

/// Deletes what is stored under `key`, or marks it as deleted.
pub(super) fn delete_in(
    call: &Call<'_>,
    tx: &mut Transaction<'_>,
    options: &DeleteOptions,
    key: &ObjectKey,
    existing: &Arc<StoredObject>,
) -> Result<Deletion, Status> {
    let old = call.shown(existing);
    check_preconditions(call, options, existing)?;
    let now = call.server.core.clock.now();
    if call.strategy().is_namespace() {
        let is_held = old["spec"]["finalizers"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if is_held {
            let mut new = old.clone();
            namespaces::mark_terminating(&mut new, &call.server.core.clock.now_text());
            return Ok(Deletion::Kept(keep(tx, options, key, existing, &old, new)));
        }
    }

    if call.strategy().is_definition() {
        let mut new = old.clone();
        if old["metadata"]["deletionTimestamp"].is_null() {
            definitions::mark_terminating(&mut new, &call.server.core.clock.now_text());
        }
        return Ok(Deletion::Kept(keep(tx, options, key, existing, &old, new)));
    }

    let grace = if call.strategy().is_pod() {
        Grace::of_pod(&old, options, now)
    } else {
        Grace::None
    };
    if matches!(grace, Grace::Pending) {
        return Ok(Deletion::Kept(Outcome::Stored(Arc::clone(existing))));
    }
    let mut new = old.clone();
    let finalizers = if call.strategy().is_garbage_collected() {
        finalizers_for(options.propagation, &old)
    } else {
        finalizers_of(&old)
    };
    let has_finalizers = !finalizers.is_empty();
    if finalizers_of(&old) != finalizers {
        if has_finalizers {
            new["metadata"]["finalizers"] = json!(finalizers);
        } else {
            remove(&mut new["metadata"], "finalizers");
        }
    }
    if let Grace::Seconds { deadline, seconds } = grace {
        mark(&mut new, &deadline.to_string(), seconds);
        let stored = keep(tx, options, key, existing, &old, new.clone());
        if seconds > 0 || has_finalizers {
            return Ok(Deletion::Kept(stored));
        }
    } else if has_finalizers {
        mark_deleted(&mut new, &call.server.core.clock.now_text());
        return Ok(Deletion::Kept(keep(tx, options, key, existing, &old, new)));
    }
    if !options.is_dry_run {
        tx.delete(key);
        new["metadata"]["resourceVersion"] = json!(tx.revision().to_string());
        if let Some(namespace) = key.namespace() {
            namespaces::end_if_empty(tx, namespace);
        }
    }
    Ok(Deletion::Gone(new))
}

/// Stores `new`, unless it is what is stored, or nothing is to be.
fn keep(
    tx: &mut Transaction<'_>,
    options: &DeleteOptions,
    key: &ObjectKey,
    existing: &Arc<StoredObject>,
    old: &Value,
    new: Value,
) -> Outcome {
    if *old == new {
        Outcome::Stored(Arc::clone(existing))
    } else if options.is_dry_run {
        Outcome::Shown(new)
    } else {
        Outcome::Stored(tx.put(key, new))
    }
}

/// Whether the object is the one that the client means. The kind stands where the resource would.
fn check_preconditions(
    call: &Call<'_>,
    options: &DeleteOptions,
    existing: &StoredObject,
) -> Result<(), Status> {
    let named = Named {
        resource: &call.resource.kind,
        group: &call.resource.group,
        name: existing.name(),
    };
    let preconditions = &options.preconditions;
    if let Some(uid) = &preconditions.uid
        && uid != existing.uid()
    {
        return Err(Status::conflict(
            named,
            &format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                existing.uid()
            ),
        ));
    }
    if let Some(version) = &preconditions.resource_version
        && *version != existing.revision().to_string()
    {
        return Err(Status::conflict(
            named,
            &format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
                 The object might have been modified",
                existing.revision()
            ),
        ));
    }
    Ok(())
}

/// Deletes `objects` in `tx`, or marks those that finalizers keep: what goes with what it belongs to.
pub(super) fn delete_all(tx: &mut Transaction<'_>, objects: Vec<Arc<StoredObject>>, now: &str) {
    for object in objects {
        let mut value = object.to_value();
        if finalizers_of(&value).is_empty() {
            tx.delete(object.key());
        } else if value["metadata"]["deletionTimestamp"].is_null() {
            mark_deleted(&mut value, now);
            tx.put(object.key(), value);
        }
    }
}

/// Makes an object one that only its finalizers keep.
pub(super) fn mark_deleted(object: &mut Value, now: &str) {
    let is_earlier = |timestamp: &Value| timestamp.as_str().is_some_and(|text| text <= now);
    let timestamp = &object["metadata"]["deletionTimestamp"];
    let timestamp = if is_earlier(timestamp) {
        timestamp.as_str().unwrap_or_default().to_owned()
    } else {
        now.to_owned()
    };
    mark(object, &timestamp, 0);
}

/// Marks an object as deleted. The first time counts as a change of what is wanted.
fn mark(object: &mut Value, timestamp: &str, grace_seconds: i64) {
    let metadata = &mut object["metadata"];
    let generation = metadata["generation"].as_i64().unwrap_or_default();
    if metadata["deletionTimestamp"].is_null() && generation > 0 {
        metadata["generation"] = json!(generation + 1);
    }
    metadata["deletionTimestamp"] = json!(timestamp);
    metadata["deletionGracePeriodSeconds"] = json!(grace_seconds);
}

fn finalizers_of(object: &Value) -> Vec<String> {
    let finalizers = object["metadata"]["finalizers"].as_array();
    finalizers
        .into_iter()
        .flatten()
        .filter_map(|finalizer| finalizer.as_str().map(str::to_owned))
        .collect()
}

/// The finalizers of an object that is deleted with `propagation`: what the collector of garbage waits for.
///
/// What was asked before stays, unless something else is asked now.
fn finalizers_for(propagation: Option<Propagation>, object: &Value) -> Vec<String> {
    let present = finalizers_of(object);
    let has = |name: &str| present.iter().any(|finalizer| finalizer == name);
    let (orphans, waits) = match propagation {
        Some(propagation) => (
            propagation == Propagation::Orphan,
            propagation == Propagation::Foreground,
        ),
        None => (has(ORPHAN), has(FOREGROUND) && !has(ORPHAN)),
    };
    let wanted = [(ORPHAN, orphans), (FOREGROUND, waits)];
    let is_kept = |finalizer: &String| ![ORPHAN, FOREGROUND].contains(&finalizer.as_str());
    let is_same = wanted
        .iter()
        .all(|(name, is_wanted)| has(name) == *is_wanted);
    if is_same {
        return present;
    }
    let added = wanted
        .iter()
        .filter(|(_, is_wanted)| *is_wanted)
        .map(|(name, _)| (*name).to_owned());
    present
        .iter()
        .filter(|f| is_kept(f))
        .cloned()
        .chain(added)
        .collect()
}

/// How long a pod may take to stop.
#[derive(Clone, Copy, Debug)]
enum Grace {
    /// It is no pod, or one that has no time left: the delete goes on.
    None,
    /// It is stopping already, and this delete would not make it stop earlier.
    Pending,
    Seconds {
        deadline: Timestamp,
        seconds: i64,
    },
}

// === impl Grace ===

impl Grace {
    fn of_pod(pod: &Value, options: &DeleteOptions, now: Timestamp) -> Self {
        let metadata = &pod["metadata"];
        if let Some(deleted) = metadata["deletionTimestamp"].as_str() {
            let left = metadata["deletionGracePeriodSeconds"]
                .as_i64()
                .unwrap_or_default();
            return match options.grace_period_seconds {
                _ if left == 0 => Self::None,
                Some(asked) if asked < left => Self::shortened(deleted, left, asked.max(0)),
                _ => Self::Pending,
            };
        }
        let spec = &pod["spec"];
        let is_running = spec["nodeName"]
            .as_str()
            .is_some_and(|node| !node.is_empty())
            && !matches!(
                pod["status"]["phase"].as_str(),
                Some("Succeeded" | "Failed")
            );
        let asked = options
            .grace_period_seconds
            .or_else(|| spec["terminationGracePeriodSeconds"].as_i64())
            .unwrap_or_default();
        let seconds = match asked {
            _ if !is_running => 0,
            asked if asked < 0 => 1,
            asked => asked,
        };
        Self::Seconds {
            deadline: after(now, seconds),
            seconds,
        }
    }

    /// The deadline of a pod that was to have `left` seconds, and now has `asked`.
    fn shortened(deadline: &str, left: i64, asked: i64) -> Self {
        match deadline.parse::<Timestamp>() {
            Ok(deadline) => Self::Seconds {
                deadline: after(deadline, asked - left),
                seconds: asked,
            },
            Err(_) => Self::None,
        }
    }
}

/// In whole seconds, as objects write times.
fn after(time: Timestamp, seconds: i64) -> Timestamp {
    let moved = time
        .checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX);
    Timestamp::from_second(moved.as_second()).unwrap_or(moved)
}
