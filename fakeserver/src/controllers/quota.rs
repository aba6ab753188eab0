//! Quotas: their limits become those of their status, and their usage is counted.
//!
//! Admission charges what is created through the API. The controller counts anew when a quota has changed, and when an
//! object that it counts is removed or takes another amount. It counts in a transaction, so that charges and counts agree.
//! Every few minutes all is counted again, since a pod that does not end in time counts no more.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, Observed},
    queue::Due,
};
use crate::{
    kinds::{
        Kind,
        core::resource_quota,
        usage::{Amounts, Evaluator, Quota, Surroundings},
    },
    store::{ObjectKey, StoredObject},
    value::{resource::GroupResource, schema::Quantity},
    write::TransactionView,
};

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The time for which the controller waits for more removals of what a quota counts.
const COALESCED: Duration = Duration::from_millis(20);
/// The time after which a quota is counted again though nothing seems to have changed.
const COUNTED_AGAIN: Duration = Duration::from_mins(5);

/// The controller of quotas.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    quotas: BTreeMap<ObjectKey, Quota>,
}

/// No other objects, and a time at which no pod is late.
struct Alone;

impl Controller for Quotas {
    fn name(&self) -> &'static str {
        "quotas"
    }

    fn observe(&mut self, change: &Observed<'_>, _: &Index, due: &mut Due<'_>) {
        if change.is_of(&resource_quota::KIND) {
            self.note(change, due);
        }
        let key = change.key();
        let Some(namespace) = key.namespace() else {
            return;
        };
        // Whether a new object counts is up to admission.
        if change.before.is_none() {
            return;
        }
        let mut evaluator = None;
        for (quota, limits) in self.of_namespace(namespace) {
            let evaluator = evaluator.get_or_insert_with(|| Evaluator::of(key.resource()));
            let Some(evaluator) = evaluator else {
                return;
            };
            if is_counted_otherwise(limits, evaluator, change) {
                due.add(quota.clone(), COALESCED);
            }
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let object = stored.to_value();
        let quota = Quota::wanted(&object);
        let used = used(cluster, &quota, key.namespace());
        if used != quota.used || quota.hard != Amounts::of(&object["status"]["hard"]) {
            cluster.update(key, ACTOR.of_status(), |object| {
                object["status"]["hard"] = quota.hard.to_json();
                object["status"]["used"] = used.to_json();
            });
        }
        due.add(key.clone(), COUNTED_AGAIN);
    }
}

// === impl Quotas ===

impl Quotas {
    /// Notes a quota that has changed. It is counted if it limits something else than before.
    fn note(&mut self, change: &Observed<'_>, due: &mut Due<'_>) {
        let key = change.key();
        let after = change.after.as_ref();
        let Some(quota) = after.map(|(quota, _)| Quota::wanted(&quota.to_value())) else {
            self.quotas.remove(key);
            return;
        };
        let hard = quota.hard.clone();
        let before = self.quotas.insert(key.clone(), quota);
        if before.is_none_or(|before| before.hard != hard) {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    fn of_namespace(&self, namespace: &str) -> impl Iterator<Item = (&ObjectKey, &Quota)> {
        let first = ObjectKey::namespaced(resource_quota::KIND.storage().clone(), namespace, "");
        let near = self.quotas.range(first..);
        near.take_while(move |(near, _)| near.namespace() == Some(namespace))
    }
}

/// Returns whether an object that was there is gone, or counts otherwise.
fn is_counted_otherwise(quota: &Quota, evaluator: &Evaluator, change: &Observed<'_>) -> bool {
    if evaluator.depends_on_others() {
        return true;
    }
    let share = |object: &StoredObject| quota.share_of(evaluator, &object.to_value(), &Alone);
    match (&change.before, &change.after) {
        (Some((before, _)), Some((after, _))) => {
            evaluator.measures() && share(before) != share(after)
        }
        _ => quota.counted(evaluator, &Alone).next().is_some(),
    }
}

/// Counts the usage of a quota. What nothing counts keeps its usage.
fn used(cluster: &Cluster<'_, '_>, quota: &Quota, namespace: Option<&str>) -> Amounts {
    let around = TransactionView {
        tx: cluster.tx,
        now: cluster.now(),
    };
    let mut evaluators: BTreeMap<GroupResource, Evaluator> = BTreeMap::new();
    for name in quota.hard.names() {
        let all = Evaluator::counting(name, &around).into_iter();
        let served = all.filter(|evaluator| {
            let resource = cluster.resource_type(evaluator.resource());
            resource.is_some_and(|resource| resource.is_namespaced)
        });
        evaluators.extend(served.map(|evaluator| (evaluator.resource().clone(), evaluator)));
    }
    let mut counted = Amounts::default();
    for (resource, evaluator) in &evaluators {
        let names = quota.counted(evaluator, &around);
        counted.add(&names.map(|name| (name, Quantity::from(0))).collect());
        for stored in cluster.tx.list(resource, namespace) {
            // An object of which nothing is measured counts, whatever it says.
            let object = if evaluator.measures() {
                stored.to_value()
            } else {
                Value::Null
            };
            counted.add(&quota.share_of(evaluator, &object, &around));
        }
    }
    let mut used = quota.used.only(|name| quota.hard.get(name).is_some());
    used.replace(counted);
    used
}

// === impl Alone ===

impl Surroundings for Alone {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn list(&self, _: &'static Kind, _: Option<&str>) -> Vec<Value> {
        Vec::new()
    }
}
