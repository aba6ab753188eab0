//! Words for the course of containers: their events, their logs and what they use.

use std::time::Duration;

use fakeserver_server::{
    controllers::correlation::EventText,
    controllers::{cluster::Cluster, pods::Pod},
    store::ObjectKey,
};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    Kubelet, POD,
    command::FOREVER,
    container::Role,
    fields::{self, ContainerField},
    life::{Happened, Life, What, go_duration},
    needs::Lack,
};
use crate::{
    containers::{Containers, OutputStream},
    workloads::{objects::text, stages::Pull},
};

/// The sizes of images, of which the name decides: from 5 to 205 MB.
const IMAGE_BYTES: u64 = 5_000_000;
const IMAGE_MORE_BYTES: u64 = 200_000_000;
/// The number of images that a node keeps. More are forgotten, as by its garbage collection.
const IMAGES_MAX: usize = 100;

// === impl Kubelet ===

impl Kubelet {
    /// Records what happened to containers.
    pub(super) fn tell(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        pod: &Value,
        happened: &[Happened],
    ) {
        for it in happened {
            log(&self.containers, cluster.now(), key, pod, it);
            self.tell_events(cluster, pod, it);
        }
    }

    fn tell_events(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value, it: &Happened) {
        let path = field_path(it.role, &it.container);
        let mut tell = |told: EventText<'_>| {
            cluster.correlated_event(&mut self.events, &POD, pod, &told.at(&path));
        };
        let normal = |reason, message| EventText::normal(reason, message);
        match &it.what {
            What::Pulling(image) => tell(normal("Pulling", &format!("Pulling image \"{image}\""))),
            What::Pulled(image, time) => {
                let (time, bytes) = (go_duration(*time), size(image));
                let message = format!(
                    "Successfully pulled image \"{image}\" in {time} ({time} including waiting). Image size: {bytes} bytes."
                );
                tell(normal("Pulled", &message));
            }
            What::Present(image) => {
                let message = format!(
                    "Container image \"{image}\" already present on machine and can be accessed by the pod"
                );
                tell(normal("Pulled", &message));
            }
            What::Started => {
                tell(normal("Created", "Container created"));
                tell(normal("Started", "Container started"));
            }
            What::Uses(_) | What::Logged(_) | What::Ended(_) => {}
            What::BackedOff(pod) => {
                let name = &it.container;
                let message = format!("Back-off restarting failed container {name} in pod {pod}");
                tell(EventText::warning("BackOff", &message));
            }
            What::NotPulled(why) => {
                tell(EventText::warning("Failed", why));
                tell(EventText::warning("Failed", "Error: ErrImagePull"));
            }
            What::NeverPulled(why) => {
                tell(EventText::warning("ErrImageNeverPull", why));
                tell(EventText::warning("Failed", "Error: ErrImageNeverPull"));
            }
            What::PullBackedOff(why) => {
                tell(normal("BackOff", why));
                tell(EventText::warning("Failed", "Error: ImagePullBackOff"));
            }
            What::Unhealthy(kind) => {
                let message = format!("{} probe failed: a stage says so", kind.name());
                tell(EventText::warning("Unhealthy", &message));
            }
            What::Killed(kind) => {
                let (name, probe) = (&it.container, kind.name().to_lowercase());
                let message = format!("Container {name} failed {probe} probe, will be restarted");
                tell(normal("Killing", &message));
            }
            What::Resized => {
                let message = format!("Container {} resize requires restart", it.container);
                tell(normal("Killing", &message));
            }
        }
    }

    /// Records that the containers of a pod that run are told to end.
    pub(super) fn tell_of_stop(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value) {
        let containers = pod["spec"]["containers"].as_array();
        for container in containers.into_iter().flatten() {
            let name = text(&container["name"]);
            let path = field_path(Role::Main, name);
            let message = format!("Stopping container {name}");
            let told = EventText::normal("Killing", &message).at(&path);
            cluster.correlated_event(&mut self.events, &POD, pod, &told);
        }
    }

    /// Records that a pod has run for as long as it may.
    pub(super) fn tell_of_deadline(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value) {
        let told = EventText::normal("DeadlineExceeded", super::status::PAST_DEADLINE);
        cluster.correlated_event(&mut self.events, &POD, pod, &told);
        self.tell_of_stop(cluster, pod);
    }

    /// Notes whether a pod needs something that is not there, or is not as it should be, and tells of it once.
    pub(super) fn note_needs(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        pod: &Value,
        life: &Life,
        unmounted: Option<&Lack>,
    ) {
        let lack = unmounted.cloned().or_else(|| {
            life.lacks()
                .map(|lacking| Lack::Missing(lacking.message.to_owned()))
        });
        let Some(lack) = lack else {
            self.blocked.remove(key);
            return;
        };
        if self.blocked.get(key) == Some(&lack) {
            return;
        }
        let mut tell = |reason: &str, message: &str, path: &str| {
            let told = EventText::warning(reason, message).at(path);
            cluster.correlated_event(&mut self.events, &POD, pod, &told);
        };
        match (unmounted, life.lacks()) {
            (Some(Lack::Missing(why)), _) => tell("FailedMount", why, ""),
            (None, Some(lacking)) => {
                let path = field_path(lacking.role, lacking.container);
                if lacking.is_invalid_image() {
                    tell("InspectFailed", lacking.message, &path);
                    tell("Failed", &format!("Error: {}", lacking.reason), &path);
                } else {
                    tell("Failed", &format!("Error: {}", lacking.message), &path);
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
    pub(super) fn note_images(&mut self, pod: &Pod, happened: &[Happened]) {
        for Happened { what, .. } in happened {
            let What::Pulled(image, _) = what else {
                continue;
            };
            let images = self.images.entry(pod.node.clone()).or_default();
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

/// Writes a line for a start or an end to the log of a container, and notes what it uses.
fn log(containers: &Containers, now: Timestamp, key: &ObjectKey, pod: &Value, it: &Happened) {
    let container = &*it.container;
    let out = OutputStream::Stdout;
    match &it.what {
        What::Started => {
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
        _ => {}
    }
}

/// Returns the time that the hooks of a pod's containers take before these are told to end. Those whose command does not tell
/// it take none.
pub(super) fn hook_time(pod: &Value) -> Duration {
    let containers = pod["spec"]["containers"].as_array();
    let times = containers.into_iter().flatten().map(|container| {
        let hook = &container["lifecycle"]["preStop"];
        if let Some(seconds) = hook["sleep"]["seconds"].as_u64() {
            return Duration::from_secs(seconds).min(FOREVER);
        }
        let course = super::command::course([&hook["exec"]["command"]]);
        course.map_or(Duration::ZERO, |course| course.time)
    });
    times.max().unwrap_or_default()
}
