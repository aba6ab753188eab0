//! Quotas: their limits become those of their status, and their usage is counted.
//!
//! Admission charges what is written through the API. The controller recounts when a quota has changed, when a counted
//! object is removed or uses less, and when an object uses more than was charged, such as an imported one. It counts in
//! a transaction, so that charges and counts agree. It recounts all quotas every few minutes, since a pod that
//! overstays its deletion no longer counts.

use std::{cell::LazyCell, collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{
    Kind,
    core::resource_quota,
    usage::{Amounts, Evaluator, Quota, UsageContext},
};
use fakeserver_value::{resource::GroupResource, schema::Quantity};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
};
use crate::{
    store::{ObjectKey, StoredObject},
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
    quotas: BTreeMap<ObjectKey, TrackedQuota>,
}

/// A quota, and the recent charges to it.
#[derive(Debug)]
struct TrackedQuota {
    quota: Quota,
    /// Charges whose objects were not observed yet. A charge is written before its object.
    charged: Amounts,
    /// True if the next change of the quota is a count, and no charge.
    is_counted: bool,
}

/// No other objects, and a time at which no pod is late.
struct EmptySurroundings;

impl Controller for Quotas {
    fn name(&self) -> &'static str {
        "quotas"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&resource_quota::KIND) {
            self.note(change, due);
        }
        let key = change.key();
        let Some(namespace) = key.namespace() else {
            return;
        };
        let value = |side: &Option<(&Arc<StoredObject>, Meta)>| {
            side.as_ref().map(|(object, _)| object.to_value())
        };
        // Parsed only if a quota counts the object: most namespaces have none.
        let before = LazyCell::new(|| value(&change.before));
        let after = LazyCell::new(|| value(&change.after));
        let mut evaluator = None;
        for (key, tracked) in self.of_namespace(namespace) {
            let evaluator = evaluator.get_or_insert_with(|| Evaluator::of(change.key().resource()));
            let Some(evaluator) = evaluator else {
                return;
            };
            if !tracked.counts(evaluator) || !(evaluator.measures() || is_one_more_or_less(change))
            {
                continue;
            }
            if evaluator.depends_on_others()
                || tracked.differs(evaluator, before.as_ref(), after.as_ref())
            {
                tracked.charged = Amounts::default();
                due.add(key.clone(), COALESCED);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let object = stored.to_value();
        let quota = Quota::wanted(&object);
        // In the transaction that writes it: no charge comes between the count and the status.
        let used = used(cluster, &quota, key.namespace());
        let tracked = self.quotas.get_mut(key);
        if used != quota.used || quota.hard != Amounts::of(&object["status"]["hard"]) {
            let stored_again = cluster.update(key, ACTOR.of_status(), |object| {
                object["status"]["hard"] = quota.hard.to_json();
                object["status"]["used"] = used.to_json();
            });
            let is_written =
                stored_again.is_some_and(|again| again.revision() != stored.revision());
            if let Some(tracked) = tracked {
                // The next change of the quota is then this count, which replaces all charges before it.
                tracked.is_counted = is_written;
            }
        }
        due.add(key.clone(), COUNTED_AGAIN);
    }
}

// === impl Quotas ===

impl Quotas {
    /// Notes a quota that has changed. It is counted if it limits something else than before.
    fn note(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let after = change.after.as_ref();
        let Some(quota) = after.map(|(quota, _)| Quota::wanted(&quota.to_value())) else {
            self.quotas.remove(key);
            return;
        };
        let Some(tracked) = self.quotas.get_mut(key) else {
            due.add(key.clone(), Duration::ZERO);
            self.quotas.insert(key.clone(), TrackedQuota::new(quota));
            return;
        };
        if tracked.quota.hard != quota.hard {
            due.add(key.clone(), Duration::ZERO);
        }
        // A count contains all objects so far. Any other increase of the usage is a charge by admission, whose object
        // follows.
        if tracked.is_counted {
            tracked.charged = Amounts::default();
        } else {
            tracked.charged.add(&quota.used.beyond(&tracked.quota.used));
        }
        tracked.is_counted = false;
        tracked.quota = quota;
    }

    fn of_namespace(
        &mut self,
        namespace: &str,
    ) -> impl Iterator<Item = (&ObjectKey, &mut TrackedQuota)> {
        let first = ObjectKey::namespaced(resource_quota::KIND.storage().clone(), namespace, "");
        let near = self.quotas.range_mut(first..);
        near.take_while(move |(near, _)| near.namespace() == Some(namespace))
    }
}

// === impl TrackedQuota ===

impl TrackedQuota {
    fn new(quota: Quota) -> Self {
        Self {
            quota,
            charged: Amounts::default(),
            is_counted: false,
        }
    }

    /// Returns whether the quota may limit what an evaluator counts.
    fn counts(&self, evaluator: &Evaluator) -> bool {
        evaluator.depends_on_others()
            || self
                .quota
                .counted(evaluator, &EmptySurroundings)
                .next()
                .is_some()
    }

    /// Returns whether an object takes less than before, or more than was charged. What was charged for it is seen then.
    fn differs(
        &mut self,
        evaluator: &Evaluator,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> bool {
        let share = |object: Option<&Value>| {
            let share =
                object.map(|object| self.quota.share_of(evaluator, object, &EmptySurroundings));
            share.unwrap_or_default()
        };
        let (before, after) = (share(before), share(after));
        let more = after.beyond(&before);
        let is_uncharged = !more.beyond(&self.charged).is_empty();
        self.charged = self.charged.beyond(&more);
        is_uncharged || !before.beyond(&after).is_empty()
    }
}

/// Returns whether an object is created or removed.
fn is_one_more_or_less(change: &ObjectChange<'_>) -> bool {
    change.before.is_none() || change.after.is_none()
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
            // An object without measured resources counts, whatever its specification.
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

// === impl EmptySurroundings ===

impl UsageContext for EmptySurroundings {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn list(&self, _: &'static Kind, _: Option<&str>) -> Vec<Value> {
        Vec::new()
    }
}
