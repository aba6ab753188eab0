//! Pods.

use serde_json::{Value, json};

use super::{each, is_unset, pod_spec, set, within};

/// How long a pod stays on a node that is gone.
const TOLERATED_SECONDS: i64 = 300;
/// The taints of such nodes.
const GONE: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

pub(super) fn set_defaults(pod: &mut Value) {
    let spec = &mut pod["spec"];
    pod_spec::set_defaults(spec);
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

/// What is limited is asked for, unless it says otherwise.
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

/// Adds priority and tolerations, as admission does.
pub(super) fn admit(pod: &mut Value) {
    let spec = &mut pod["spec"];
    let priority = match spec["priorityClassName"].as_str() {
        Some("system-node-critical") => 2_000_001_000,
        Some("system-cluster-critical") => 2_000_000_000,
        _ => 0,
    };
    set(spec, "priority", json!(priority));
    set(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    tolerate_loss(spec);
}

/// What admission gave a pod stays, if an update leaves it out.
pub(crate) fn keep_admitted(old: &Value, new: &mut Value) {
    let Some(spec) = within(new, "spec") else {
        return;
    };
    for field in ["priority", "preemptionPolicy"] {
        let admitted = old["spec"][field].clone();
        if !admitted.is_null() {
            set(spec, field, admitted);
        }
    }
    tolerate_loss(spec);
}

/// Lets a pod stay for a while on a node that is gone.
fn tolerate_loss(spec: &mut Value) {
    for taint in GONE {
        let tolerations = spec["tolerations"].as_array();
        let is_tolerated = tolerations.into_iter().flatten().any(|toleration| {
            let covers = |field: &str, value: &str| {
                is_unset(&toleration[field]) || toleration[field] == value
            };
            covers("key", taint) && covers("effect", "NoExecute")
        });
        if is_tolerated {
            continue;
        }
        let toleration = json!({
            "key": taint,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": TOLERATED_SECONDS,
        });
        match spec["tolerations"].as_array_mut() {
            Some(tolerations) => tolerations.push(toleration),
            None => spec["tolerations"] = json!([toleration]),
        }
    }
}
