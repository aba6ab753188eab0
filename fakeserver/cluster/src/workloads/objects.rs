//! Helpers shared by workload controllers: owners, templates, conditions, numbers.

use std::{sync::Arc, time::Duration};

pub(super) use fakeserver_server::controllers::kind::ReconciledKind;
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster},
        index::ObjectChange,
        meta::release,
        queue::KeyQueue,
    },
    store::ObjectKey,
};
use fakeserver_value::{
    object::selectors::{LabelSelector, print_label_selector},
    read::text,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The time for which a controller waits for more changes of its dependents.
pub(super) const COALESCED: Duration = Duration::from_millis(20);
/// The maximum number of objects that one reconciliation creates or deletes; then others have their turn.
pub(super) const BURST: usize = 250;

/// Lets the owners of this kind look soon that the changed object has or had.
pub(super) fn enqueue_owners(
    kind: &ReconciledKind,
    change: &ObjectChange<'_>,
    due: &mut KeyQueue<'_>,
) {
    let namespace = change.key().namespace();
    // Both sides: an owner that has lost a dependent looks as well as one that has got it.
    for (_, meta) in [&change.before, &change.after].into_iter().flatten() {
        if let Some(owner) = meta.controller().filter(|owner| owner.kind == kind.name) {
            due.add(kind.key(namespace, &owner.name), COALESCED);
        }
    }
}

/// The pods of an owner: those it manages, and those it adopts because it selects them and they fit. Others are let go.
pub(super) fn claim(
    cluster: &mut Cluster<'_, '_>,
    kind: &ReconciledKind,
    owner: &Value,
    selects: &LabelSelector,
    fits: impl Fn(&Pod) -> bool,
) -> Vec<Arc<Pod>> {
    let uid = text(&owner["metadata"]["uid"]);
    let mut pods = cluster.index.pods.of_controller(uid);
    pods.retain(|pod| {
        let stays = selects.matches(pod.stored.labels());
        if !stays && !pod.is_deleted {
            cluster.update(pod.key(), Actor::CONTROLLER_MANAGER, |pod| {
                release(pod, &[uid]);
            });
        }
        stays
    });
    let namespace = text(&owner["metadata"]["namespace"]);
    for orphan in cluster.index.pods.orphans(namespace) {
        if fits(&orphan) && selects.matches(orphan.stored.labels()) {
            cluster.update(orphan.key(), Actor::CONTROLLER_MANAGER, |pod| {
                adopt(pod, kind, owner);
            });
            pods.push(orphan);
        }
    }
    pods
}

/// Adds `owner` as the controller of an object that may have other owners.
pub(super) fn adopt(object: &mut Value, kind: &ReconciledKind, owner: &Value) {
    let owners = &mut object["metadata"]["ownerReferences"];
    let mut all = owners.as_array().cloned().unwrap_or_default();
    all.push(kind.owner_reference(owner));
    *owners = all.into();
}

/// Returns the generation of an object, if its type has one.
pub(super) fn generation(object: &Value) -> Option<i64> {
    object["metadata"]["generation"].as_i64()
}

/// Returns a number, or `default` without one.
pub(super) fn number(value: &Value, default: i64) -> i64 {
    value.as_i64().unwrap_or(default)
}

/// A count of what there is, as statuses write it.
pub(super) fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// The selector of a workload. One that cannot be read selects nothing.
pub(super) fn selector(workload: &Value) -> Option<LabelSelector> {
    let selector = &workload["spec"]["selector"];
    if selector.is_null() {
        return None;
    }
    LabelSelector::parse(&print_label_selector(selector)).ok()
}

/// A number of pods, or a part of `total` in percent, rounded up or down.
#[doc(alias = "GetScaledValueFromIntOrPercent")]
pub(super) fn part(value: &Value, total: i64, rounds_up: bool) -> i64 {
    let percent = value
        .as_str()
        .and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) if rounds_up => percent.saturating_mul(total).saturating_add(99) / 100,
        Some(percent) => percent.saturating_mul(total) / 100,
        None => number(value, 0),
    }
}

/// Checks that a pod has been ready for `seconds`; otherwise returns the time at which it will have been.
pub(super) fn available(pod: &Pod, seconds: i64, now: Timestamp) -> Result<(), Option<Timestamp>> {
    if !pod.is_ready {
        return Err(None);
    }
    if seconds <= 0 {
        return Ok(());
    }
    let since: Timestamp = pod.ready_since.parse().map_err(|_| None)?;
    let at = since
        .checked_add(SignedDuration::from_secs(seconds))
        .map_err(|_| None)?;
    if at <= now { Ok(()) } else { Err(Some(at)) }
}

/// Counts the pods that have been ready for `seconds`, and returns the time of the next change.
pub(super) fn count_available<'a>(
    pods: impl IntoIterator<Item = &'a Arc<Pod>>,
    seconds: i64,
    now: Timestamp,
) -> (i64, Option<Timestamp>) {
    let (mut up, mut next) = (0, None);
    for pod in pods {
        match available(pod, seconds, now) {
            Ok(()) => up += 1,
            Err(at) => next = [next, at].into_iter().flatten().min(),
        }
    }
    (up, next)
}

/// Has `key` looked at again at `next`, if there is such a time.
pub(super) fn look_again(
    key: &ObjectKey,
    next: Option<Timestamp>,
    now: Timestamp,
    due: &mut KeyQueue<'_>,
) {
    if let Some(next) = next {
        let wait = Duration::try_from(next.duration_since(now)).unwrap_or_default();
        due.add(key.clone(), wait);
    }
}

/// A hash of a template that can stand in names and labels.
#[doc(alias = "ComputeHash")]
pub(crate) fn hash(template: &Value, collisions: i64) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut bytes = template.to_string().into_bytes();
    if collisions > 0 {
        bytes.extend(collisions.to_le_bytes());
    }
    // FNV-1a with 32 bits, as the real one.
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    let digits = hash.to_string();
    let safe = digits
        .bytes()
        .map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]));
    safe.collect()
}

/// A condition of a status: its type, its status, its reason and its message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    /// `True`, `False` or `Unknown`.
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

/// Returns the status of a condition that holds or does not.
pub(super) fn truth(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

/// Sets a condition. Its time of transition stays while its status does.
///
/// `updated` is the name of the field that tells when anything of it was last changed.
pub(super) fn set_condition(
    status: &mut Value,
    condition: Condition<'_>,
    now: &str,
    updated: Option<&str>,
) {
    let truth = condition.status;
    let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let at = conditions
        .iter()
        .position(|own| own["type"] == condition.kind);
    let before = at.map_or(Value::Null, |at| conditions[at].clone());
    let is_same = before["status"] == truth
        && before["reason"] == condition.reason
        && before["message"] == condition.message;
    // Not even a time is written: an equal status ends the round of writes and observations.
    if is_same {
        return;
    }
    let since = if before["status"] == truth {
        before["lastTransitionTime"].clone()
    } else {
        json!(now)
    };
    let mut after = json!({
        "type": condition.kind,
        "status": truth,
        "lastTransitionTime": since,
        "reason": condition.reason,
        "message": condition.message,
    });
    if let Some(field) = updated {
        after[field] = json!(now);
    }
    match at {
        Some(at) => conditions[at] = after,
        None => conditions.push(after),
    }
    status["conditions"] = conditions.into();
}

/// Returns whether a condition of that type exists and is true.
pub(super) fn has_condition(status: &Value, kind: &str) -> bool {
    let conditions = status["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_percentage_can_be_taken_of_any_number() {
        for (percent, total, down, up) in [("25%", 10, 2, 3), ("100%", 7, 7, 7)] {
            assert_eq!(part(&json!(percent), total, false), down);
            assert_eq!(part(&json!(percent), total, true), up);
        }
        let huge = json!(format!("{}%", i64::MAX));
        for rounds_up in [false, true] {
            assert_eq!(part(&huge, 10, rounds_up), i64::MAX / 100);
        }
    }
}
