//! How controllers read and write: in a transaction, with the rules that a client's writes follow.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{index::Index, kind::Kind, meta::OwnerReference};
use crate::{
    deletion::{self, Deletion, Wanted, is_finished},
    managed_fields::{self, Described, Manager, described},
    resource::ResourceType,
    schema,
    state::Core,
    storage::{GroupResource, ObjectKey, StoredObject, Transaction},
    strategy::Strategy,
};

/// Who writes, and through which subresource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actor {
    pub(super) manager: &'static str,
    /// Empty for the object itself.
    pub(super) subresource: &'static str,
}

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

// === impl Actor ===

impl Actor {
    /// Where most controllers live.
    pub(super) const CONTROLLER_MANAGER: Self = Self::new("kube-controller-manager");

    pub(super) const fn new(manager: &'static str) -> Self {
        Self {
            manager,
            subresource: "",
        }
    }

    pub(super) const fn of_status(self) -> Self {
        Self {
            subresource: "status",
            ..self
        }
    }
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
        let registry = self.core.registry();
        let mut versions = registry.group(resource.group())?.versions.iter();
        versions.find_map(|version| {
            let mut resources = version.resources.iter();
            let found = resources.find(|known| &*known.plural == resource.resource())?;
            Some(Arc::clone(found))
        })
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
        if actor.subresource.is_empty() {
            strategy.set_defaults(&mut new);
        }
        let new = canonical(&resource, new);
        if new == old {
            return Some(stored);
        }
        let new = self.recorded(&resource, actor, Some(&old), new);
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
        let strategy = Strategy::of(&resource_type);
        object["kind"] = json!(&*resource_type.kind);
        object["apiVersion"] = json!(resource_type.api_version());
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
        strategy.set_defaults(&mut object);
        let object = canonical(&resource_type, object);
        let mut object = self.recorded(&resource_type, actor, None, object);
        object["metadata"]["uid"] = json!(self.core.entropy.uid().to_string());
        object["metadata"]["creationTimestamp"] = json!(self.now_text());
        strategy.prepare_create(&mut object);
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

    /// `new` with its managers, and its next generation if it wants something else.
    fn recorded(
        &self,
        resource: &ResourceType,
        actor: Actor,
        old: Option<&Value>,
        mut new: Value,
    ) -> Value {
        let api_version = resource.api_version();
        let manager = Manager {
            name: actor.manager,
            api_version: &api_version,
            subresource: actor.subresource,
        };
        let kind = match &resource.custom {
            Some(custom) => Described::by(Some(custom.schema())),
            None => described(&api_version, &resource.kind),
        };
        managed_fields::record_update(old, &mut new, kind, &manager, &self.now_text());
        let strategy = Strategy::of(resource);
        if let Some(old) = old
            && actor.subresource.is_empty()
            && strategy.has_generation()
            && strategy.is_next_generation(old, &new)
            && let Some(generation) = old["metadata"]["generation"].as_i64()
        {
            new["metadata"]["generation"] = json!(generation + 1);
        }
        new
    }
}

/// What is stored, as `resource` shows it.
pub(super) fn shown(resource: &ResourceType, stored: &StoredObject) -> Value {
    let mut object = stored.to_value();
    object["kind"] = json!(&*resource.kind);
    object["apiVersion"] = json!(resource.api_version());
    object
}

/// Fills in what every object of this type has, and leaves out what says nothing.
fn canonical(resource: &ResourceType, object: Value) -> Value {
    match schema::type_of_kind(&resource.group, &resource.version, &resource.kind) {
        Some(id) => schema::canonical(schema::types(), id, object),
        None => object,
    }
}
