//! Storage classes of claims, and the default one of a cluster.

use fakeserver_kinds::storage;
use fakeserver_server::{controllers::cluster::Cluster, store::ObjectKey, write::complete_class};
use serde_json::{Value, json};

use super::{ACTOR, provisioning::STANDARD_PROVISIONER};

/// The class that is created if the cluster has none.
const STANDARD: &str = "standard";
const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(storage::storage_class::KIND.storage().clone(), name)
}

pub(super) fn find(cluster: &Cluster<'_, '_>, name: &str) -> Option<Value> {
    let stored = cluster.get(&key(name))?;
    Some(stored.to_value())
}

/// Gives a claim without a class the present default class, and returns whether it got one.
pub(super) fn set_default(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, claim: &Value) -> bool {
    let mut completed = claim.clone();
    complete_class(cluster.tx, &mut completed);
    let class = completed["spec"]["storageClassName"].take();
    if class == claim["spec"]["storageClassName"] {
        return false;
    }
    cluster.update(key, ACTOR, |claim| {
        claim["spec"]["storageClassName"] = class;
    });
    true
}

/// Creates the default class.
pub(super) fn create_default(cluster: &mut Cluster<'_, '_>) {
    let class = json!({
        "metadata": {"name": STANDARD, "annotations": {IS_DEFAULT: "true"}},
        "provisioner": STANDARD_PROVISIONER,
        "allowVolumeExpansion": true,
    });
    cluster.create(storage::storage_class::KIND.storage(), ACTOR, class);
}
