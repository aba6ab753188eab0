//! Admission plugins, one a file. Their order is that of `chain`.

pub(super) mod default_ingress_class;
pub(super) mod default_storage_class;
pub(super) mod default_toleration_seconds;
pub(super) mod limit_ranger;
pub(super) mod namespace_lifecycle;
pub(super) mod policies;
pub(super) mod priority;
pub(super) mod resource_quota;
pub(super) mod runtime_class;
pub(super) mod storage_object_in_use_protection;
pub(super) mod taint_nodes_by_condition;
pub(super) mod webhooks;
#[cfg(test)]
mod tests;

use serde_json::Value;

#[cfg(feature = "controllers")]
use crate::kinds::core::{node, pod};
use crate::{
    kinds::Kind,
    store::{ObjectKey, StoredObject, Transaction},
};

/// Adds to a new object what plugins add without looking at other objects. Controllers create objects so.
#[cfg(feature = "controllers")]
pub(crate) fn complete(kind: &Kind, object: &mut Value) {
    if kind.is(&pod::KIND) {
        priority::set_default(&mut object["spec"]);
        default_toleration_seconds::tolerate_loss(&mut object["spec"]);
    } else if kind.is(&node::KIND) {
        taint_nodes_by_condition::taint(object);
    }
}

/// Returns the object of a cluster-scoped kind.
fn find(tx: &Transaction<'_>, kind: &'static Kind, name: &str) -> Option<Value> {
    let key = ObjectKey::cluster(kind.storage().clone(), name);
    tx.get(&key).map(|stored| stored.to_value())
}

/// Lists the objects of a cluster-scoped kind.
fn list(tx: &Transaction<'_>, kind: &'static Kind) -> Vec<Value> {
    let stored = tx.list(kind.storage(), None);
    let values = stored.iter().map(|stored| StoredObject::to_value(stored));
    values.collect()
}
