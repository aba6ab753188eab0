//! Objects as a controller writes them: with defaults, managers and generation.

use std::sync::Arc;

use fakeserver_kinds::{ResourceType, registry::Registry};
use fakeserver_value::{
    apply::Applier,
    managed_fields::{self, Manager},
    resource::GroupResource,
    schema,
};
use serde_json::{Value, json};

use crate::store::StoredObject;

/// The writer of an object, and the subresource that it writes through.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    pub manager: &'static str,
    /// Empty for the object itself.
    pub subresource: &'static str,
}

// === impl Actor ===

impl Actor {
    /// The writer of most controllers.
    pub const CONTROLLER_MANAGER: Self = Self::new("kube-controller-manager");

    pub const fn new(manager: &'static str) -> Self {
        Self {
            manager,
            subresource: "",
        }
    }

    pub const fn of_scale(self) -> Self {
        Self {
            subresource: "scale",
            ..self
        }
    }

    pub const fn of_status(self) -> Self {
        Self {
            subresource: "status",
            ..self
        }
    }
}

/// The type of a resource, in the version that the server prefers.
pub fn resource_type(registry: &Registry, resource: &GroupResource) -> Option<Arc<ResourceType>> {
    let mut versions = registry.group(resource.group())?.versions.iter();
    versions.find_map(|version| {
        let mut resources = version.resources.iter();
        let found = resources.find(|candidate| &*candidate.plural == resource.resource())?;
        Some(Arc::clone(found))
    })
}

/// Returns a stored object with the kind and apiVersion of `resource`.
pub fn api_object(resource: &ResourceType, stored: &StoredObject) -> Value {
    let mut object = stored.to_value();
    object["kind"] = json!(&*resource.kind);
    object["apiVersion"] = json!(resource.api_version());
    object
}

/// Returns the object that a POST of a named `object` at `now` would store. `admit` adds what admission derives from
/// other objects.
pub fn created(
    resource: &ResourceType,
    actor: Actor,
    mut object: Value,
    uid: &str,
    now: &str,
    admit: impl FnOnce(&mut Value),
) -> Value {
    object["kind"] = json!(&*resource.kind);
    object["apiVersion"] = json!(resource.api_version());
    resource.rules.set_defaults(&mut object);
    let object = canonical(resource, object);
    let mut object = recorded(resource, actor, None, object, now);
    object["metadata"]["uid"] = json!(uid);
    object["metadata"]["creationTimestamp"] = json!(now);
    admit(&mut object);
    crate::write::complete_new(&resource.rules, &mut object);
    resource
        .rules
        .prepare_create(resource.kubernetes, &mut object);
    resource.rules.complete_status(&mut object);
    object
}

/// Returns the object that a PUT of `new` over `old` at `now` would store; it equals `old` if nothing changes.
pub fn updated(
    resource: &ResourceType,
    actor: Actor,
    old: &Value,
    mut new: Value,
    now: &str,
) -> Value {
    if actor.subresource.is_empty() {
        resource.rules.set_defaults(&mut new);
    }
    let new = canonical(resource, new);
    if new == *old {
        return new;
    }
    recorded(resource, actor, Some(old), new, now)
}

/// Returns the object that a forced server-side apply of `config` to `old` at `now` would store.
pub(super) fn applied(
    resource: &ResourceType,
    actor: Actor,
    old: &Value,
    config: &Value,
    now: &str,
) -> Option<Value> {
    let api_version = resource.api_version();
    let applier = Applier {
        manager: Manager {
            name: actor.manager,
            api_version: &api_version,
            subresource: actor.subresource,
        },
        is_forced: true,
        described: resource.described(),
        now,
    };
    Some(canonical(resource, applier.apply(Some(old), config).ok()?))
}

/// Returns `new` with its managers, and with the next generation if its specification differs.
fn recorded(
    resource: &ResourceType,
    actor: Actor,
    old: Option<&Value>,
    mut new: Value,
    now: &str,
) -> Value {
    let api_version = resource.api_version();
    let manager = Manager {
        name: actor.manager,
        api_version: &api_version,
        subresource: actor.subresource,
    };
    managed_fields::record_update(old, &mut new, resource.described(), &manager, now);
    if let Some(old) = old
        && actor.subresource != "status"
        && resource.rules.habits.has_generation
        && resource.rules.habits.is_next_generation(old, &new)
        && let Some(generation) = old["metadata"]["generation"].as_i64()
    {
        new["metadata"]["generation"] = json!(generation + 1);
    }
    new
}

/// Adds the fields that every object of this type has, and drops empty optional ones.
fn canonical(resource: &ResourceType, object: Value) -> Value {
    match resource.type_of_objects() {
        Some(id) => schema::canonical(id.table(), id, object),
        None => object,
    }
}
