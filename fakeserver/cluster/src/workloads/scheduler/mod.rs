//! The scheduler: gives each pod a node that takes it.
//!
//! ```text
//! changes ──► Snapshot: nodes, the pods on them, nodes that are cleared for pods
//!        └──► Queue: pods to look at, by priority, and those that wait, by class
//!                 │
//!                 ▼
//!             Cycle: filters ──► a node ──► binding, claims, an event
//!                 └──► reasons ──► preemption ──► condition, event, victims that go
//! ```
//!
//! Everything but this file and `status` is pure. Upstream: `pkg/scheduler` of 1.36, whose filters, their order and their
//! words are kept. Differences:
//!
//! - Of the nodes that take a pod it is the one with the fewest pods, unless the pod has preferences; upstream scores each.
//! - A node whose status offers nothing takes any pods up to their number.
//! - A pod is bound at once; upstream waits for its claims. Storage capacities and limits of drivers are not looked at, nor are
//!   the features that nodes declare and groups of pods.
//! - Pods that wait for the same are looked at one by one, so that the message of the later ones may be five minutes old.

mod rejection;
mod resources;
mod taints;
mod ports;
mod selection;
mod objects;
mod node_affinity;
mod groups;
mod pod_affinity;
mod spread;
mod volumes;
mod devices;
mod pod;
mod node;
mod admission;
mod snapshot;
mod score;
mod cycle;
mod preemption;
mod queue;
mod status;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{core, policy, resource, storage};
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::Cluster,
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
};
use fakeserver_value::read::text;
use serde_json::Value;
use tokio::time::Instant;

pub(super) use self::{
    admission::{AdmissionFailure, PodLoad, admission_failure},
    node::Node,
    taints::{Taint, Toleration},
};
use self::{
    cycle::{Cycle, reject_locally},
    devices::Reservation,
    objects::Objects,
    pod::{PodInfo, UnscheduledPod},
    preemption::{Budget, NoPreemption, Victims, preempt},
    queue::{Class, FLUSHED_AFTER, Outcome, Queue},
    rejection::FitError,
    snapshot::Snapshot,
    volumes::Binding,
};

/// Places pods.
#[derive(Debug)]
pub(super) struct Scheduler {
    snapshot: Snapshot,
    queue: Queue,
    /// Pods that were given a node, and are not seen there yet.
    assumed: BTreeMap<ObjectKey, Arc<PodInfo>>,
}

/// A node for a pod, and the writes for its claims.
struct Placement {
    node: Arc<str>,
    claims: Claims,
}

/// The writes for the claims of a pod that has got a node.
#[derive(Debug, Default)]
struct Claims {
    bindings: Vec<Binding>,
    reservations: Vec<Reservation>,
}

/// The result of a look at a pod that fits nowhere.
struct Failure {
    error: FitError,
    outcome: Outcome,
    victims: Option<Victims>,
}

// === impl Scheduler ===

impl Scheduler {
    pub(super) fn new(pods_per_node: u32) -> Self {
        Self {
            snapshot: Snapshot::new(usize::try_from(pods_per_node).unwrap_or(usize::MAX)),
            queue: Queue::default(),
            assumed: BTreeMap::new(),
        }
    }

    fn observe_node(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let name = change.key().name();
        if let Some((node, _)) = &change.after {
            if self.snapshot.set_node(Node::of(&node.to_value())) {
                self.room_on(name, due);
                self.wake(due, |class| class.waits_for_others);
            }
        } else {
            self.snapshot.remove_node(name);
            self.wake(due, |class| class.waits_for_others);
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let pod = index.pods.get(key);
        match pod.filter(|pod| !pod.node.is_empty() && !pod.is_finished()) {
            Some(pod) => self.observe_placed(pod, due),
            None => self.observe_gone(key, due),
        }
        if let Some(pod) = pod.filter(|pod| pod.node.is_empty() && pod.is_active()) {
            self.observe_nominated(pod, due);
            let version = (pod.generation, pod.stored.labels().clone());
            if self.queue.add(key, pod.priority, version) {
                due.add(key.clone(), Duration::ZERO);
            }
        } else {
            // A pod that is placed or gone frees the place that was kept for it.
            if let Some(node) = self.snapshot.nominate(key, None) {
                self.room_on(&node, due);
            }
            self.forget(key, due);
        }
    }

    /// Notes a pod on a node.
    fn observe_placed(&mut self, pod: &Pod, due: &mut KeyQueue<'_>) {
        let key = pod.key();
        let cached = self.snapshot.pod(key);
        let is_unchanged = cached.is_some_and(|(node, cached)| {
            **node == *pod.node
                && cached.uid == pod.stored.uid()
                && cached.generation == pod.generation
                && cached.is_deleted == pod.is_deleted
                && cached.held == pod.held
                && cached.labels == *pod.stored.labels()
        });
        if is_unchanged {
            // The start time decides which victim is younger, but makes room for no other pod: no class is woken.
            self.snapshot.set_started(key, &pod.started);
            return;
        }
        let before = cached.map(|(node, cached)| (Arc::clone(node), Arc::clone(cached)));
        let is_same = |assumed: &Arc<PodInfo>| {
            assumed.uid == pod.stored.uid()
                && assumed.generation == pod.generation
                && assumed.labels == *pod.stored.labels()
                && !pod.is_deleted
        };
        // The info of the attempt is reused if the bound pod is the one that was scheduled: parsing it again would cost more.
        let assumed = self.assumed.remove(key).filter(is_same);
        let info = assumed.unwrap_or_else(|| Arc::new(PodInfo::of(&pod.stored.to_value())));
        self.snapshot.place(&info, &pod.node);
        if let Some((node, before)) = before
            && (*node != *pod.node || before.requests != info.requests)
        {
            self.room_on(&node, due);
        }
        self.wake(due, |class| class.waits_for_others);
    }

    /// Notes that a pod is on no node any more.
    fn observe_gone(&mut self, key: &ObjectKey, due: &mut KeyQueue<'_>) {
        self.assumed.remove(key);
        if let Some((node, _)) = self.snapshot.remove(key) {
            self.room_on(&node, due);
            self.wake(due, |class| class.waits_for_others);
        }
    }

    /// Notes for which node a pod waits that is cleared for it.
    fn observe_nominated(&mut self, pod: &Pod, due: &mut KeyQueue<'_>) {
        let key = pod.key();
        if self
            .snapshot
            .is_nominated(key, &pod.nominated, pod.generation)
        {
            return;
        }
        let info =
            (!pod.nominated.is_empty()).then(|| Arc::new(PodInfo::of(&pod.stored.to_value())));
        let nominated = info.as_ref().map(|info| (info, &*pod.nominated));
        if let Some(node) = self.snapshot.nominate(key, nominated) {
            self.room_on(&node, due);
        }
    }

    /// Looks again at pods that fit on a node which has changed.
    fn room_on(&mut self, name: &str, due: &mut KeyQueue<'_>) {
        let now = Instant::now();
        let (snapshot, queue) = (&self.snapshot, &mut self.queue);
        for pod in snapshot.nominated(name) {
            if queue.wake_one(&pod.key, now) {
                due.add(pod.key.clone(), Duration::ZERO);
            }
        }
        let Some(node) = snapshot.node(name) else {
            return;
        };
        let fits = |class: &Class| {
            class.error == FitError::NoNodes || reject_locally(snapshot, &class.pod, node).is_none()
        };
        for (key, after) in queue.wake(fits, now) {
            due.add(key, after);
        }
    }

    fn wake(&mut self, due: &mut KeyQueue<'_>, is_concerned: impl Fn(&Class) -> bool) {
        for (key, after) in self.queue.wake(is_concerned, Instant::now()) {
            due.add(key, after);
        }
    }

    /// Forgets a pod, and looks at the next that waits for the same.
    fn forget(&mut self, key: &ObjectKey, due: &mut KeyQueue<'_>) {
        let next = self.queue.forget(key);
        let next = next.filter(|next| self.queue.wake_one(next, Instant::now()));
        if let Some(next) = next {
            due.add(next, Duration::ZERO);
        }
    }

    fn place(
        &self,
        pod: &UnscheduledPod,
        objects: &dyn Objects,
        now: &str,
    ) -> Result<Placement, Box<Failure>> {
        let version = self.snapshot.version();
        let failure = |error: FitError, outcome: Result<Victims, NoPreemption>| {
            let (why, is_hopeless) = match &outcome {
                Ok(_) => ("", false),
                Err(why) => (why.message(), matches!(why, NoPreemption::Useless(_))),
            };
            let message = error.message(why);
            Box::new(Failure {
                outcome: Outcome {
                    version,
                    message,
                    is_hopeless,
                },
                error,
                victims: outcome.ok(),
            })
        };
        let nothing = |error: FitError| {
            let why = NoPreemption::NotEligible("");
            failure(error, Err(why))
        };
        let cycle = Cycle::new(&self.snapshot, pod, objects).map_err(nothing)?;
        match cycle.choose() {
            Ok(node) => Ok(Placement {
                node: Arc::clone(&node.node.name),
                claims: Claims {
                    bindings: cycle.volumes.bindings(&node.node),
                    reservations: cycle.devices.reservations(&node.node),
                },
            }),
            Err(diagnosis) => {
                // Budgets are read only for pods that fit nowhere: most attempts need none.
                let budgets = objects.list(&policy::pod_disruption_budget::KIND);
                let budgets: Vec<Budget> = budgets.iter().map(Budget::of).collect();
                let outcome = preempt(&cycle, &diagnosis, &budgets, now);
                Err(failure(FitError::Nodes(diagnosis), outcome))
            }
        }
    }

    /// Looks at a pod without a node.
    fn attempt(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut KeyQueue<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let value = stored.to_value();
        if !is_to_be_placed(&value) {
            return;
        }
        let pod = Arc::new(UnscheduledPod::of(&value));
        // To write the class takes longer than most attempts.
        let cached = (self.queue.has_classes() && pod.nominated.is_empty()).then(|| {
            let class = pod::class(&value, &pod.info);
            self.queue.cached_outcome(&class, self.snapshot.version())
        });
        let result = match cached.flatten() {
            Some((error, outcome)) => Err(Box::new(Failure {
                error,
                outcome,
                victims: None,
            })),
            None => self.place(&pod, &*cluster.tx, &cluster.now_text()),
        };
        match result {
            Ok(placement) => {
                let Placement { node, claims } = placement;
                status::bind(cluster, key, &value, &node, &claims);
                self.assumed.insert(key.clone(), Arc::clone(&pod.info));
            }
            Err(failure) => self.fail(cluster, &value, &pod, *failure, due),
        }
    }

    fn fail(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        value: &Value,
        pod: &Arc<UnscheduledPod>,
        failure: Failure,
        due: &mut KeyQueue<'_>,
    ) {
        let Failure {
            error,
            mut outcome,
            victims,
        } = failure;
        let key = &pod.info.key;
        let nominated = match &victims {
            Some(victims) => Some(&*victims.node),
            None => outcome.is_hopeless.then_some(""),
        };
        // Upstream keeps such a pod out of its queue, so that it gets neither a condition nor an event.
        if error != FitError::Unready {
            let reported = status::fail(
                cluster,
                key,
                value,
                &outcome,
                nominated,
                self.queue.reported(key),
            );
            self.queue.set_reported(key, reported);
        }
        if let Some(victims) = &victims {
            let lower = status::outranked(self.snapshot.nominated(&victims.node), &pod.info);
            // Pods of lower priority lose their nomination first: the node is no longer cleared for them, and they have to be
            // scheduled again.
            status::clear_nominations(cluster, &lower);
            status::evict(cluster, value, victims);
            // Another pod of the class may clear another node.
            outcome.version = u64::MAX;
        }
        let class = pod::class(value, &pod.info);
        // In any case after this time, as upstream flushes its queue: no change may ever wake the pod.
        due.add(key.clone(), FLUSHED_AFTER);
        self.queue
            .wait(&class, Arc::clone(pod), error, outcome, Instant::now());
    }
}

impl Controller for Scheduler {
    fn name(&self) -> &'static str {
        "scheduler"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let is_of_volumes = change.is_of(&core::persistent_volume_claim::KIND)
            || change.is_of(&core::persistent_volume::KIND)
            || change.is_of(&storage::storage_class::KIND);
        let is_of_devices = change.is_of(&resource::resource_claim::KIND)
            || change.is_of(&resource::resource_slice::KIND)
            || change.is_of(&resource::device_class::KIND);
        if change.is_of(&core::pod::KIND) {
            self.observe_pod(change, index, due);
        } else if change.is_of(&core::node::KIND) {
            self.observe_node(change, due);
        } else if is_of_volumes {
            self.snapshot.touch();
            let namespace = key.namespace();
            self.wake(due, |class| {
                class.pod.info.may_use_volume(namespace, key.name())
            });
        } else if is_of_devices {
            self.snapshot.touch();
            self.wake(due, |class| !class.pod.info.device_claims.is_empty());
        } else if change.is_of(&core::namespace::KIND) {
            self.snapshot.touch();
            self.wake(due, |class| class.waits_for_others);
        } else if change.is_of(&policy::pod_disruption_budget::KIND) {
            self.snapshot.touch();
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let now = Instant::now();
        // The key only says that there is work: the queue decides by priority which pod is looked at.
        self.queue.ripen(key, now);
        if let Some(next) = self.queue.pop() {
            self.attempt(cluster, &next, due);
        }
        // Another pod may have been looked at in the place of this one.
        let first = self.queue.first().cloned();
        for key in first.as_ref().into_iter().chain([key]) {
            if let Some(after) = self.queue.next_look(key, now) {
                due.add(key.clone(), after);
            }
        }
    }
}

/// Returns whether a pod is this scheduler's to place, now.
fn is_to_be_placed(pod: &Value) -> bool {
    let spec = &pod["spec"];
    let gates = spec["schedulingGates"].as_array();
    gates.is_none_or(Vec::is_empty)
        && matches!(text(&spec["schedulerName"]), "" | status::NAME)
        && text(&spec["nodeName"]).is_empty()
        && pod["metadata"]["deletionTimestamp"].is_null()
}
