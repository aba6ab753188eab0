//! Keys of a factory's informers.

use std::{
    any::{TypeId, type_name},
    fmt,
};

use kube::{api::DynamicObject, core::PartialObjectMeta};

use super::{FactoryObject, Selectors};
use crate::{discovery::GroupVersionResource, http::Scope};

/// The key of a factory's informer. Printed `pods.v1. in namespace "a" with labels "app=web"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InformerKey {
    pub(super) resource: GroupVersionResource,
    pub(super) scope: Scope,
    pub(super) selectors: Selectors,
    pub(super) representation: Representation,
    /// Which transform changes the objects.
    pub(super) transform: Option<u64>,
}

/// As which Rust type objects are held. Ordered by name first, since the order of type ids differs between builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Representation {
    name: &'static str,
    id: TypeId,
    /// The type without `Compact`.
    value_id: TypeId,
}

// === impl InformerKey ===

impl fmt::Display for InformerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.representation)?;
        if let Scope::Namespace(namespace) = &self.scope {
            write!(f, " in namespace {namespace:?}")?;
        }
        write!(f, "{}", self.selectors)
    }
}

// === impl Representation ===

impl Representation {
    pub(super) fn of<K: FactoryObject>() -> Self {
        Self {
            name: type_name::<K>(),
            id: TypeId::of::<K>(),
            value_id: TypeId::of::<K::Resource>(),
        }
    }
}

impl fmt::Display for Representation {
    /// As it follows a resource's name: nothing for the resource's own type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value_id == TypeId::of::<DynamicObject>() {
            f.write_str(" as dynamic objects")?;
        } else if self.value_id == TypeId::of::<PartialObjectMeta<DynamicObject>>() {
            f.write_str(" as metadata")?;
        }
        if self.id == self.value_id {
            Ok(())
        } else {
            f.write_str(", compact")
        }
    }
}
