//! What may be created in a namespace, and which one may be deleted.

use crate::{
    deletion::is_deleted,
    status::{Cause, Named, Status},
    storage::{GroupResource, ObjectKey, Transaction},
};

/// The namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(GroupResource::new("", "namespaces"), name)
}

/// Whether `namespace` takes a new `object`: it has to be there, and to stay.
pub(super) fn check_accepts(
    tx: &Transaction<'_>,
    namespace: &str,
    object: Named<'_>,
) -> Result<(), Status> {
    let Some(found) = tx.get(&key(namespace)) else {
        return Err(Status::not_found(Named {
            resource: "namespaces",
            group: "",
            name: namespace,
        }));
    };
    if !is_deleted(&found.to_value()) {
        return Ok(());
    }
    let mut cause = Cause::new(
        "NamespaceTerminating",
        format!("namespace {namespace} is being terminated"),
    );
    cause.field = "metadata.namespace".into();
    Err(Status::forbidden(
        object,
        &format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        ),
        vec![cause],
    ))
}

/// Whether a namespace may be deleted.
pub(super) fn check_mortal(namespace: Named<'_>) -> Result<(), Status> {
    if IMMORTAL.contains(&namespace.name) {
        return Err(Status::forbidden(
            namespace,
            "this namespace may not be deleted",
            Vec::new(),
        ));
    }
    Ok(())
}
