//! The kubelets of all nodes: run the containers of the pods of their nodes as stages say, and stop deleted ones.
//!
//! A container starts when what it mounts and refers to is there, those before it have done their part, and its image can be
//! pulled. It runs until its stage ends it, and is restarted by its pod's policy, with a back-off. Without a stage it runs for
//! ever if the policy is `Always`, and otherwise succeeds after a while.
//!
//! A kubelet whose node is not ready does nothing, as if it could not reach the API server.

mod container;
mod fields;
mod life;
mod needs;
mod status;

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

pub(super) use self::life::KILLED;
use self::{
    container::{Container, Role},
    life::{Blocked, Happened, Life, Now, What},
    needs::{Lack, NEEDED, unconfigured, unmounted},
    status::Addresses,
};
use super::{
    nodes::{host_address, ready_status},
    objects::{ReconciledKind, text},
    pods::{Phase, Pod},
    stages::{Exit, Readiness, Script, Selected, direct},
};
use crate::{
    containers::OutputStream,
    controllers::{
        Workloads,
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::core,
    store::ObjectKey,
    write::deletion::Wanted,
};

const ACTOR: Actor = Actor::new("kubelet");
/// The kind that a kubelet's events are about.
const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "kubelet",
};
/// The annotation that says with which code the containers of a pod end, if not with 0.
const EXIT_CODE: &str = "fakeserver/exit-code";
/// The time between the end of a deleted pod's containers and the pod's own.
const REMOVED_AFTER: Duration = Duration::from_millis(100);

/// Runs pods.
///
/// # Memory
///
/// Some hundred bytes for each pod that is starting, is to end by itself or to log something, waits for something, or is going,
/// besides the lines. A pod that runs
/// for ever has none.
#[derive(Debug)]
pub(super) struct Kubelet {
    options: Workloads,
    stages: Vec<Selected>,
    /// The number of pods that were started: the last part of their addresses.
    started: u32,
    /// The nodes that are there and ready, and their addresses.
    ready: BTreeMap<String, String>,
    lives: BTreeMap<ObjectKey, Life>,
    /// The pods that need something that is not there, and what that was last.
    blocked: BTreeMap<ObjectKey, Lack>,
    /// The times at which deleted pods take their next step.
    going: BTreeMap<ObjectKey, Instant>,
}

// === impl Kubelet ===

impl Kubelet {
    pub(super) fn new(options: Workloads) -> Self {
        let stages = options.stages.iter().cloned();
        Self {
            stages: stages.map(Selected::new).collect(),
            options,
            started: 0,
            ready: BTreeMap::new(),
            lives: BTreeMap::new(),
            blocked: BTreeMap::new(),
            going: BTreeMap::new(),
        }
    }

    /// Takes a change of a node in. Its pods go on when it becomes ready.
    fn observe_node(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        let name = change.key().name();
        let after = change.after.as_ref().map(|(node, _)| node.to_value());
        let Some(node) = after.filter(|node| ready_status(node) == "True") else {
            self.ready.remove(name);
            return;
        };
        let address = host_address(&node).to_owned();
        if self.ready.insert(name.to_owned(), address).is_none() {
            for pod in index.pods.assigned_to(name) {
                if !pod.is_finished() || pod.is_deleted {
                    due.add(pod.key().clone(), Duration::ZERO);
                }
            }
        }
    }

    fn observe_pod(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        let pod = index.pods.get(key);
        let is_over = pod.is_none_or(|pod| pod.is_finished() || pod.is_deleted);
        if is_over {
            self.blocked.remove(key);
        }
        if pod.is_none_or(|pod| !pod.is_deleted) {
            self.going.remove(key);
        }
        let Some(pod) = pod.filter(|pod| !pod.is_finished() || pod.is_deleted) else {
            self.lives.remove(key);
            return;
        };
        let is_new = change.before.is_none() || pod.phase == Phase::Pending;
        let is_gated = !pod.gates.is_empty();
        if is_new || is_gated || pod.is_unobserved() || pod.is_deleted {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    /// Lets a pod go on, and writes what has changed.
    fn run(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, due: &mut Due<'_>) {
        let key = pod.key();
        let value = pod.stored.to_value();
        let text = cluster.now_text();
        let now = Now {
            at: Instant::now(),
            text: &text,
        };
        let mut life = match self.lives.remove(key) {
            Some(life) => life,
            None => Life::of(&value, self.options.restart_backoff, now),
        };
        life.take_in(&value, now);
        let unmounted = unmounted(cluster, &value);
        let happened = life.advance(now, &mut |container| match &unmounted {
            Some(_) => Err(Blocked {
                reason: "ContainerCreating",
                message: String::new(),
            }),
            None => match unconfigured(cluster, &value, &container.name) {
                Some(blocked) => Err(blocked),
                None => Ok(self.script(cluster, pod, &value, container)),
            },
        });
        self.note_needs(cluster, key, &value, &life, unmounted);
        self.write(cluster, pod, &life, &text);
        tell(cluster, key, &value, &happened);
        if let Some(next) = life.next() {
            due.add(key.clone(), next - now.at);
        }
        // One that runs for ever is known from its status.
        if life.next().is_some() || self.blocked.contains_key(key) {
            self.lives.insert(key.clone(), life);
        }
    }

    /// Returns what a container does from its next start.
    fn script(
        &self,
        cluster: &Cluster<'_, '_>,
        pod: &Pod,
        value: &Value,
        container: &Container,
    ) -> Script {
        let options = &self.options;
        let code = text(&value["metadata"]["annotations"][EXIT_CODE]);
        let exit = container.ends(pod.ends).then(|| match container.role {
            Role::Main => Exit {
                after: options.pod_run,
                code: code.parse().unwrap_or_default(),
                reason: None,
            },
            _ => Exit::default(),
        });
        let mut script = Script {
            start_after: options.pod_start,
            pull_error: None,
            readiness: Readiness::After(Duration::ZERO),
            exit,
            lines: Vec::new(),
            usage: Vec::new(),
        };
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
        script
    }

    /// Notes whether a pod needs something that is not there, and tells of it once.
    fn note_needs(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        pod: &Value,
        life: &Life,
        unmounted: Option<Lack>,
    ) {
        let lacks = match unmounted {
            Some(lack) => Some(("FailedMount", lack)),
            None => life
                .lacks()
                .map(|why| ("Failed", Lack::Missing(format!("Error: {why}")))),
        };
        let Some((reason, lack)) = lacks else {
            self.blocked.remove(key);
            return;
        };
        if self.blocked.get(key) != Some(&lack) {
            if let Lack::Missing(why) = &lack {
                cluster.warning(&POD, pod, reason, why);
            }
            self.blocked.insert(key.clone(), lack);
        }
    }

    fn write(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, life: &Life, now: &str) {
        if pod.address.is_empty() && life.phase() != Phase::Pending {
            self.started = self.started.wrapping_add(1);
        }
        let addresses = Addresses {
            host: self.ready.get(&pod.node).map_or("", String::as_str),
            pod: &address(self.started),
        };
        let gates = &pod.gates;
        cluster.update(pod.key(), ACTOR.of_status(), |pod| {
            status::write(pod, life, gates, addresses, now);
        });
    }

    /// Ends the containers of a deleted pod, and then the pod.
    fn stop(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Pod, due: &mut Due<'_>) {
        let key = pod.key();
        let now = Instant::now();
        let (stop, grace) = (self.options.pod_stop.min(pod.grace), pod.grace);
        let is_running = pod.phase == Phase::Running;
        let first = if pod.is_finished() {
            REMOVED_AFTER
        } else {
            stop
        };
        if is_running && !self.going.contains_key(key) {
            tell_of_stop(cluster, pod);
        }
        let at = *self.going.entry(key.clone()).or_insert(now + first);
        if at > now {
            due.add(key.clone(), at - now);
        } else if is_running {
            // One that was to end by itself has not done its work.
            let is_killed = pod.ends || self.options.pod_stop > grace;
            let code = if is_killed { KILLED } else { 0 };
            let text = cluster.now_text();
            let now = Now {
                at: now,
                text: &text,
            };
            let value = pod.stored.to_value();
            let life = self.lives.remove(key);
            let mut life =
                life.unwrap_or_else(|| Life::of(&value, self.options.restart_backoff, now));
            let happened = life.stop(now, code);
            self.write(cluster, pod, &life, &text);
            tell(cluster, key, &value, &happened);
            self.going.insert(key.clone(), now.at + REMOVED_AFTER);
            due.add(key.clone(), REMOVED_AFTER);
        } else {
            let wanted = Wanted {
                grace_period_seconds: Some(0),
                ..Wanted::default()
            };
            cluster.delete(key, wanted);
        }
    }
}

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn observe(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        if change.is_of(&core::node::KIND) {
            self.observe_node(change, index, due);
        } else if change.is_of(POD.kind) {
            self.observe_pod(change, index, due);
        } else if NEEDED.iter().any(|kind| change.is_of(kind)) {
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

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(pod) = cluster.index.pods.get(key).cloned() else {
            return;
        };
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

/// The address of the pod that was started as that one.
fn address(number: u32) -> String {
    let [_, b, c, d] = number.to_be_bytes();
    format!("10.{}.{c}.{d}", 128 | (b & 127))
}

/// Records what happened to containers, in events, in their logs and in what they use.
fn tell(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, pod: &Value, happened: &[Happened]) {
    let metadata = &pod["metadata"];
    let [name, namespace, uid] = ["name", "namespace", "uid"].map(|field| text(&metadata[field]));
    for Happened { container, what } in happened {
        log(cluster, key, pod, container, what);
        match what {
            What::Started => {
                cluster.event(
                    &POD,
                    pod,
                    "Started",
                    &format!("Started container {container}"),
                );
            }
            What::StartedUnready => {
                cluster.event(
                    &POD,
                    pod,
                    "Started",
                    &format!("Started container {container}"),
                );
                let message = "Readiness probe failed: a stage says that it is not ready";
                cluster.warning(&POD, pod, "Unhealthy", message);
            }
            What::Uses(_) | What::Logged(_) | What::Ended(_) => {}
            What::BackedOff => {
                let message = format!(
                    "Back-off restarting failed container {container} in pod {name}_{namespace}({uid})"
                );
                cluster.warning(&POD, pod, "BackOff", &message);
            }
            What::NotPulled(why) => {
                cluster.warning(&POD, pod, "Failed", why);
                cluster.warning(&POD, pod, "Failed", "Error: ErrImagePull");
            }
            What::PullBackedOff(why) => {
                cluster.event(&POD, pod, "BackOff", why);
                cluster.warning(&POD, pod, "Failed", "Error: ImagePullBackOff");
            }
        }
    }
}

/// Writes a line for a start or an end to the log of a container, and notes what it uses.
fn log(cluster: &Cluster<'_, '_>, key: &ObjectKey, pod: &Value, container: &str, what: &What) {
    let Some(containers) = &cluster.backend.containers else {
        return;
    };
    let (out, now) = (OutputStream::Stdout, cluster.now());
    match what {
        What::Started | What::StartedUnready => {
            let spec = fields::container(&pod["spec"], container);
            let image = spec.map_or("", |spec| text(&spec["image"]));
            containers.start(key, container);
            let line = format!("container {container} of image {image} started");
            containers.write(key, container, out, now, &line);
        }
        What::Uses(steps) => {
            let steps = steps.iter().map(|step| {
                let from = now.checked_add(step.after).unwrap_or(Timestamp::MAX);
                (from, step.amount)
            });
            containers.set_usage(key, container, steps.collect());
        }
        What::Logged(text) => containers.write(key, container, out, now, text),
        What::Ended(code) => {
            let stream = if *code == 0 {
                out
            } else {
                OutputStream::Stderr
            };
            let line = format!("container {container} ended with exit code {code}");
            containers.write(key, container, stream, now, &line);
            containers.end(key, container);
        }
        What::BackedOff | What::NotPulled(_) | What::PullBackedOff(_) => {}
    }
}

/// Records that the containers of a pod are told to end.
fn tell_of_stop(cluster: &mut Cluster<'_, '_>, pod: &Pod) {
    let value = pod.stored.to_value();
    for container in value["spec"]["containers"].as_array().into_iter().flatten() {
        let message = format!("Stopping container {}", text(&container["name"]));
        cluster.event(&POD, &value, "Killing", &message);
    }
}
