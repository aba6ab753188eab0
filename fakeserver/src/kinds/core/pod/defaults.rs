//! Defaults and preparation of pods.

use serde_json::{Value, json};

use crate::{
    kinds::{core::pod::qos::qos_class, pod_spec},
    value::edit::{each, is_unset, set, within},
};

pub(crate) fn set_defaults(pod: &mut Value) {
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
    align_addresses(pod);
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
pub(crate) fn align_addresses(pod: &mut Value) {
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

/// Gives a new pod its status.
pub(crate) fn prepare(pod: &mut Value) {
    pod["status"] = json!({"phase": "Pending", "qosClass": qos_class(pod)});
}
