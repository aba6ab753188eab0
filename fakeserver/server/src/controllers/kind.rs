//! Kinds that controllers reconcile, with the names that references and events need.

use fakeserver_kinds::Kind;
use serde_json::{Value, json};

use crate::store::ObjectKey;

/// A built-in kind that a controller reconciles.
#[derive(Clone, Copy, Debug)]
pub struct ReconciledKind {
    pub kind: &'static Kind,
    pub name: &'static str,
    pub api_version: &'static str,
    /// The component that writes events about it.
    pub component: &'static str,
}

/// The kind of an object that an event is about, and the component that writes it.
#[derive(Clone, Copy, Debug)]
pub struct EventSubject<'a> {
    pub kind: &'a str,
    pub api_version: &'a str,
    pub component: &'a str,
}

impl<'a> From<&'a ReconciledKind> for EventSubject<'a> {
    fn from(kind: &'a ReconciledKind) -> Self {
        Self {
            kind: kind.name,
            api_version: kind.api_version,
            component: kind.component,
        }
    }
}

// === impl ReconciledKind ===

impl ReconciledKind {
    pub fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey::new(self.kind.storage().clone(), namespace, name)
    }

    /// Returns a reference to `object` as the owner that manages another.
    pub fn owner_reference(&self, object: &Value) -> Value {
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
    pub fn pod(&self, owner: &Value, template: &Value) -> Value {
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
