//! The fields of pods whose features are off.

use fakeserver_value::edit::{each, remove};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use crate::gated_fields::disabled_fields;

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops the fields whose features are off from the pod, or the template of pods, to which `pointer` leads, unless the object
/// that this one replaces uses them.
#[doc(alias("DropDisabledPodFields", "DropDisabledTemplateFields"))]
pub fn drop_disabled(kubernetes: KubernetesVersion, pointer: &str, old: &Value, new: &mut Value) {
    let old = old.pointer(pointer).unwrap_or(&Value::Null);
    let Some(pod) = new.pointer_mut(pointer) else {
        return;
    };
    if let Some(disabled) = disabled_fields(kubernetes, "pod") {
        disabled.drop_from(old, pod);
    }
    let (gates, was) = (kubernetes.gates(), &old["spec"]);
    let spec = pod.get_mut("spec").filter(|spec| spec.is_object());
    let Some(spec) = spec else {
        return;
    };
    if !gates.is_on("ContainerStopSignals") && !uses_stop_signals(was) {
        for list in CONTAINERS {
            each(spec, list).for_each(drop_stop_signal);
        }
    }
    let has_rules = gates.find("ContainerRestartRules");
    if has_rules.is_some_and(|gate| !gate.default_value()) && !uses_restart_policies(was) {
        drop_restart_policies(spec);
    }
    if !gates.is_on("ImageVolume") && !has_image(was) {
        drop_images(spec);
    }
}

fn uses_stop_signals(spec: &Value) -> bool {
    let lists = CONTAINERS.iter();
    let mut containers = lists.filter_map(|list| spec[*list].as_array()).flatten();
    containers.any(|container| !container["lifecycle"]["stopSignal"].is_null())
}

/// Drops the signal, and a lifecycle that has nothing else.
fn drop_stop_signal(container: &mut Value) {
    if container["lifecycle"]["stopSignal"].is_null() {
        return;
    }
    remove(&mut container["lifecycle"], "stopSignal");
    if container["lifecycle"] == json!({}) {
        remove(container, "lifecycle");
    }
}

/// Returns true if a container has a restart policy that only the feature allows.
fn uses_restart_policies(spec: &Value) -> bool {
    CONTAINERS.iter().any(|list| {
        let mut containers = spec[*list].as_array().into_iter().flatten();
        containers.any(|container| has_own_policy(list, container))
    })
}

/// Returns true if the restart policy of a container is not that of a sidecar.
fn has_own_policy(list: &str, container: &Value) -> bool {
    let policy = &container["restartPolicy"];
    let is_sidecar = list == "initContainers" && policy == "Always";
    !policy.is_null() && !is_sidecar
}

fn drop_restart_policies(spec: &mut Value) {
    for list in CONTAINERS {
        for container in each(spec, list) {
            if has_own_policy(list, container) {
                remove(container, "restartPolicy");
            }
        }
    }
}

fn has_image(spec: &Value) -> bool {
    let mut volumes = spec["volumes"].as_array().into_iter().flatten();
    volumes.any(|volume| !volume["image"].is_null())
}

/// Drops volumes of images, and their mounts.
fn drop_images(spec: &mut Value) {
    let mut dropped = Vec::new();
    let volumes = spec.get_mut("volumes").and_then(Value::as_array_mut);
    if let Some(volumes) = volumes {
        volumes.retain(|volume| {
            let is_image = !volume["image"].is_null();
            if is_image {
                dropped.push(volume["name"].clone());
            }
            !is_image
        });
    }
    if dropped.is_empty() {
        return;
    }
    remove_empty(spec, "volumes");
    for list in CONTAINERS {
        for container in each(spec, list) {
            let mounts = container
                .get_mut("volumeMounts")
                .and_then(Value::as_array_mut);
            if let Some(mounts) = mounts {
                mounts.retain(|mount| !dropped.contains(&mount["name"]));
                remove_empty(container, "volumeMounts");
            }
        }
    }
}

fn remove_empty(object: &mut Value, list: &str) {
    if object[list] == json!([]) {
        remove(object, list);
    }
}
