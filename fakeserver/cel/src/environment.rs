//! The variables and types that an expression may name.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::types::Type;

/// The fields of declared types of objects.
pub trait Objects: Send + Sync {
    /// Returns the type of a field of the objects `name`, if they have it.
    fn field(&self, name: &str, field: &str) -> Option<Type>;
}

/// The names that an expression may use.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, Type>,
    /// The variables that a policy composes, in `variables`.
    composed: BTreeMap<String, Type>,
    objects: Option<Arc<dyn Objects>>,
    has_patches: bool,
}

/// The type of `variables`.
pub(super) const COMPOSED: &str = "kubernetes.variables";
/// The type of the elements of JSON patches.
pub(super) const JSON_PATCH: &str = "JSONPatch";
/// The type of apply configurations; that of its fields continues this name.
pub(super) const OBJECT: &str = "Object";

// === impl Environment ===

impl Environment {
    /// Declares a variable.
    pub fn declare(&mut self, name: &str, of: Type) {
        self.variables.insert(name.to_owned(), of);
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// Declares `variables`, so far without any.
    pub fn compose(&mut self) {
        self.declare("variables", Type::object(COMPOSED));
    }

    /// Declares one of `variables`.
    pub fn add_composed(&mut self, name: &str, of: Type) {
        self.composed.insert(name.to_owned(), of);
    }

    /// Declares fields of types of objects.
    pub fn set_objects(&mut self, objects: Arc<dyn Objects>) {
        self.objects = Some(objects);
    }

    /// Declares the types of patches.
    pub fn allow_patches(&mut self) {
        self.has_patches = true;
    }

    pub(super) fn has_patches(&self) -> bool {
        self.has_patches
    }

    pub(super) fn variable(&self, name: &str) -> Option<Type> {
        self.variables.get(name).cloned()
    }

    /// Returns whether objects of a type can be constructed.
    pub(super) fn can_construct(&self, name: &str) -> bool {
        self.has_patches && (name == JSON_PATCH || is_object(name))
    }

    pub(super) fn field(&self, name: &str, field: &str) -> Option<Type> {
        if name == COMPOSED {
            return self.composed.get(field).cloned();
        }
        if self.has_patches && name == JSON_PATCH {
            return match field {
                "op" | "path" | "from" => Some(Type::String),
                "value" => Some(Type::Dyn),
                _ => None,
            };
        }
        if self.has_patches && is_object(name) {
            return Some(Type::Dyn);
        }
        if let Some(found) = request_field(name, field) {
            return Some(found);
        }
        self.objects.as_ref()?.field(name, field)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.variables.keys().chain(self.composed.keys());
        f.debug_list().entries(names).finish()
    }
}

fn is_object(name: &str) -> bool {
    name.strip_prefix(OBJECT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the type of a field of `request` or `namespaceObject`, or of a part of them.
fn request_field(name: &str, field: &str) -> Option<Type> {
    let texts = || Type::list(Type::String);
    let text_map = || Type::map(Type::String, Type::String);
    Some(match (name, field) {
        ("kubernetes.GroupVersionKind", "group" | "version" | "kind")
        | ("kubernetes.GroupVersionResource", "group" | "version" | "resource")
        | ("kubernetes.UserInfo", "username" | "uid")
        | (
            "kubernetes.AdmissionRequest",
            "subResource" | "requestSubResource" | "name" | "namespace" | "operation",
        )
        | ("kubernetes.NamespaceStatus", "phase")
        | ("kubernetes.NamespaceCondition", "status" | "type" | "message" | "reason")
        | (
            "kubernetes.NamespaceMetadata",
            "name" | "generateName" | "namespace" | "UID" | "resourceVersion",
        ) => Type::String,
        ("kubernetes.UserInfo", "groups")
        | ("kubernetes.NamespaceMetadata" | "kubernetes.NamespaceSpec", "finalizers") => texts(),
        ("kubernetes.UserInfo", "extra") => Type::map(Type::String, texts()),
        ("kubernetes.AdmissionRequest", "kind" | "requestKind") => {
            Type::object("kubernetes.GroupVersionKind")
        }
        ("kubernetes.AdmissionRequest", "resource" | "requestResource") => {
            Type::object("kubernetes.GroupVersionResource")
        }
        ("kubernetes.AdmissionRequest", "userInfo") => Type::object("kubernetes.UserInfo"),
        ("kubernetes.AdmissionRequest", "dryRun") => Type::Bool,
        ("kubernetes.AdmissionRequest", "options") => Type::Dyn,
        ("kubernetes.Namespace", "metadata") => Type::object("kubernetes.NamespaceMetadata"),
        ("kubernetes.Namespace", "spec") => Type::object("kubernetes.NamespaceSpec"),
        ("kubernetes.Namespace", "status") => Type::object("kubernetes.NamespaceStatus"),
        ("kubernetes.NamespaceStatus", "conditions") => {
            Type::list(Type::object("kubernetes.NamespaceCondition"))
        }
        ("kubernetes.NamespaceMetadata", "labels" | "annotations") => text_map(),
        ("kubernetes.NamespaceMetadata", "deletionGracePeriodSeconds" | "generation") => Type::Int,
        ("kubernetes.NamespaceMetadata", "creationTimestamp" | "deletionTimestamp")
        | ("kubernetes.NamespaceCondition", "lastTransitionTime") => Type::Timestamp,
        _ => return None,
    })
}
