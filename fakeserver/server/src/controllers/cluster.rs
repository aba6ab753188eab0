//! The view of the store that controllers read and write through: in a transaction, by the rules of a client's writes.

use std::{net::IpAddr, sync::Arc};

use fakeserver_kinds::{
    ResourceType,
    core::service::{self, range::ServiceRange},
    networking::service_cidr,
};
use fakeserver_value::{
    read::{items, text},
    resource::GroupResource,
};
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use super::written_object::{Actor, api_object};

use super::{index::Index, meta::OwnerReference, written_object};
use crate::{
    store::{ObjectKey, StoredObject, Transaction},
    write::{
        Backend, Outcome,
        deletion::{self, DeletionParameters, is_finished},
    },
};

/// The name of the object that has the ranges of the addresses of services.
const SERVICE_RANGE: &str = "kubernetes";

/// Returns the key of the object that has the ranges of the addresses of services.
pub(crate) fn service_range_key() -> ObjectKey {
    ObjectKey::cluster(service_cidr::KIND.storage().clone(), SERVICE_RANGE)
}

/// Returns the ranges of such an object, if it is one.
pub(crate) fn service_range_of(cidr: &Value) -> Option<ServiceRange> {
    ServiceRange::of_cidrs(items(&cidr["spec"]["cidrs"]).iter().map(text))
}

/// An owner that an object names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The owner's kind is served, and the owner can exist.
    At(ObjectKey),
    /// The owner's kind is not served, or a cluster-scoped dependent names a namespaced owner.
    Unknown,
}

/// The cluster in one transaction.
pub struct Cluster<'a, 't> {
    pub backend: &'a Backend,
    pub tx: &'a mut Transaction<'t>,
    pub index: &'a Index,
    /// The reason why a limit range or a quota has not allowed a creation. The key is looked at again later.
    pub refusal: Option<String>,
}

// === impl Cluster ===

impl Cluster<'_, '_> {
    pub fn now(&self) -> Timestamp {
        self.backend.clock.now()
    }

    /// Returns the time in the format of objects.
    pub fn now_text(&self) -> String {
        self.backend.clock.now_text()
    }

    /// Returns the version of Kubernetes of the server.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.backend.registry().kubernetes()
    }

    pub fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        self.tx.get(key)
    }

    /// The type of a resource, in the version that the server prefers.
    pub fn resource_type(&self, resource: &GroupResource) -> Option<Arc<ResourceType>> {
        written_object::resource_type(&self.backend.registry(), resource)
    }

    /// Returns the ranges of the addresses of services that the server's own object has, or else those of the server.
    pub fn service_range(&self) -> ServiceRange {
        let stored = self.get(&service_range_key());
        let range = stored.and_then(|stored| service_range_of(&stored.to_value()));
        range.unwrap_or_else(|| self.backend.service_range())
    }

    /// Returns whether a service has the address.
    pub fn has_service_at(&self, address: IpAddr) -> bool {
        let is_it = |text: &Value| {
            text.as_str()
                .is_some_and(|text| text.parse() == Ok(address))
        };
        let services = self.tx.list(service::KIND.storage(), None);
        let mut services = services.iter().map(|service| service.to_value());
        services.any(|service| items(&service["spec"]["clusterIPs"]).iter().any(is_it))
    }

    /// Returns the key of the owner that an object in `namespace` names.
    pub fn owner(&self, reference: &OwnerReference, namespace: Option<&str>) -> Owner {
        let registry = self.backend.registry();
        let (group, version) = reference.group_version();
        let served = registry.version(group, version);
        let mut resources = served
            .into_iter()
            .flat_map(|version| version.resources.iter());
        let Some(resource) = resources.find(|resource| *resource.kind == *reference.kind) else {
            return Owner::Unknown;
        };
        let namespace = namespace.filter(|_| resource.is_namespaced);
        if resource.is_namespaced && namespace.is_none() {
            return Owner::Unknown;
        }
        let storage = resource.rules.storage().clone();
        Owner::At(ObjectKey::new(storage, namespace, &reference.name))
    }

    /// Returns whether the owner that an object names is in another namespace than the object.
    pub fn is_owner_elsewhere(&self, reference: &OwnerReference, namespace: Option<&str>) -> bool {
        let registry = self.backend.registry();
        let (group, version) = reference.group_version();
        let served = registry.version(group, version);
        let mut resources = served
            .into_iter()
            .flat_map(|version| version.resources.iter());
        let Some(resource) = resources.find(|resource| *resource.kind == *reference.kind) else {
            return false;
        };
        let is_found = |stored: &Arc<StoredObject>| {
            stored.uid() == reference.uid && stored.key().namespace() != namespace
        };
        resource.is_namespaced
            && (self.tx.list(resource.rules.storage(), None).iter()).any(is_found)
    }

    /// Changes an object, as an update through an endpoint would. Returns what is stored then, if something is.
    pub fn update(
        &mut self,
        key: &ObjectKey,
        actor: Actor,
        change: impl FnOnce(&mut Value),
    ) -> Option<Arc<StoredObject>> {
        let stored = self.tx.get(key)?;
        let resource = self.resource_type(key.resource())?;
        let old = api_object(&resource, &stored);
        let mut new = old.clone();
        change(&mut new);
        let new = written_object::updated(&resource, actor, &old, new, &self.now_text());
        // No write without a change: controllers that react to their own updates would never settle.
        if new == old {
            return Some(stored);
        }
        // As in the registry: an update that removes the last finalizer deletes.
        if is_finished(&resource.rules, &old, &new) {
            self.tx.delete(key);
            return None;
        }
        Some(self.tx.put(key, new))
    }

    /// Applies a status, as a server-side apply by force through the endpoint would.
    pub fn apply_status(&mut self, key: &ObjectKey, manager: &'static str, status: &Value) {
        self.apply(key, Actor::new(manager).of_status(), "status", status);
    }

    /// Applies the value of a field, as a server-side apply by force would.
    pub(super) fn apply(&mut self, key: &ObjectKey, actor: Actor, field: &str, value: &Value) {
        let Some(stored) = self.tx.get(key) else {
            return;
        };
        let Some(resource) = self.resource_type(key.resource()) else {
            return;
        };
        let old = api_object(&resource, &stored);
        let config = json!({
            "apiVersion": old["apiVersion"],
            "kind": old["kind"],
            "metadata": {"name": key.name()},
            field: value,
        });
        let new = written_object::applied(&resource, actor, &old, &config, &self.now_text());
        if let Some(new) = new.filter(|new| *new != old) {
            self.tx.put(key, new);
        }
    }

    /// Deletes an object, as a DELETE would.
    pub fn delete(&mut self, key: &ObjectKey, wanted: DeletionParameters) -> Option<Outcome> {
        let stored = self.tx.get(key)?;
        let resource = self.resource_type(key.resource())?;
        let old = api_object(&resource, &stored);
        let now = self.now();
        Some(deletion::delete(
            self.tx,
            &resource.rules,
            wanted,
            &stored,
            &old,
            now,
        ))
    }
}
