//! How controllers read and write: in a transaction, with the rules that a client's writes follow.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(super) use super::written::{Actor, shown};

use super::{index::Index, kind::Kind, meta::OwnerReference, written};
use crate::{
    deletion::{self, Deletion, Wanted, is_finished},
    resource::ResourceType,
    state::Core,
    storage::{GroupResource, ObjectKey, StoredObject, Transaction},
    strategy::Strategy,
};

/// An owner that an object names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It would be there.
    At(ObjectKey),
    /// Nothing of its kind is served here, or an object of the cluster names one of a namespace.
    Unknown,
}

/// The cluster in one transaction.
pub(super) struct Cluster<'a, 't> {
    pub(super) core: &'a Core,
    pub(super) tx: &'a mut Transaction<'t>,
    pub(super) index: &'a Index,
}

// === impl Cluster ===

impl Cluster<'_, '_> {
    pub(super) fn now(&self) -> Timestamp {
        self.core.clock.now()
    }

    /// As objects write times.
    pub(super) fn now_text(&self) -> String {
        self.core.clock.now_text()
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        self.tx.get(key)
    }

    /// The type of a resource, in the version that the server prefers.
    pub(super) fn resource_type(&self, resource: &GroupResource) -> Option<Arc<ResourceType>> {
        written::resource_type(&self.core.registry(), resource)
    }

    /// Where the owner would be that an object in `namespace` names.
    pub(super) fn owner(&self, reference: &OwnerReference, namespace: Option<&str>) -> Owner {
        let registry = self.core.registry();
        let (group, version) = reference.group_version();
        let served = registry.version(group, version);
        let mut resources = served
            .into_iter()
            .flat_map(|version| version.resources.iter());
        let Some(resource) = resources.find(|known| *known.kind == *reference.kind) else {
            return Owner::Unknown;
        };
        let namespace = namespace.filter(|_| resource.is_namespaced);
        if resource.is_namespaced && namespace.is_none() {
            return Owner::Unknown;
        }
        let resource =
            GroupResource::new(Arc::clone(&resource.group), Arc::clone(&resource.plural));
        Owner::At(ObjectKey::new(resource, namespace, &reference.name))
    }

    /// Changes an object, as an update through an endpoint would. Returns what is stored then, if something is.
    pub(super) fn update(
        &mut self,
        key: &ObjectKey,
        actor: Actor,
        change: impl FnOnce(&mut Value),
    ) -> Option<Arc<StoredObject>> {
        let stored = self.tx.get(key)?;
        let resource = self.resource_type(key.resource())?;
        let strategy = Strategy::of(&resource);
        let old = shown(&resource, &stored);
        let mut new = old.clone();
        change(&mut new);
        let new = written::updated(&resource, actor, &old, new, &self.now_text());
        if new == old {
            return Some(stored);
        }
        if is_finished(strategy, &old, &new) {
            self.tx.delete(key);
            return None;
        }
        Some(self.tx.put(key, new))
    }

    /// Creates an object, as a POST would. Nothing happens if there is one of that name, or no such resource.
    ///
    /// A `generateName` becomes a name that is free.
    pub(super) fn create(
        &mut self,
        resource: &GroupResource,
        actor: Actor,
        mut object: Value,
    ) -> Option<Arc<StoredObject>> {
        /// How often a generated name may be taken already.
        const NAMES_TRIED: usize = 8;
        let resource_type = self.resource_type(resource)?;
        let prefix = object["metadata"]["generateName"].as_str().unwrap_or("");
        let prefix = prefix.to_owned();
        let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
        let key = |name: &str| ObjectKey::new(resource.clone(), namespace.as_deref(), name);
        if object["metadata"]["name"].is_null() {
            let name = (0..NAMES_TRIED)
                .map(|_| format!("{prefix}{}", self.core.entropy.name_suffix()))
                .find(|name| self.tx.get(&key(name)).is_none())?;
            object["metadata"]["name"] = json!(name);
        }
        let key = key(object["metadata"]["name"].as_str()?);
        if self.tx.get(&key).is_some() {
            return None;
        }
        let uid = self.core.entropy.uid().to_string();
        let object = written::created(&resource_type, actor, object, &uid, &self.now_text());
        Some(self.tx.put(&key, object))
    }

    /// Tells of something that `object` of a kind has seen.
    pub(super) fn event(&mut self, kind: &Kind, object: &Value, reason: &str, message: &str) {
        let metadata = &object["metadata"];
        let now = self.now_text();
        let manager = match kind.component {
            "kubelet" => "kubelet",
            "default-scheduler" => "kube-scheduler",
            _ => Actor::CONTROLLER_MANAGER.manager,
        };
        let name = metadata["name"].as_str().unwrap_or_default();
        let event = json!({
            "metadata": {
                "name": format!("{name}.{:016x}", self.tx.revision()),
                "namespace": metadata["namespace"].as_str().unwrap_or("default"),
            },
            "involvedObject": {
                "apiVersion": kind.api_version,
                "kind": kind.name,
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "resourceVersion": metadata["resourceVersion"],
                "uid": metadata["uid"],
            },
            "reason": reason,
            "message": message,
            "source": {"component": kind.component},
            "reportingComponent": kind.component,
            "reportingInstance": "",
            "type": "Normal",
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
        });
        self.create(
            &GroupResource::new("", "events"),
            Actor::new(manager),
            event,
        );
    }

    /// Deletes an object, as a DELETE would.
    pub(super) fn delete(&mut self, key: &ObjectKey, wanted: Wanted) -> Option<Deletion> {
        let stored = self.tx.get(key)?;
        let resource = self.resource_type(key.resource())?;
        let old = shown(&resource, &stored);
        let strategy = Strategy::of(&resource);
        let now = self.now();
        Some(deletion::delete(
            self.tx, strategy, wanted, &stored, &old, now,
        ))
    }
}
