//! The usage of claims to volumes.

use fakeserver_value::schema::Quantity;
use serde_json::Value;

use super::{Amounts, scope::Scope};
use crate::{
    core::persistent_volume_claim::request::{self, class_of},
    formats::quantity,
};

const CLAIMS: &str = "persistentvolumeclaims";
const STORAGE: &str = "requests.storage";
/// The part between the name of a storage class and the resource that is counted of it.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

pub(super) fn counts(name: &str) -> bool {
    let of_class = name.rsplit_once(OF_CLASS).map(|(_, resource)| resource);
    matches!(of_class.unwrap_or(name), CLAIMS | STORAGE)
}

/// Returns the usage of a claim, which counts for its storage class as well.
pub(super) fn usage(claim: &Value) -> Amounts {
    let mut usage = Amounts::default();
    usage.set(CLAIMS, Quantity::from(1));
    if let Some(size) = size_of(claim) {
        usage.set(STORAGE, size.rounded_up());
    }
    let class = class_of(claim);
    if !class.is_empty() {
        let of_class = usage.iter();
        let of_class: Amounts = of_class
            .map(|(name, amount)| (format!("{class}{OF_CLASS}{name}"), amount.clone()))
            .collect();
        usage.add(&of_class);
    }
    usage
}

/// Returns the size that a claim asks for, or the one that a volume of it is being expanded to, if that is larger.
fn size_of(claim: &Value) -> Option<Quantity> {
    if claim["spec"]["resources"]["requests"]["storage"].is_null() {
        return None;
    }
    let requested = request::size_of(claim);
    let allocated = &claim["status"]["allocatedResources"]["storage"];
    let allocated = (!allocated.is_null()).then(|| quantity(allocated));
    Some(match allocated {
        Some(allocated) if allocated > requested => allocated,
        _ => requested,
    })
}

/// Returns whether a claim is in a scope, by the classes of attributes that its volume has or gets.
pub(super) fn is_in(scope: &Scope, claim: &Value) -> bool {
    let status = &claim["status"];
    let mut classes: Vec<&str> = [
        &claim["spec"]["volumeAttributesClassName"],
        &status["currentVolumeAttributesClassName"],
        &status["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
    ]
    .into_iter()
    .filter_map(Value::as_str)
    .filter(|class| !class.is_empty())
    .collect();
    classes.sort_unstable();
    classes.dedup();
    scope.name == "VolumeAttributesClass" && scope.selects(&classes)
}
