//! What tells one informer of a factory from the others.

use std::{
    any::{TypeId, type_name},
    fmt,
};

use kube::{api::DynamicObject, core::PartialObjectMeta};

use super::Selection;
use crate::{discovery::GroupVersionResource, http::Scope};

/// What tells one informer of a factory from the others. Printed `pods.v1. in namespace "a" with labels "app=web"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InformerKey {
    pub(super) resource: GroupVersionResource,
    pub(super) scope: Scope,
    pub(super) selection: Selection,
    pub(super) representation: Representation,
    /// Which transform changes the objects.
    pub(super) transform: Option<u64>,
}

/// As which Rust type objects are held. Ordered by name first, since the order of type ids differs between builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Representation {
    name: &'static str,
    id: TypeId,
}

// === impl InformerKey ===

impl fmt::Display for InformerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.representation)?;
        if let Scope::Namespace(namespace) = &self.scope {
            write!(f, " in namespace {namespace:?}")?;
        }
        write!(f, "{}", self.selection)
    }
}

// === impl Representation ===

impl Representation {
    pub(super) fn of<K: 'static>() -> Self {
        Self {
            name: type_name::<K>(),
            id: TypeId::of::<K>(),
        }
    }
}

impl fmt::Display for Representation {
    /// As it follows a resource's name: nothing for the resource's own type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id == TypeId::of::<DynamicObject>() {
            f.write_str(" as dynamic objects")
        } else if self.id == TypeId::of::<PartialObjectMeta<DynamicObject>>() {
            f.write_str(" as metadata")
        } else {
            Ok(())
        }
    }
}
