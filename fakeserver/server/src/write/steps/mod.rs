//! Admission plugins, one a file. Their order is that of `chain`.

pub(super) mod certificate_approval;
pub(super) mod certificate_signing;
pub(super) mod certificate_subject_restriction;
pub(super) mod default_ingress_class;
pub(super) mod default_storage_class;
pub(super) mod default_toleration_seconds;
pub(super) mod limit_ranger;
pub(super) mod namespace_lifecycle;
pub(super) mod persistent_volume_claim_resize;
pub(super) mod policies;
pub(super) mod pod_security;
pub(super) mod priority;
pub(super) mod resource_quota;
pub(super) mod runtime_class;
pub(super) mod service_account;
pub(super) mod storage_object_in_use_protection;
pub(super) mod taint_nodes_by_condition;
pub(super) mod webhooks;
mod certificates;
#[cfg(test)]
mod tests;

use fakeserver_kinds::{
    Kind, ResourceType,
    core::{node, pod},
};
use fakeserver_value::status::{NamedObject, Status};
use serde_json::Value;

use self::resource_quota::TransactionView;

use crate::{
    store::{ObjectKey, StoredObject, Transaction},
    write::Backend,
};

/// Adds to a new object what plugins add without looking at other objects. Controllers create objects so.
pub fn complete(kind: &Kind, object: &mut Value) {
    if kind.is(&pod::KIND) {
        priority::set_default(&mut object["spec"]);
        default_toleration_seconds::tolerate_loss(&mut object["spec"]);
    } else if kind.is(&node::KIND) {
        taint_nodes_by_condition::taint(object);
    }
}

/// Adds to a new object of a controller what plugins add by the limit ranges of its namespace.
pub fn complete_by_ranges(
    backend: &Backend,
    tx: &Transaction<'_>,
    kind: &Kind,
    namespace: Option<&str>,
    object: &mut Value,
) {
    if kind.is(&pod::KIND) && backend.steps.has(&limit_ranger::STEP) {
        limit_ranger::complete_created(tx, namespace, object);
    }
}

/// Gives a new volume or claim of a controller the finalizer that protects it while it is in use.
pub fn complete_protection(backend: &Backend, kind: &Kind, object: &mut Value) {
    if backend.steps.has(&storage_object_in_use_protection::STEP) {
        storage_object_in_use_protection::protect(kind, object);
    }
}

/// Sets the priority of a controller's new pod from its class.
///
/// # Errors
///
/// The class does not exist.
pub fn complete_priority(
    backend: &Backend,
    tx: &Transaction<'_>,
    name: &str,
    pod: &mut Value,
) -> Result<(), Status> {
    if !backend.steps.has(&priority::STEP) {
        return Ok(());
    }
    let named = NamedObject {
        resource: "pods",
        group: "",
        name,
    };
    priority::set_from_class(tx, named, &mut pod["spec"])
}

/// Puts a complete new object of a controller to the plugins of limit ranges and quotas, and charges it to the quotas of
/// its namespace.
///
/// # Errors
///
/// A range or a quota does not allow the object.
pub fn admit_created(
    backend: &Backend,
    tx: &mut Transaction<'_>,
    resource: &ResourceType,
    key: &ObjectKey,
    object: &Value,
) -> Result<(), Status> {
    let namespace = key.namespace();
    let refused = |why: String| {
        let named = NamedObject {
            resource: &resource.plural,
            group: &resource.group,
            name: key.name(),
        };
        Status::forbidden(named, &why, Vec::new())
    };
    if backend.steps.has(&limit_ranger::STEP) {
        limit_ranger::check(tx, &resource.rules, namespace, object).map_err(refused)?;
    }
    if backend.steps.has(&resource_quota::STEP) {
        let now = backend.clock.now();
        let around = TransactionView { tx, now };
        let (place, now) = ((resource, namespace), backend.clock.now_text());
        let charges = resource_quota::charges(place, object, None, true, &around, &now);
        for (key, quota) in charges.map_err(refused)? {
            tx.put(&key, quota);
        }
    }
    Ok(())
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

/// Returns the newest class with the annotation of a default; of equally new ones, the first by name.
fn default_class(tx: &Transaction<'_>, kind: &'static Kind, annotations: &[&str]) -> Option<Value> {
    let mut classes = list(tx, kind);
    classes.retain(|class| {
        let values = &class["metadata"]["annotations"];
        annotations.iter().any(|key| values[*key] == "true")
    });
    // Classes are listed by name, and `max_by_key` would take the last of equally new ones.
    classes.into_iter().reduce(|newest, class| {
        let created = |class: &Value| {
            class["metadata"]["creationTimestamp"]
                .as_str()
                .map(str::to_owned)
        };
        if created(&class) > created(&newest) {
            class
        } else {
            newest
        }
    })
}

/// Returns the items of a list, which may be absent.
fn items(list: &Value) -> impl Iterator<Item = &Value> + use<'_> {
    list.as_array().into_iter().flatten()
}
