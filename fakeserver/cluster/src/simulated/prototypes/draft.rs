//! A prototype under construction: created and updated by the rules for all writers.

use std::sync::Arc;

use fakeserver_kinds::{Kind, ResourceType, registry::Registry};
use fakeserver_server::{
    controllers::written_object::{self, Actor},
    store::{ObjectKey, Stencil},
};
use serde_json::{Value, json};

use crate::simulated::hole::Placeholder;

pub(super) const KUBELET: Actor = Actor::new("kubelet");
pub(super) const CONTROLLER_MANAGER: Actor = Actor::CONTROLLER_MANAGER;
pub(super) const DEPLOYER: Actor = Actor::new("helm");

/// The marked object of a kind.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    registry: &'a Registry,
    resource: Arc<ResourceType>,
    object: Value,
}

// === impl Draft ===

impl<'a> Draft<'a> {
    /// Creates an object of a kind, as `actor` does. Its name is a hole, unless it has one.
    pub(super) fn create(
        registry: &'a Registry,
        kind: &'static Kind,
        actor: Actor,
        mut object: Value,
    ) -> Self {
        let resource = written_object::resource_type(registry, kind.storage());
        let resource = resource.expect("it is one of the built-in types");
        let metadata = &mut object["metadata"];
        if metadata["name"].is_null() {
            metadata["name"] = json!(Placeholder::Name.text());
        }
        if resource.is_namespaced {
            metadata["namespace"] = json!(Placeholder::Namespace.text());
        }
        let (uid, created) = (Placeholder::Uid.text(), Placeholder::Created.text());
        let object = written_object::created(&resource, actor, object, &uid, &created, |_| {});
        Self {
            registry,
            resource,
            object,
        }
    }

    /// Changes the object as `actor`, at the time that is filled into `time`.
    pub(super) fn update(
        mut self,
        actor: Actor,
        time: Placeholder,
        change: impl FnOnce(&mut Value),
    ) -> Self {
        let mut new = self.object.clone();
        change(&mut new);
        self.object =
            written_object::updated(&self.resource, actor, &self.object, new, &time.text());
        self
    }

    /// Changes fields that no manager owns.
    pub(super) fn set(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.object);
        self
    }

    pub(super) fn stencil(self) -> Stencil {
        let Self {
            registry,
            resource,
            object,
        } = self;
        let storage = resource.rules.storage();
        let fields = registry.selectable_values(storage, &object);
        Stencil::new(ObjectKey::cluster(storage.clone(), ""), object, fields)
    }
}
