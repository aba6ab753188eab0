//! Events, log lines and usage of containers.

use std::time::Duration;

use fakeserver_server::{
    controllers::correlation::EventText,
    controllers::{cluster::Cluster, pods::Pod},
    store::ObjectKey,
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::Value;

use super::{
    Kubelet, POD,
    command::FOREVER,
    container::Role,
    fields::{self, ContainerField},
    life::{ContainerEvent, ContainerEventKind, PodLifecycle, go_duration},
    needs::StartObstacle,
};
use crate::{
    containers::{Containers, OutputStream},
    workloads::stages::Pull,
};

/// The sizes of images, of which the name decides: from 5 to 205 MB.
const IMAGE_BYTES: u64 = 5_000_000;
const IMAGE_MORE_BYTES: u64 = 200_000_000;
/// The number of images that a node keeps. More are forgotten, as by its garbage collection.
const IMAGES_MAX: usize = 100;

// === impl Kubelet ===

impl Kubelet {
    /// Records what happened to containers.
    pub(super) fn record_container_events(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        pod: &Value,
        events: &[ContainerEvent],
    ) {
        for it in events {
            log(&self.containers, cluster.now(), key, pod, it);
            self.record_container_event(cluster, pod, it);
        }
    }

    fn record_container_event(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        pod: &Value,
        it: &ContainerEvent,
    ) {
        let path = field_path(it.role, &it.container);
        let mut record = |event: EventText<'_>| {
            cluster.correlated_event(&mut self.events, &POD, pod, &event.at(&path));
        };
        let normal = |reason, message| EventText::normal(reason, message);
        match &it.what {
            ContainerEventKind::Pulling(image) => {
                record(normal("Pulling", &format!("Pulling image \"{image}\"")));
            }
            ContainerEventKind::Pulled(image, time) => {
                let (time, bytes) = (go_duration(*time), size(image));
                let message = format!(
                    "Successfully pulled image \"{image}\" in {time} ({time} including waiting). Image size: {bytes} bytes."
                );
                record(normal("Pulled", &message));
            }
            ContainerEventKind::Present(image) => {
                let message = format!(
                    "Container image \"{image}\" already present on machine and can be accessed by the pod"
                );
                record(normal("Pulled", &message));
            }
            ContainerEventKind::Started => {
                record(normal("Created", "Container created"));
                record(normal("Started", "Container started"));
            }
            ContainerEventKind::Uses(_)
            | ContainerEventKind::Logged(_)
            | ContainerEventKind::Exited(_) => {}
            ContainerEventKind::BackedOff(pod) => {
                let name = &it.container;
                let message = format!("Back-off restarting failed container {name} in pod {pod}");
                record(EventText::warning("BackOff", &message));
            }
            ContainerEventKind::NotPulled(why) => {
                record(EventText::warning("Failed", why));
                record(EventText::warning("Failed", "Error: ErrImagePull"));
            }
            ContainerEventKind::NeverPulled(why) => {
                record(EventText::warning("ErrImageNeverPull", why));
                record(EventText::warning("Failed", "Error: ErrImageNeverPull"));
            }
            ContainerEventKind::PullBackedOff(why) => {
                record(normal("BackOff", why));
                record(EventText::warning("Failed", "Error: ImagePullBackOff"));
            }
            ContainerEventKind::Unhealthy(kind) => {
                let message = format!("{} probe failed: a stage says so", kind.name());
                record(EventText::warning("Unhealthy", &message));
            }
            ContainerEventKind::Killed(kind) => {
                let (name, probe) = (&it.container, kind.name().to_lowercase());
                let message = format!("Container {name} failed {probe} probe, will be restarted");
                record(normal("Killing", &message));
            }
            ContainerEventKind::Resized => {
                let message = format!("Container {} resize requires restart", it.container);
                record(normal("Killing", &message));
            }
            ContainerEventKind::Redefined => {
                let name = &it.container;
                let message = format!("Container {name} definition changed, will be restarted");
                record(normal("Killing", &message));
            }
        }
    }

    /// Records that the running containers of a pod are being stopped.
    pub(super) fn record_stop(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value) {
        let containers = pod["spec"]["containers"].as_array();
        for container in containers.into_iter().flatten() {
            let name = text(&container["name"]);
            let path = field_path(Role::Main, name);
            let message = format!("Stopping container {name}");
            let event = EventText::normal("Killing", &message).at(&path);
            cluster.correlated_event(&mut self.events, &POD, pod, &event);
        }
    }

    /// Records that a pod has run for as long as it may.
    pub(super) fn record_deadline(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value) {
        let event = EventText::normal("DeadlineExceeded", super::status::PAST_DEADLINE);
        cluster.correlated_event(&mut self.events, &POD, pod, &event);
        self.record_stop(cluster, pod);
    }

    /// Notes the obstacle of a pod that needs something missing or invalid, and records an event for a new obstacle.
    pub(super) fn note_needs(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        pod: &Value,
        life: &PodLifecycle,
        unmounted: Option<&StartObstacle>,
    ) {
        let lack = unmounted.cloned().or_else(|| {
            life.lacks()
                .map(|lacking| StartObstacle::Missing(lacking.message.to_owned()))
        });
        let Some(lack) = lack else {
            self.blocked.remove(key);
            return;
        };
        if self.blocked.get(key) == Some(&lack) {
            return;
        }
        let mut record = |reason: &str, message: &str, path: &str| {
            let event = EventText::warning(reason, message).at(path);
            cluster.correlated_event(&mut self.events, &POD, pod, &event);
        };
        match (unmounted, life.lacks()) {
            (Some(StartObstacle::Missing(why)), _) => record("FailedMount", why, ""),
            (None, Some(lacking)) => {
                let path = field_path(lacking.role, lacking.container);
                if lacking.is_invalid_image() {
                    record("InspectFailed", lacking.message, &path);
                    record("Failed", &format!("Error: {}", lacking.reason), &path);
                } else {
                    record("Failed", &format!("Error: {}", lacking.message), &path);
                }
            }
            _ => {}
        }
        self.blocked.insert(key.clone(), lack);
    }

    /// Returns how the image of a container gets to the node of its pod.
    pub(super) fn pull(&self, pod: &Pod, spec: &Value) -> Pull {
        let image = text(&spec["image"]);
        let is_there = || {
            let images = self.images.get(&pod.node);
            images.is_some_and(|images| images.contains(image))
        };
        match text(&spec["imagePullPolicy"]) {
            "Always" => Pull::Needed,
            "Never" => Pull::Forbidden,
            _ if is_there() => Pull::Unneeded,
            _ => Pull::Needed,
        }
    }

    /// Notes that the node of a pod has the images of the containers that have started.
    pub(super) fn note_images(&mut self, pod: &Pod, events: &[ContainerEvent]) {
        for ContainerEvent { what, .. } in events {
            let ContainerEventKind::Pulled(image, _) = what else {
                continue;
            };
            let images = self.images.entry(pod.node.clone()).or_default();
            // All at once: which of them was used last is not known.
            if images.len() >= IMAGES_MAX {
                images.clear();
            }
            images.insert(image.clone());
        }
    }
}

/// Returns the path of a container within its pod.
fn field_path(role: Role, container: &str) -> String {
    format!("spec.{}{{{container}}}", ContainerField::of(role).name())
}

/// Returns the size of an image in bytes, always the same for a name.
fn size(image: &str) -> u64 {
    // FNV-1a with 64 bits.
    let hash = image.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    IMAGE_BYTES + hash % IMAGE_MORE_BYTES
}

/// Writes a line about a start or an end to the log of a container, and notes its usage.
fn log(containers: &Containers, now: Timestamp, key: &ObjectKey, pod: &Value, it: &ContainerEvent) {
    let container = &*it.container;
    let out = OutputStream::Stdout;
    match &it.what {
        ContainerEventKind::Started => {
            let spec = fields::container(&pod["spec"], container);
            let image = spec.map_or("", |spec| text(&spec["image"]));
            containers.start(key, container);
            let line = format!("container {container} of image {image} started");
            containers.write(key, container, out, now, &line);
        }
        ContainerEventKind::Uses(steps) => {
            let steps = steps.iter().map(|step| {
                let from = now.checked_add(step.after).unwrap_or(Timestamp::MAX);
                (from, step.amount)
            });
            containers.set_usage(key, container, steps.collect());
        }
        ContainerEventKind::Logged(text) => containers.write(key, container, out, now, text),
        ContainerEventKind::Exited(code) => {
            let stream = if *code == 0 {
                out
            } else {
                OutputStream::Stderr
            };
            let line = format!("container {container} ended with exit code {code}");
            containers.write(key, container, stream, now, &line);
            containers.end(key, container);
        }
        _ => {}
    }
}

/// Returns the time that the `preStop` hooks of a pod take before its containers are stopped. A hook whose command has no known
/// time takes none.
pub(super) fn hook_time(pod: &Value) -> Duration {
    let containers = pod["spec"]["containers"].as_array();
    let times = containers.into_iter().flatten().map(|container| {
        let hook = &container["lifecycle"]["preStop"];
        if let Some(seconds) = hook["sleep"]["seconds"].as_u64() {
            return Duration::from_secs(seconds).min(FOREVER);
        }
        let run = super::command::run_of([&hook["exec"]["command"]]);
        run.map_or(Duration::ZERO, |run| run.time)
    });
    times.max().unwrap_or_default()
}
