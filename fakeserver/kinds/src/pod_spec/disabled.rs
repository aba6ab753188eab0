//! The fields of pods whose features are off.

use fakeserver_value::edit::{each, remove};
use serde_json::{Value, json};

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The sources of projected volumes that need a feature.
const SOURCES: [&str; 2] = ["clusterTrustBundle", "podCertificate"];

/// Drops the fields whose features are off from the pod, or the template of pods, to which `pointer` leads, unless the object
/// that this one replaces uses them.
#[doc(alias("DropDisabledPodFields", "DropDisabledTemplateFields"))]
pub fn drop_disabled(pointer: &str, old: &Value, new: &mut Value) {
    let place = format!("{pointer}/spec");
    if let Some(spec) = new.pointer_mut(&place).filter(|spec| spec.is_object()) {
        drop_of_spec(old.pointer(&place).unwrap_or(&Value::Null), spec);
    }
    let claims = "nodeAllocatableResourceClaimStatuses";
    let status = new.get_mut("status").filter(|_| pointer.is_empty());
    if let Some(status) = status
        && old["status"][claims].is_null()
    {
        remove(status, claims);
    }
}

fn drop_of_spec(old: &Value, spec: &mut Value) {
    if old["schedulingGroup"].is_null() {
        remove(spec, "schedulingGroup");
    }
    if !uses_stop_signals(old) {
        for list in CONTAINERS {
            each(spec, list).for_each(drop_stop_signal);
        }
    }
    for source in SOURCES {
        if !has_source(old, source) {
            drop_source(spec, source);
        }
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

fn has_source(spec: &Value, name: &str) -> bool {
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let sources = volumes.filter_map(|volume| volume["projected"]["sources"].as_array());
    sources.flatten().any(|source| !source[name].is_null())
}

fn drop_source(spec: &mut Value, name: &str) {
    for volume in each(spec, "volumes") {
        if let Some(projected) = volume.get_mut("projected") {
            each(projected, "sources").for_each(|source| remove(source, name));
        }
    }
}
