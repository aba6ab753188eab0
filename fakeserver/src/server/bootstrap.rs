//! The objects of a new cluster.

use serde_json::json;

use crate::{
    kinds::{core::namespace, rbac::policy::bootstrap_objects},
    store::{ObjectKey, Transaction},
    write::Backend,
};

/// The namespaces that a server makes for itself, in its order.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// Writes the namespaces of an empty cluster.
pub(super) fn bootstrap_namespaces(backend: &Backend, tx: &mut Transaction<'_>) {
    let namespaces = namespace::KIND.storage();
    let now = backend.clock.now_text();
    for name in NAMESPACES {
        let uid = backend.entropy.uid();
        let namespace = json!({
            "metadata": {
                "name": name,
                "uid": uid.to_string(),
                "creationTimestamp": now,
                "labels": {"kubernetes.io/metadata.name": name},
                "managedFields": [{
                    "manager": "kube-apiserver",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": now,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {
                        "f:metadata": {
                            "f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}},
                        },
                    },
                }],
            },
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        });
        tx.put(&ObjectKey::cluster(namespaces.clone(), name), namespace);
    }
}

/// Writes those of the roles and bindings that a cluster begins with that are not there.
pub(super) fn bootstrap_roles(backend: &Backend, tx: &mut Transaction<'_>) {
    for (kind, mut object) in bootstrap_objects() {
        let metadata = &mut object["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let key = ObjectKey::cluster(kind.storage().clone(), name);
        if tx.get(&key).is_none() {
            metadata["uid"] = json!(backend.entropy.uid().to_string());
            metadata["creationTimestamp"] = json!(backend.clock.now_text());
            tx.put(&key, object);
        }
    }
}
