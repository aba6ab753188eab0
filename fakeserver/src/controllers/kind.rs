//! Kinds that controllers reconcile, with the names that references and events need.

use serde_json::{Value, json};

use crate::{kinds::Kind, store::ObjectKey};

/// A built-in kind that a controller reconciles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReconciledKind {
    pub(super) kind: &'static Kind,
    pub(super) name: &'static str,
    pub(super) api_version: &'static str,
    /// The component that writes events about it.
    pub(super) component: &'static str,
}

// === impl ReconciledKind ===

impl ReconciledKind {
    pub(super) fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey::new(self.kind.storage().clone(), namespace, name)
    }

    /// Returns a reference to `object` as the owner that manages another.
    pub(super) fn owner_reference(&self, object: &Value) -> Value {
        json!({
            "apiVersion": self.api_version,
            "kind": self.name,
            "name": object["metadata"]["name"],
            "uid": object["metadata"]["uid"],
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }

    /// Returns a pod of `template`, without a name, that `owner` manages.
    pub(super) fn pod(&self, owner: &Value, template: &Value) -> Value {
        let mut metadata = json!({
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [self.owner_reference(owner)],
        });
        for field in ["labels", "annotations", "finalizers"] {
            if let Some(value) = template["metadata"].get(field) {
                metadata[field] = value.clone();
            }
        }
        json!({"metadata": metadata, "spec": template["spec"]})
    }
}
