//! Coordinated leader election (KEP-4355): clients register as candidates, and the server elects the leader.
//!
//! A real kube-apiserver runs this controller itself, and elects one of several kube-apiservers for it.

mod election;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::{
    coordination::{lease, lease_candidate},
    core::namespace,
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};

use self::election::{Candidate, Change, Lease, Step, step};
use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
    written_object,
};
use crate::{
    store::{ObjectKey, StoredObject},
    write::deletion::DeletionParameters,
};

const SERVER: Actor = Actor::new("kube-apiserver");
/// The time after which an election is looked at again.
const INTERVAL: Duration = Duration::from_secs(5);
/// The duration of a new leader's lease, in seconds, within which it has to renew.
const TERM_SECONDS: u64 = 5;

/// The controller that holds the elections, and deletes expired candidates.
#[derive(Debug, Default)]
pub(super) struct LeaderElection {
    /// The candidates for each lease.
    candidates: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
    /// The lease of each candidate.
    leases: BTreeMap<ObjectKey, ObjectKey>,
}

// === impl LeaderElection ===

impl LeaderElection {
    fn forget(&mut self, candidate: &ObjectKey) {
        let Some(lease) = self.leases.remove(candidate) else {
            return;
        };
        if let Some(candidates) = self.candidates.get_mut(&lease) {
            candidates.remove(candidate);
            if candidates.is_empty() {
                self.candidates.remove(&lease);
            }
        }
    }

    fn observe_candidate(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.after.is_none()
            && let Some(lease) = self.leases.get(key)
        {
            due.add(lease.clone(), Duration::ZERO);
        }
        self.forget(key);
        let Some((stored, _)) = &change.after else {
            return;
        };
        let object = stored.to_value();
        let lease_name = text(&object["spec"]["leaseName"]);
        let leases = lease::KIND.storage().clone();
        let lease = ObjectKey::new(leases, key.namespace(), lease_name);
        // A candidate that was just pinged changes no election before it answers.
        if !Candidate::of(&object).is_pinged() {
            due.add(lease.clone(), Duration::ZERO);
        }
        due.add(key.clone(), election::CANDIDATE_DURATION);
        let candidates = self.candidates.entry(lease.clone()).or_default();
        candidates.insert(key.clone());
        self.leases.insert(key.clone(), lease);
    }

    fn hold_election(
        &self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let keys = self.candidates.get(key).into_iter().flatten();
        let stored = keys.filter_map(|key| cluster.get(key));
        let candidates: Vec<Candidate> = stored
            .map(|stored| Candidate::of(&stored.to_value()))
            .collect();
        let lease = cluster.get(key);
        let lease = lease.map(|stored| Lease::of(&stored.to_value()));
        let now = cluster.now();
        match step(lease.as_ref(), &candidates, now) {
            Step::Idle => return,
            Step::Wait => {}
            Step::Ping(names) => {
                let time = micro_time(now);
                for name in names {
                    let resource = lease_candidate::KIND.storage().clone();
                    let candidate = ObjectKey::new(resource, key.namespace(), &name);
                    cluster.update(&candidate, SERVER, |candidate| {
                        candidate["spec"]["pingTime"] = json!(time);
                    });
                }
            }
            Step::Elect { strategy, change } if lease.is_some() => {
                cluster.update(key, SERVER, |lease| {
                    write(&mut lease["spec"], &strategy, &change, now);
                });
            }
            Step::Elect { strategy, change } => create(cluster, key, &strategy, &change, now),
        }
        due.add(key.clone(), INTERVAL);
    }
}

impl Controller for LeaderElection {
    fn name(&self) -> &'static str {
        "leader election"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&lease_candidate::KIND) {
            self.observe_candidate(change, due);
        } else if change.is_of(&lease::KIND) && self.candidates.contains_key(change.key()) {
            due.add(change.key().clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        if key.resource() == lease::KIND.storage() {
            self.hold_election(cluster, key, due);
            return;
        }
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let (now, candidate) = (cluster.now(), Candidate::of(&stored.to_value()));
        if candidate.has_ended(now) {
            cluster.delete(key, DeletionParameters::default());
        } else if let Some(ends) = candidate.ends() {
            let left = now.duration_until(ends).unsigned_abs();
            due.add(key.clone(), left + Duration::from_micros(1));
        }
    }
}

/// Writes the result of an election into the spec of a lease.
fn write(spec: &mut Value, strategy: &str, change: &Change, now: Timestamp) {
    spec["strategy"] = json!(strategy);
    match change {
        Change::Nothing => {}
        Change::Prefer(best) => spec["preferredHolder"] = json!(best),
        Change::Term(holder) => {
            spec["holderIdentity"] = json!(holder);
            spec["preferredHolder"] = Value::Null;
            spec["acquireTime"] = Value::Null;
            spec["renewTime"] = json!(micro_time(now));
            spec["leaseDurationSeconds"] = json!(TERM_SECONDS);
        }
    }
}

fn create(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    strategy: &str,
    change: &Change,
    now: Timestamp,
) {
    let namespaces = namespace::KIND.storage().clone();
    let namespace = ObjectKey::cluster(namespaces, key.namespace().unwrap_or_default());
    let is_ending = |found: &StoredObject| Meta::of(found).is_deleted();
    if cluster
        .get(&namespace)
        .is_some_and(|found| is_ending(&found))
    {
        return;
    }
    let Some(resource) = cluster.resource_type(key.resource()) else {
        return;
    };
    let metadata = json!({"name": key.name(), "namespace": key.namespace()});
    let mut lease = json!({"metadata": metadata, "spec": {}});
    write(&mut lease["spec"], strategy, change, now);
    let uid = cluster.backend.entropy.uid().to_string();
    let created =
        written_object::created(&resource, SERVER, lease, &uid, &cluster.now_text(), |_| {});
    cluster.tx.put(key, created);
}

pub(super) fn micro_time(time: Timestamp) -> String {
    format!("{time:.6}")
}
