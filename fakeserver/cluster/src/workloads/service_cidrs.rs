//! Ranges of service addresses: their finalizer, their condition `Ready`, and their end, which waits for their addresses.

use std::{collections::BTreeSet, time::Duration};

use fakeserver_kinds::{
    addresses::cidr_contains,
    networking::{ip_address, service_cidr},
};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::is_deleted,
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::objects::{Condition, set_condition};

const ACTOR: Actor = Actor::new("service-cidr-controller");
const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";
/// The time after which no allocator takes an address of a range that is deleted any more.
const GRACE: Duration = Duration::from_secs(10);

/// The controller of ranges of service addresses.
///
/// # Memory
///
/// A key for each range that is being deleted.
#[derive(Debug, Default)]
pub(super) struct ServiceCidrs {
    leaving: BTreeSet<ObjectKey>,
}

// === impl ServiceCidrs ===

impl Controller for ServiceCidrs {
    fn name(&self) -> &'static str {
        "service CIDRs"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&service_cidr::KIND) {
            due.add(change.key().clone(), Duration::ZERO);
        } else if !change.is_of(&ip_address::KIND) {
            return;
        }
        for key in &self.leaving {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let stored = cluster.get(key).map(|stored| stored.to_value());
        let Some(cidr) = stored.filter(|it| !is_deleted(it) || has_finalizer(it)) else {
            self.leaving.remove(key);
            return;
        };
        if !is_deleted(&cidr) {
            cluster.update(key, ACTOR, add_finalizer);
            write_condition(cluster, key, &cidr, &READY);
            return;
        }
        self.leaving.insert(key.clone());
        if has_orphans(cluster, key, &cidr) {
            return write_condition(cluster, key, &cidr, &TERMINATING);
        }
        let left = grace_left(&cidr, cluster.now());
        if left.is_zero() {
            cluster.update(key, ACTOR, remove_finalizer);
        } else {
            due.add(key.clone(), left);
        }
    }
}

const READY: Condition<'_> = Condition {
    kind: "Ready",
    status: "True",
    reason: "",
    message: "Kubernetes Service CIDR is ready",
};
const TERMINATING: Condition<'_> = Condition {
    kind: "Ready",
    status: "False",
    reason: "Terminating",
    message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

fn write_condition(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    cidr: &Value,
    condition: &Condition<'_>,
) {
    let mut status = json!({"conditions": cidr["status"]["conditions"]});
    set_condition(&mut status, *condition, &cluster.now_text(), None);
    cluster.apply_status(key, ACTOR.manager, &status);
}

/// Returns the rest of the time of grace of a range that is deleted.
fn grace_left(cidr: &Value, now: Timestamp) -> Duration {
    let since = text(&cidr["metadata"]["deletionTimestamp"]).parse::<Timestamp>();
    let age = since.map(|since| now.duration_since(since).unsigned_abs());
    GRACE.saturating_sub(age.unwrap_or_default())
}

/// Returns whether an allocated address lies in the range alone.
fn has_orphans(cluster: &Cluster<'_, '_>, key: &ObjectKey, cidr: &Value) -> bool {
    let own = ranges(cidr);
    let all = cluster.tx.list(service_cidr::KIND.storage(), None);
    let others = all.iter().filter(|other| other.key() != key);
    let others: Vec<String> = others
        .map(|other| other.to_value())
        .filter(|other| !is_deleted(other))
        .flat_map(|other| ranges(&other))
        .collect();
    let lies_in = |ranges: &[String], inner: &str| ranges.iter().any(|it| cidr_contains(it, inner));
    if own.iter().all(|range| lies_in(&others, range)) {
        return false;
    }
    let addresses = cluster.tx.list(ip_address::KIND.storage(), None);
    addresses.iter().any(|address| {
        let name = address.key().name();
        let is_allocated =
            address.labels().get(ip_address::MANAGED_BY) == Some(ip_address::ALLOCATOR);
        is_allocated && lies_in(&own, name) && !lies_in(&others, name)
    })
}

fn ranges(cidr: &Value) -> Vec<String> {
    let ranges = cidr["spec"]["cidrs"].as_array().into_iter().flatten();
    ranges.map(|range| text(range).to_owned()).collect()
}

fn has_finalizer(cidr: &Value) -> bool {
    let all = cidr["metadata"]["finalizers"].as_array();
    all.is_some_and(|all| all.iter().any(|name| name == FINALIZER))
}

fn add_finalizer(cidr: &mut Value) {
    if has_finalizer(cidr) {
        return;
    }
    match cidr["metadata"]["finalizers"].as_array_mut() {
        Some(all) => all.push(json!(FINALIZER)),
        None => cidr["metadata"]["finalizers"] = json!([FINALIZER]),
    }
}

fn remove_finalizer(cidr: &mut Value) {
    if let Some(all) = cidr["metadata"]["finalizers"].as_array_mut() {
        all.retain(|name| name != FINALIZER);
    }
}
