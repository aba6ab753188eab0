//! The usage of pods.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_value::{read::items, schema::Quantity};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    Amounts, Side,
    pod_resources::{effective, is_of_whole_pods},
    scope::Scope,
};
use crate::{
    core::pod,
    resource_names::{is_extended, is_huge_pages, is_native},
};

const PODS: &str = "pods";
const REQUESTS: &str = "requests.";
const LIMITS: &str = "limits.";
/// The resources of containers that quotas know by their names, and with the prefixes of requests and limits.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// The resources that each container has to ask for, if a quota counts them.
const REQUIRED: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];
/// The domain of the resources that stand for the classes of devices.
pub(super) const DEVICE_CLASSES: &str = "deviceclass.resource.kubernetes.io/";

pub(super) fn counts(name: &str) -> bool {
    let requested = name.strip_prefix(REQUESTS);
    let limited = name.strip_prefix(LIMITS);
    let compute = requested.or(limited).unwrap_or(name);
    name == PODS
        || COMPUTE.contains(&compute)
        || is_huge_pages(requested.unwrap_or(name))
        || is_extended_request(name)
}

/// Returns whether quotas know it as the request of a resource that is not of Kubernetes, or that stands for devices.
pub(super) fn is_extended_request(name: &str) -> bool {
    let requested = name.strip_prefix(REQUESTS);
    requested.is_some_and(|resource| !is_native(name) || resource.starts_with(DEVICE_CLASSES))
}

/// Returns whether containers may request it as a resource that is not of Kubernetes, or that stands for devices.
fn is_foreign(name: &str) -> bool {
    name.starts_with(DEVICE_CLASSES) || is_extended(name)
}

/// Returns the usage of a pod, which is empty once the pod has ended.
pub(super) fn usage(pod: &Value, now: Timestamp) -> Amounts {
    if has_ended(pod, now) {
        return Amounts::default();
    }
    let mut usage = of_resources(
        &effective(pod, Side::Requests),
        &effective(pod, Side::Limits),
    );
    usage.set(PODS, Quantity::from(1));
    usage
}

/// Returns requests and limits by the names that quotas have for them.
fn of_resources(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut usage = Amounts::default();
    for (name, amount) in requests.iter() {
        let is_plain = COMPUTE.contains(&name) || is_huge_pages(name);
        if is_plain {
            usage.set(name, amount.clone());
        }
        if is_plain || is_foreign(name) {
            usage.set(format!("{REQUESTS}{name}"), amount.clone());
        }
    }
    for (name, amount) in limits.iter().filter(|(name, _)| COMPUTE.contains(name)) {
        usage.set(format!("{LIMITS}{name}"), amount.clone());
    }
    usage
}

/// Returns whether a pod is in its last phase, or should have been gone for its grace period.
fn has_ended(pod: &Value, now: Timestamp) -> bool {
    if matches!(
        pod["status"]["phase"].as_str(),
        Some("Failed" | "Succeeded")
    ) {
        return true;
    }
    let metadata = &pod["metadata"];
    let deleted = metadata["deletionTimestamp"].as_str();
    let deleted = deleted.and_then(|text| text.parse::<Timestamp>().ok());
    let grace = metadata["deletionGracePeriodSeconds"].as_i64();
    let end = deleted
        .zip(grace)
        .and_then(|(deleted, grace)| deleted.checked_add(SignedDuration::from_secs(grace)).ok());
    end.is_some_and(|end| now > end)
}

/// Returns which of the `required` resources containers of a pod do not ask for, in the words of a rejection.
pub(super) fn missing<'a>(
    required: impl Iterator<Item = &'a str>,
    pod: &'a Value,
) -> Option<String> {
    let spec = &pod["spec"];
    let whole = &spec["resources"];
    let sides = [Side::Requests, Side::Limits].map(|side| side.of(whole));
    if sides.iter().any(|side| side.names().any(is_of_whole_pods)) {
        return None;
    }
    let required: BTreeSet<&str> = required.filter(|name| REQUIRED.contains(name)).collect();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in items(&spec["containers"])
        .iter()
        .chain(items(&spec["initContainers"]))
    {
        let resources = &container["resources"];
        let requested = of_resources(&Side::Requests.of(resources), &Side::Limits.of(resources));
        for name in &required {
            if requested.get(name).is_none() {
                let of_resource = missing.entry(name).or_default();
                of_resource.insert(container["name"].as_str().unwrap_or_default());
            }
        }
    }
    let parts: Vec<String> = missing
        .into_iter()
        .map(|(name, containers)| {
            let containers: Vec<&str> = containers.into_iter().collect();
            format!("{name} for: {}", containers.join(","))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("must specify {}", parts.join("; ")))
}

/// Returns whether a pod is in a scope.
pub(super) fn is_in(scope: &Scope, pod: &Value) -> bool {
    match scope.name.as_str() {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "PriorityClass" => match pod["spec"]["priorityClassName"].as_str() {
            None | Some("") => scope.selects(&[]),
            Some(class) => scope.selects(&[class]),
        },
        "CrossNamespacePodAffinity" => crosses_namespaces(&pod["spec"]["affinity"]),
        _ => false,
    }
}

/// Returns whether a pod has a limited time to run.
pub fn is_terminating(pod: &Value) -> bool {
    let deadline = pod["spec"]["activeDeadlineSeconds"].as_i64();
    deadline.is_some_and(|seconds| seconds >= 0)
}

fn is_best_effort(pod: &Value) -> bool {
    let class = match pod["status"]["qosClass"].as_str() {
        None | Some("") => pod::qos_class(pod),
        Some(class) => class,
    };
    class == "BestEffort"
}

/// Returns whether a term of affinity looks at the pods of other namespaces.
fn crosses_namespaces(affinity: &Value) -> bool {
    let crosses = |term: &Value| {
        !items(&term["namespaces"]).is_empty() || !term["namespaceSelector"].is_null()
    };
    let mut kinds = [&affinity["podAffinity"], &affinity["podAntiAffinity"]].into_iter();
    kinds.any(|kind| {
        let required = &kind["requiredDuringSchedulingIgnoredDuringExecution"];
        let preferred = &kind["preferredDuringSchedulingIgnoredDuringExecution"];
        items(required).iter().any(crosses)
            || items(preferred)
                .iter()
                .any(|weighted| crosses(&weighted["podAffinityTerm"]))
    })
}
