//! The usage of claims to devices.

use std::collections::BTreeMap;

use fakeserver_value::{read::items, schema::Quantity};
use serde_json::Value;

use super::{
    Amounts, UsageContext,
    pod::{self, DEVICE_CLASSES, is_extended_request},
};
use crate::{
    core,
    resource::{device_class, resource_claim},
};

/// The end of the name by which quotas count the devices of a class.
const OF_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
const REQUESTS: &str = "requests.";
/// The number of devices that a claim to all of them counts for.
const ALL_DEVICES: i64 = 32;
/// The annotation of a claim that was made for the extended resources of a pod.
const FOR_EXTENDED_RESOURCES: &str = "resource.kubernetes.io/extended-resource-claim";

pub(super) fn counts(name: &str, around: &dyn UsageContext) -> bool {
    if name.ends_with(OF_CLASS) {
        return true;
    }
    let resource = name.strip_prefix(REQUESTS);
    let resource = resource.filter(|_| is_extended_request(name));
    resource.is_some_and(|resource| {
        let classes = around.list(&device_class::KIND, None);
        let mut names = classes
            .iter()
            .map(|class| match resource.strip_prefix(DEVICE_CLASSES) {
                Some(class_name) => class["metadata"]["name"] == class_name,
                None => class["spec"]["extendedResourceName"] == resource,
            });
        names.any(|is_same| is_same)
    })
}

/// Returns the usage of a claim: the devices of each class, also by the names of extended resources as far as the pod
/// that the claim was made for does not count them.
pub(super) fn usage(claim: &Value, around: &dyn UsageContext) -> Amounts {
    let mut devices: BTreeMap<&str, i64> = BTreeMap::new();
    for request in items(&claim["spec"]["devices"]["requests"]) {
        for (class, count) in devices_of(request) {
            *devices.entry(class).or_default() += count;
        }
    }
    let mut usage: Amounts = devices
        .iter()
        .map(|(class, count)| (format!("{class}{OF_CLASS}"), Quantity::from(*count)))
        .collect();
    let mut extended = Amounts::default();
    let classes = around.list(&device_class::KIND, None);
    for (class, count) in devices.iter().filter(|(class, _)| !class.is_empty()) {
        extended.set(
            format!("{REQUESTS}{DEVICE_CLASSES}{class}"),
            Quantity::from(*count),
        );
        let mut found = classes
            .iter()
            .filter(|other| other["metadata"]["name"] == *class);
        let resource = found
            .next()
            .and_then(|class| class["spec"]["extendedResourceName"].as_str());
        if let Some(resource) = resource {
            extended.set(format!("{REQUESTS}{resource}"), Quantity::from(*count));
        }
    }
    usage.replace(extended.beyond(&counted_by_pod(claim, around)));
    usage
}

/// Returns the number of devices of each class that a request may get. Of alternatives, the greatest counts.
fn devices_of(request: &Value) -> BTreeMap<&str, i64> {
    let one = (!request["exactly"].is_null()).then_some(&request["exactly"]);
    let several = items(&request["firstAvailable"]);
    let is_choice = !several.is_empty();
    let mut devices: BTreeMap<&str, i64> = BTreeMap::new();
    for wanted in several.iter().chain(one.filter(|_| !is_choice)) {
        let class = wanted["deviceClassName"].as_str().unwrap_or_default();
        let count = match wanted["allocationMode"].as_str() {
            Some("ExactCount") => wanted["count"].as_i64().unwrap_or_default(),
            Some("All") => ALL_DEVICES,
            _ => 0,
        };
        let most = devices.entry(class).or_default();
        *most = count.max(*most);
    }
    devices
}

/// Returns what quotas count already of the pod that the claim was made for.
fn counted_by_pod(claim: &Value, around: &dyn UsageContext) -> Amounts {
    let counted = pod_of(claim, around).map(|pod| pod::usage(&pod, around.now()));
    counted.unwrap_or_default()
}

/// Returns the pod for whose extended resources the claim was made.
fn pod_of(claim: &Value, around: &dyn UsageContext) -> Option<Value> {
    let uid = pod_uid_of(claim)?;
    let metadata = &claim["metadata"];
    let namespace = metadata["namespace"].as_str();
    let pods = around.list(&core::pod::KIND, namespace);
    let pod = pods.into_iter().find(|pod| pod["metadata"]["uid"] == uid)?;
    let status = &pod["status"]["extendedResourceClaimStatus"];
    let is_own = if status.is_null() {
        let claims = around.list(&resource_claim::KIND, namespace);
        let age = |claim: &Value| {
            let text = |field: &str| {
                claim["metadata"][field]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            (text("creationTimestamp"), text("name"))
        };
        let mut others = claims.iter().filter(|other| pod_uid_of(other) == Some(uid));
        others.all(|other| age(other) >= age(claim))
    } else {
        status["resourceClaimName"] == metadata["name"]
    };
    is_own.then_some(pod)
}

/// Returns the uid of the pod that controls a claim for extended resources.
fn pod_uid_of(claim: &Value) -> Option<&str> {
    let metadata = &claim["metadata"];
    if metadata["annotations"][FOR_EXTENDED_RESOURCES] != "true" {
        return None;
    }
    let mut owners = items(&metadata["ownerReferences"]).iter();
    let owner = owners.find(|owner| owner["controller"] == true)?;
    let is_pod = owner["kind"] == "Pod" && owner["apiVersion"] == "v1";
    owner["uid"].as_str().filter(|_| is_pod)
}
