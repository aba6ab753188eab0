//! A kind that controllers look after: where it is, what it is called, who tells of it.

use serde_json::{Value, json};

use crate::storage::{GroupResource, ObjectKey};

/// A built-in kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) name: &'static str,
    pub(super) api_version: &'static str,
    /// Who writes events about it.
    pub(super) component: &'static str,
}

// === impl Kind ===

impl Kind {
    pub(super) fn resource(&self) -> GroupResource {
        GroupResource::new(self.group, self.plural)
    }

    pub(super) fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey::new(self.resource(), namespace, name)
    }

    /// A reference to `object` as the owner that manages another.
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

    /// A pod of `template`, without a name, that `owner` manages.
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
