//! The kubelets of all nodes: run the containers of the pods of their nodes as stages say, and stop deleted ones.
//!
//! A container starts when its volumes and references exist, the containers before it are ready or done, and its image can be
//! pulled. It runs until its stage ends it, and is restarted by its pod's policy, with a back-off. Without a stage it runs for
//! ever if the policy is `Always`, and otherwise succeeds after a while.
//!
//! A kubelet whose node is not ready does nothing, as if it could not reach the API server.

mod command;
mod exits;
mod image;
mod container;
mod fields;
mod probes;
mod life;
mod needs;
mod user;
mod resize;
mod status;
mod admission;
mod events;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use fakeserver_kinds::core;
use fakeserver_server::{
    controllers::correlation::{Correlator, EventText},
    controllers::pods::{Phase, Pod},
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::DeletionParameters,
};
use fakeserver_value::read::text;
use serde_json::Value;
use tokio::time::Instant;

pub(super) use self::life::KILLED;
use self::{
    admission::CachedLoad,
    container::{CREATING, Container, Role},
    events::hook_time,
    exits::{EXIT_CODE, exit_code, exit_of, main_exit},
    life::{CurrentTime, INVALID_IMAGE, PodLifecycle, StartBlocker},
    needs::{NEEDED, StartObstacle, unconfigured, unmounted},
    resize::Refusal,
    status::Addresses,
};
use super::{
    node_addresses::{NodeAddresses, address, address_number, has_node_ranges},
    nodes::ready_status,
    objects::ReconciledKind,
    stages::{Exit, Script, Selected, direct},
};
use crate::{containers::Containers, workloads::Workloads};

const ACTOR: Actor = Actor::new("kubelet");
/// The kind that a kubelet's events are about.
const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "kubelet",
};
/// The time between the end of a deleted pod's containers and the pod's own.
const REMOVED_AFTER: Duration = Duration::from_millis(100);

/// Runs pods.
///
/// # Memory
///
/// Some hundred bytes, plus the lines and events, for each pod that is starting, waiting or terminating, or that is yet to end or
/// to log. A pod that runs for ever takes none,
/// but for its requests and ports if other pods came to its node after it. Up to 100 names of images for each node.
#[derive(Debug)]
pub(super) struct Kubelet {
    options: Workloads,
    /// The containers whose logs and usage it writes.
    containers: Arc<Containers>,
    stages: Vec<Selected>,
    /// The number of the last address that a pod has got, or the highest one that pods had at the beginning.
    addressed: u32,
    /// The numbers of the last addresses that pods got from the ranges of their nodes.
    addressed_by_node: BTreeMap<String, u32>,
    /// The nodes that are there and ready, and their addresses.
    ready: BTreeMap<String, NodeAddresses>,
    lives: BTreeMap<ObjectKey, PodLifecycle>,
    /// The last obstacle of each pod that needs something that does not exist.
    blocked: BTreeMap<ObjectKey, StartObstacle>,
    /// The pods whose nodes have no room for their resizes.
    resizes: BTreeMap<ObjectKey, Refusal>,
    /// The times at which deleted pods take their next step.
    going: BTreeMap<ObjectKey, Instant>,
    /// The correlator of the events of running pods.
    events: Correlator,
    /// The images that were pulled to each node.
    images: BTreeMap<String, BTreeSet<String>>,
    /// The loads of the pods on each node, as they were when its last pod came.
    loads: BTreeMap<String, BTreeMap<ObjectKey, CachedLoad>>,
    /// The containers of running pods whose images have changed.
    changed_images: BTreeMap<ObjectKey, BTreeSet<String>>,
}

// === impl Kubelet ===

impl Kubelet {
    pub(super) fn new(options: Workloads, containers: Arc<Containers>) -> Self {
        let stages = options.stages.iter().cloned();
        Self {
            stages: stages.map(Selected::new).collect(),
            options,
            containers,
            addressed: 0,
            addressed_by_node: BTreeMap::new(),
            ready: BTreeMap::new(),
            lives: BTreeMap::new(),
            blocked: BTreeMap::new(),
            resizes: BTreeMap::new(),
            going: BTreeMap::new(),
            events: Correlator::default(),
            images: BTreeMap::new(),
            loads: BTreeMap::new(),
            changed_images: BTreeMap::new(),
        }
    }

    /// Observes a change of a node, whose pods continue when it becomes ready.
    fn observe_node(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let name = change.key().name();
        // A node that is made again under this name has pulled nothing.
        if change.after.is_none() {
            self.images.remove(name);
            self.loads.remove(name);
            self.addressed_by_node.remove(name);
        }
        self.retry_resizes(due);
        let after = change.after.as_ref().map(|(node, _)| node.to_value());
        let Some(node) = after.filter(|node| ready_status(node) == "True") else {
            self.ready.remove(name);
            return;
        };
        let addresses = NodeAddresses::of(&node);
        // Only when it becomes ready: other changes of a node do not concern its pods.
        if self.ready.insert(name.to_owned(), addresses).is_none() {
            for pod in index.pods.assigned_to(name) {
                // A finished pod is at rest, unless it is deleted: then its object is still to be removed.
                if !pod.is_finished() || pod.is_deleted {
                    due.add(pod.key().clone(), Duration::ZERO);
                }
            }
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let pod = index.pods.get(key);
        // A pod from a loaded snapshot has an address that this kubelet did not assign, and must not assign again.
        if let Some(taken) = pod.and_then(|pod| address_number(&pod.address)) {
            self.addressed = self.addressed.max(taken);
        }
        let is_over = pod.is_none_or(|pod| pod.is_finished() || pod.is_deleted);
        if is_over {
            self.blocked.remove(key);
            self.resizes.remove(key);
            self.changed_images.remove(key);
            self.retry_resizes(due);
        }
        // A later pod of the same name must not end at the time that was set for the one before it.
        if pod.is_none_or(|pod| !pod.is_deleted) {
            self.going.remove(key);
        }
        let Some(pod) = pod.filter(|pod| !pod.is_finished() || pod.is_deleted) else {
            self.lives.remove(key);
            if let Some((before, _)) = &change.before {
                self.events.forget(before.uid());
            }
            return;
        };
        if let Some((before, _)) = &change.before
            && pod.is_unobserved()
        {
            let changed = changed_images(&before.to_value(), &pod.stored.to_value());
            if !changed.is_empty() {
                let pending = self.changed_images.entry(key.clone()).or_default();
                pending.extend(changed);
            }
        }
        let is_new = change.before.is_none() || pod.phase == Phase::Pending;
        // The conditions of readiness gates are written by others, at any time.
        let is_gated = !pod.gates.is_empty();
        if is_new || is_gated || pod.is_unobserved() || pod.is_deleted {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    /// Tries resizes again that had no room.
    fn retry_resizes(&self, due: &mut KeyQueue<'_>) {
        for key in self.resizes.keys() {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    /// Advances a pod, and writes its changed status.
    fn run(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, due: &mut KeyQueue<'_>) {
        let key = pod.key();
        let value = pod.stored.to_value();
        let text = cluster.now_text();
        let now = CurrentTime {
            at: Instant::now(),
            text: &text,
        };
        if pod.started.is_empty() && self.rejects(cluster, pod, &value, &text) {
            return;
        }
        // The lifecycle is taken out of the map and put back at the end: `self` has to stay free for the closures below.
        let mut life = match self.lives.remove(key) {
            Some(life) => life,
            None => PodLifecycle::of(&value, self.options.restart_backoff, now),
        };
        // Ephemeral containers may have been added since the last run.
        life.take_in(&value, now);
        let unmounted = unmounted(cluster, &value);
        // Before the containers advance: a container that a resize stops starts again in this run.
        let resized = self.resize(cluster, pod, &value, &mut life, now);
        let is_resized = resized.is_some();
        let mut events = resized.unwrap_or_default();
        for name in self.changed_images.remove(key).unwrap_or_default() {
            events.extend(life.redefine(&name, now));
        }
        events.extend(life.advance(now, &mut |container| match &unmounted {
            Some(_) => Err(StartBlocker {
                reason: CREATING,
                message: String::new(),
            }),
            None => match blocked(cluster, &value, container) {
                Some(blocked) => Err(blocked),
                None => Ok(self.script(cluster, pod, &value, container)),
            },
        }));
        self.note_needs(cluster, key, &value, &life, unmounted.as_ref());
        self.write(cluster, pod, &life, &text);
        // `pod` is as it was before this run: the event is recorded by the first run alone.
        if pod.started.is_empty() {
            self.check_annotation(cluster, pod, &value);
        }
        if life.is_past_deadline {
            self.record_deadline(cluster, &value);
        }
        // Events follow the status: a client that sees `Started` finds a running container.
        self.record_container_events(cluster, key, &value, &events);
        if is_resized {
            self.record_resize(cluster, &value);
        }
        self.note_images(pod, &events);
        if let Some(next) = life.next() {
            due.add(key.clone(), next - now.at);
        }
        // The lifecycle of a pod that runs for ever can be restored from its status, so that no memory is kept.
        let waits = self.blocked.contains_key(key) || self.resizes.contains_key(key);
        if life.next().is_some() || waits {
            self.lives.insert(key.clone(), life);
        } else {
            self.events.forget(pod.stored.uid());
        }
    }

    /// Returns the script of a container from its next start on.
    fn script(
        &self,
        cluster: &Cluster<'_, '_>,
        pod: &Pod,
        value: &Value,
        container: &Container,
    ) -> Script {
        let options = &self.options;
        let spec = fields::container(&value["spec"], &container.name).unwrap_or(&Value::Null);
        let run = command::run_of([&spec["command"], &spec["args"]]);
        let exit = match container.role {
            Role::Ephemeral => run.and_then(exit_of),
            _ if !container.ends() => None,
            Role::Main => main_exit(value, run, options.pod_run),
            _ => run.map_or_else(|| Some(Exit::default()), exit_of),
        };
        let mut script = Script {
            pull: self.pull(pod, spec),
            exit,
            ..Script::starting(options.pod_start)
        };
        // Probes, then stages, then failures: a stage overrides the times of probes, and failures depend on both.
        probes::set_times(spec, &mut script);
        let names = [&*container.name, &*container.image];
        let entropy = &cluster.backend.entropy;
        direct(
            &self.stages,
            value,
            names,
            container.tries,
            || entropy.fraction(),
            &mut script,
        );
        probes::set_failures(spec, &mut script);
        script
    }

    /// Records an event about an exit-code annotation that is invalid or has no effect.
    fn check_annotation(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, value: &Value) {
        let why = match exit_code(value) {
            Some(Err(why)) => why,
            Some(Ok(_)) if !pod.ends => format!(
                "annotation {EXIT_CODE} does nothing to containers that always restart: set restartPolicy OnFailure or \
                 Never, or let a stage end them"
            ),
            _ => return,
        };
        let event = EventText::warning("InvalidAnnotation", &why);
        cluster.correlated_event(&mut self.events, &POD, value, &event);
    }

    /// Returns the addresses of a pod that has none: of the ranges of its node, or else of the numbers of the whole cluster.
    fn new_addresses(&mut self, cluster: &Cluster<'_, '_>, pod: &Pod) -> Vec<String> {
        let services = cluster.backend.service_range();
        if has_node_ranges(services)
            && let Some(node) = self.ready.get(&pod.node)
        {
            let last = self.addressed_by_node.entry(pod.node.clone()).or_default();
            let others = cluster.index.pods.on_node(&pod.node);
            let is_taken = |address: &str| others.iter().any(|other| other.address == address);
            if let Some((number, addresses)) = node.pod(*last, is_taken) {
                *last = number;
                return addresses;
            }
        }
        self.addressed = self.addressed.wrapping_add(1);
        let number = self.addressed;
        let families = services.families();
        families.map(|family| address(family, number)).collect()
    }

    fn write(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, life: &PodLifecycle, now: &str) {
        let own = if pod.address.is_empty() && life.has_sandbox() {
            self.new_addresses(cluster, pod)
        } else {
            Vec::new()
        };
        let hosts = self.ready.get(&pod.node).map(|node| &*node.hosts);
        // `status::write` ignores these addresses for a pod that has some already.
        let addresses = Addresses {
            hosts: hosts.unwrap_or_default(),
            pod: &own,
        };
        let gates = &pod.gates;
        let refusal = self.resizes.get(pod.key());
        cluster.update(pod.key(), ACTOR.of_status(), |pod| {
            status::write(pod, life, gates, addresses, refusal, now);
        });
    }

    /// Ends the containers of a deleted pod, and then the pod.
    fn stop(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, due: &mut KeyQueue<'_>) {
        let key = pod.key();
        let now = Instant::now();
        let value = pod.stored.to_value();
        let is_running = pod.phase == Phase::Running;
        let takes = self.options.pod_stop + hook_time(&value);
        // A finished pod has no container to stop, so that its grace period is not waited for.
        let first = if pod.is_finished() {
            REMOVED_AFTER
        } else {
            takes.min(pod.grace)
        };
        // Before the entry is made below: it says that the event was recorded.
        if is_running && !self.going.contains_key(key) {
            self.record_stop(cluster, &value);
        }
        // Only the first look sets the time: further changes of the pod must not extend its grace period.
        let at = *self.going.entry(key.clone()).or_insert(now + first);
        if at > now {
            due.add(key.clone(), at - now);
        } else if is_running {
            // A container that was to end by itself was killed before its work was done.
            let is_killed = pod.ends || takes > pod.grace;
            let code = if is_killed { KILLED } else { 0 };
            let text = cluster.now_text();
            let now = CurrentTime {
                at: now,
                text: &text,
            };
            let life = self.lives.remove(key);
            let mut life =
                life.unwrap_or_else(|| PodLifecycle::of(&value, self.options.restart_backoff, now));
            let events = life.stop(now, code);
            self.write(cluster, pod, &life, &text);
            self.record_container_events(cluster, key, &value, &events);
            // The object is removed a moment later, so that watchers see the ended containers first.
            self.going.insert(key.clone(), now.at + REMOVED_AFTER);
            due.add(key.clone(), REMOVED_AFTER);
        } else {
            // As a kubelet confirms the end of a pod: without a grace period the object is removed at once.
            let wanted = DeletionParameters {
                grace_period_seconds: Some(0),
                ..DeletionParameters::default()
            };
            cluster.delete(key, wanted);
        }
    }
}

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&core::node::KIND) {
            self.observe_node(change, index, due);
        } else if change.is_of(POD.kind) {
            self.observe_pod(change, index, due);
        } else if NEEDED.iter().any(|kind| change.is_of(kind)) {
            // What each of them lacks is found out when it is looked at.
            let namespace = change.key().namespace();
            for pod in self
                .blocked
                .keys()
                .filter(|pod| pod.namespace() == namespace)
            {
                due.add(pod.clone(), Duration::ZERO);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(pod) = cluster.index.pods.get(key).cloned() else {
            return;
        };
        // The pod is enqueued again when its node becomes ready.
        if !self.ready.contains_key(&pod.node) {
            return;
        }
        if pod.is_deleted {
            self.stop(cluster, &pod, due);
        } else if !pod.is_finished() {
            self.run(cluster, &pod, due);
        }
    }
}

/// Returns the containers whose images differ in two versions of a pod.
fn changed_images(before: &Value, after: &Value) -> BTreeSet<String> {
    let all = fields::containers(&after["spec"]);
    let changed = all.filter(|(_, container)| {
        let own = fields::container(&before["spec"], text(&container["name"]));
        own.is_some_and(|own| own["image"] != container["image"])
    });
    changed
        .map(|(_, container)| text(&container["name"]).to_owned())
        .collect()
}

/// Returns why a container cannot be created.
fn blocked(cluster: &Cluster<'_, '_>, pod: &Value, container: &Container) -> Option<StartBlocker> {
    let image = &container.image;
    if let Some(why) = image::problem(image) {
        return Some(StartBlocker {
            reason: INVALID_IMAGE,
            message: format!(
                "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"
            ),
        });
    }
    let spec = fields::container(&pod["spec"], &container.name)?;
    unconfigured(cluster, pod, spec).or_else(|| user::forbidden(pod, spec))
}
