//! What may be created in a namespace, and which one may be deleted.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    status::{Cause, Named, Status},
    storage::{GroupResource, ObjectKey, StoredObject, Transaction},
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
    if !is_deleted(&found) {
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

/// Whether it is going away. Every creation asks, so nothing else of it is read.
fn is_deleted(namespace: &StoredObject) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        deletion_timestamp: Option<IgnoredAny>,
    }
    let metadata: Metadata =
        serde_json::from_slice(&namespace.metadata_json()).expect("stored metadata is an object");
    metadata.deletion_timestamp.is_some()
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
