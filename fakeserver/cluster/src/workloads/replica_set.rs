//! Replica sets and replication controllers: as many pods as are wanted, of one template.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{apps, core};
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::DeletionParameters,
};
use fakeserver_value::{object::selectors::LabelSelector, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    objects::{
        BURST, COALESCED, ReconciledKind, available, claim, count, enqueue_owners, look_again,
        number, selector,
    },
    replica_failure::{Failure, set_failure},
};

pub(super) const KIND: ReconciledKind = ReconciledKind {
    kind: &apps::replica_set::KIND,
    name: "ReplicaSet",
    api_version: "apps/v1",
    component: "replicaset-controller",
};
const REPLICATION_CONTROLLER: ReconciledKind = ReconciledKind {
    kind: &core::replication_controller::KIND,
    name: "ReplicationController",
    api_version: "v1",
    component: "replication-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// The controller of replica sets, or of replication controllers, which are the same by another name.
#[derive(Debug)]
pub(super) struct ReplicaSets {
    kind: ReconciledKind,
    /// The selector of each set, for adopting pods.
    selectors: BTreeMap<ObjectKey, LabelSelector>,
}

/// The pods that a replica set has to create and delete.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    create: usize,
    delete: Vec<ObjectKey>,
}

/// The counts in the status of a replica set, and the time of their next change.
#[derive(Debug, Default)]
struct Counts {
    replicas: i64,
    labeled: i64,
    ready: i64,
    available: i64,
    terminating: i64,
    next: Option<Timestamp>,
}

// === impl ReplicaSets ===

impl ReplicaSets {
    pub(super) fn new() -> Self {
        Self {
            kind: KIND,
            selectors: BTreeMap::new(),
        }
    }

    /// Creates the controller of replication controllers.
    pub(super) fn of_replication_controllers() -> Self {
        Self {
            kind: REPLICATION_CONTROLLER,
            ..Self::new()
        }
    }

    /// Returns the selector of a set. That of a replication controller has labels alone.
    fn selector(&self, set: &Value) -> Option<LabelSelector> {
        if self.kind.kind.is(KIND.kind) {
            return selector(set);
        }
        selector(&json!({"spec": {"selector": {"matchLabels": set["spec"]["selector"]}}}))
    }

    fn perform(&self, cluster: &mut Cluster<'_, '_>, set: &Value, plan: &Plan) {
        for _ in 0..plan.create.min(BURST) {
            let mut pod = self.kind.pod(set, &set["spec"]["template"]);
            let name = text(&set["metadata"]["name"]);
            pod["metadata"]["generateName"] = json!(format!("{name}-"));
            // What refused this pod would refuse the others as well.
            if cluster.create_pod(&self.kind, set, pod).is_none() {
                return;
            }
        }
        for pod in plan.delete.iter().take(BURST) {
            cluster.delete(pod, DeletionParameters::default());
            let message = format!("Deleted pod: {}", pod.name());
            cluster.event(&self.kind, set, "SuccessfulDelete", &message);
        }
    }

    fn set_status(&self, set: &mut Value, counts: &Counts, failure: Failure<'_>, now: &str) {
        let generation = set["metadata"]["generation"].clone();
        let status = &mut set["status"];
        set_failure(status, failure, now);
        status["replicas"] = json!(counts.replicas);
        status["fullyLabeledReplicas"] = json!(counts.labeled);
        status["readyReplicas"] = json!(counts.ready);
        status["availableReplicas"] = json!(counts.available);
        if self.kind.kind.is(KIND.kind) {
            status["terminatingReplicas"] = json!(counts.terminating);
        }
        status["observedGeneration"] = generation;
    }
}

impl Controller for ReplicaSets {
    fn name(&self) -> &'static str {
        self.kind.name
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(self.kind.kind) {
            let selects = change
                .after
                .as_ref()
                .and_then(|(object, _)| self.selector(&object.to_value()));
            match selects {
                Some(selects) => {
                    self.selectors.insert(key.clone(), selects);
                    due.add(key.clone(), Duration::ZERO);
                }
                None => {
                    self.selectors.remove(key);
                }
            }
            return;
        }
        if !change.is_of(&core::pod::KIND) {
            return;
        }
        enqueue_owners(&self.kind, change, due);
        if let Some(pod) = index.pods.get(key).filter(|pod| pod.controller.is_none()) {
            let first = self.kind.key(key.namespace(), "");
            let near = self.selectors.range(first..);
            let near = near.take_while(|(other, _)| other.namespace() == key.namespace());
            for (adopter, selects) in near {
                if selects.matches(pod.stored.labels()) {
                    due.add(adopter.clone(), COALESCED);
                }
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let (Some(stored), Some(selects)) = (cluster.get(key), self.selectors.get(key)) else {
            return;
        };
        let set = stored.to_value();
        let is_deleted = !set["metadata"]["deletionTimestamp"].is_null();
        // A set that is being deleted neither adopts nor releases: the garbage collector decides about its pods.
        let pods = if is_deleted {
            cluster.index.pods.of_controller(stored.uid())
        } else {
            claim(cluster, &self.kind, &set, selects, Pod::is_active)
        };
        let wanted = number(&set["spec"]["replicas"], 1);
        if !is_deleted {
            let plan = plan(wanted, &pods);
            if plan.create > BURST || plan.delete.len() > BURST {
                due.add(key.clone(), Duration::ZERO);
            }
            self.perform(cluster, &set, &plan);
        }
        let now = cluster.now();
        let counts = counts(&set, &pods, now);
        look_again(key, counts.next, now, due);
        // After the pods are created: the status tells of the last refusal.
        let (refusal, now) = (cluster.refusal.clone(), cluster.now_text());
        let failure = refusal.as_deref().map_or(Failure::None, Failure::Create);
        cluster.update(key, ACTOR.of_status(), |set| {
            self.set_status(set, &counts, failure, &now);
        });
    }
}

/// Plans the creations and deletions that lead to `wanted` pods.
fn plan(wanted: i64, pods: &[Arc<Pod>]) -> Plan {
    let mut active: Vec<&Arc<Pod>> = pods.iter().filter(|pod| pod.is_active()).collect();
    let wanted = usize::try_from(wanted).unwrap_or_default();
    if active.len() <= wanted {
        return Plan {
            create: wanted - active.len(),
            delete: Vec::new(),
        };
    }
    active.sort_by_key(|pod| pod.usefulness());
    active.truncate(active.len() - wanted);
    Plan {
        create: 0,
        delete: active.iter().map(|pod| pod.key().clone()).collect(),
    }
}

fn counts(set: &Value, pods: &[Arc<Pod>], now: Timestamp) -> Counts {
    let min_ready = number(&set["spec"]["minReadySeconds"], 0);
    let labels = set["spec"]["template"]["metadata"]["labels"].as_object();
    let is_terminating = |pod: &&Arc<Pod>| pod.is_deleted && !pod.is_finished();
    let mut counts = Counts {
        terminating: count(pods.iter().filter(is_terminating).count()),
        ..Counts::default()
    };
    for pod in pods.iter().filter(|pod| pod.is_active()) {
        counts.replicas += 1;
        let is_labeled = labels
            .into_iter()
            .flatten()
            .all(|(label, value)| pod.label(label) == text(value));
        counts.labeled += i64::from(is_labeled);
        counts.ready += i64::from(pod.is_ready);
        match available(pod, min_ready, now) {
            Ok(()) => counts.available += 1,
            Err(at) => counts.next = [counts.next, at].into_iter().flatten().min(),
        }
    }
    debug_assert!(counts.replicas <= count(pods.len()), "each counts once");
    counts
}
