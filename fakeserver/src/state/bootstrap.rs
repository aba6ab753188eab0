//! What a cluster has before anybody has done anything.

use serde_json::json;

use super::Core;
use crate::storage::{GroupResource, ObjectKey, Transaction};

/// The namespaces that a server makes for itself, in its order.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// Writes the namespaces of an empty cluster.
pub(super) fn bootstrap(core: &Core, tx: &mut Transaction<'_>) {
    let namespaces = GroupResource::new("", "namespaces");
    let now = core.clock.now_text();
    for name in NAMESPACES {
        let uid = core.entropy.uid();
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
