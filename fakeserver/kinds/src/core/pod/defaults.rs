//! Defaults and preparation of pods.

use std::collections::{BTreeMap, VecDeque};

use fakeserver_value::{
    edit::{each, is_unset, set, set_or_remove, within},
    read::text,
};
use serde_json::{Value, json};

use crate::{
    core::pod::qos::qos_class,
    pod_spec::{self, validation::pod_resources::aggregate},
    resource_names::{can_overcommit, is_huge_pages, round_amounts, round_resources},
};

pub fn set_defaults(pod: &mut Value) {
    let spec = &mut pod["spec"];
    pod_spec::defaults::set_defaults(spec);
    set(spec, "enableServiceLinks", json!(true));
    let is_on_host = spec["hostNetwork"] == true;
    for list in ["containers", "initContainers"] {
        for container in each(spec, list) {
            if let Some(resources) = within(container, "resources") {
                request_limits(resources);
            }
            for port in each(container, "ports").filter(|_| is_on_host) {
                let number = port["containerPort"].clone();
                set(port, "hostPort", number);
            }
        }
    }
    // After the containers: the requests of a pod are the sums of theirs.
    request_of_pod(spec);
    align_addresses(pod);
}

/// Sets the requests that a pod with limits leaves out: those of its containers, or its limits.
#[doc(alias = "defaultPodRequests")]
fn request_of_pod(spec: &mut Value) {
    let limits = spec["resources"]["limits"].as_object().cloned();
    let Some(limits) = limits.filter(|limits| !limits.is_empty()) else {
        return;
    };
    let is_known = |name: &str| matches!(name, "cpu" | "memory") || is_huge_pages(name);
    let sums = aggregate(spec, "requests").into_iter();
    let sums = sums.filter(|(name, _)| can_overcommit(name));
    let sums = sums.map(|(name, sum)| (name, json!(sum.to_string())));
    let requests = &mut spec["resources"]["requests"];
    for (name, amount) in sums.chain(limits) {
        if is_known(&name) && requests[&name].is_null() {
            requests[&name] = amount;
        }
    }
}

/// Sets missing requests to the limits.
fn request_limits(resources: &mut Value) {
    let limits = resources["limits"].as_object().cloned();
    for (resource, limit) in limits.into_iter().flatten() {
        if resources["requests"][&resource].is_null() {
            resources["requests"][&resource] = limit;
        }
    }
}

/// The first of several addresses is the one that had a field of its own before there could be several.
pub fn align_addresses(pod: &mut Value) {
    let Some(status) = within(pod, "status") else {
        return;
    };
    let address = status["podIP"].clone();
    let first = status["podIPs"][0]["ip"].clone();
    if !is_unset(&address) && address != first {
        status["podIPs"] = json!([{"ip": address}]);
    } else if is_unset(&address) && !is_unset(&first) {
        status["podIP"] = first;
    }
}

/// Completes a status that was written: its addresses, and the amounts of its resources.
pub fn complete_status(pod: &mut Value) {
    align_addresses(pod);
    let Some(status) = within(pod, "status") else {
        return;
    };
    round_status(status);
    for list in [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ] {
        each(status, list).for_each(round_status);
    }
}

/// Rounds the amounts in the status of a pod or a container.
fn round_status(status: &mut Value) {
    if let Some(resources) = within(status, "resources") {
        round_resources(resources);
    }
    if let Some(amounts) = within(status, "allocatedResources") {
        round_amounts(amounts);
    }
}

/// Gives a new pod its status.
pub fn prepare(pod: &mut Value) {
    // A status that a client has sent is replaced: a new pod begins with none of it.
    pod["status"] = json!({"phase": "Pending", "qosClass": qos_class(pod)});
    let gates = pod["spec"]["schedulingGates"].as_array();
    if gates.is_some_and(|gates| !gates.is_empty()) {
        pod["status"]["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": null,
            "lastTransitionTime": null,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
}

/// Keeps the class and the observed generations that a status leaves out.
pub fn prepare_update(old: &Value, pod: &mut Value) {
    let Some(status) = within(pod, "status") else {
        return;
    };
    let old = &old["status"];
    for field in ["qosClass", "observedGeneration"] {
        if is_unset(&status[field]) || status[field] == 0 {
            set_or_remove(status, field, old.get(field).cloned());
        }
    }
    // By type and order: a status may have several conditions of one type.
    let mut by_kind: BTreeMap<&str, VecDeque<&Value>> = BTreeMap::new();
    for condition in old["conditions"].as_array().into_iter().flatten() {
        let kind = text(&condition["type"]);
        let generations = by_kind.entry(kind).or_default();
        generations.push_back(&condition["observedGeneration"]);
    }
    for condition in each(status, "conditions") {
        let kind = text(&condition["type"]);
        let generation = by_kind.get_mut(kind).and_then(VecDeque::pop_front);
        let is_absent = condition["observedGeneration"].as_i64().unwrap_or_default() == 0;
        if let Some(generation) = generation.filter(|generation| is_absent && !generation.is_null())
        {
            condition["observedGeneration"] = generation.clone();
        }
    }
}
