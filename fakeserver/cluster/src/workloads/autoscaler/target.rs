//! The object that an autoscaler scales.

use std::sync::Arc;

use fakeserver_kinds::{ResourceType, scale::ScaleOf};
use fakeserver_server::{
    controllers::cluster::{Actor, Cluster},
    store::ObjectKey,
};
use fakeserver_value::{
    object::selectors::LabelSelector,
    status::{NamedObject, Status},
};
use serde_json::Value;

/// The scale of an object.
#[derive(Debug)]
pub(super) struct Target {
    key: ObjectKey,
    resource: Arc<ResourceType>,
    pub(super) replicas: i64,
    pub(super) present: i64,
    /// The selector as text; empty without one.
    pub(super) selector: String,
}

// === impl Target ===

impl Target {
    /// Returns the target of a reference in a namespace, or why it cannot be scaled.
    pub(super) fn find(
        cluster: &Cluster<'_, '_>,
        reference: &Value,
        namespace: &str,
    ) -> Result<Self, String> {
        let text = |field: &str| reference[field].as_str().unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let group = text("apiVersion")
            .split_once('/')
            .map_or("", |(group, _)| group);
        let registry = cluster.backend.registry();
        let versions = registry.group(group).map(|group| &group.versions);
        let mut resources = versions
            .into_iter()
            .flatten()
            .flat_map(|version| &version.resources)
            .filter(|resource| *resource.kind == *kind)
            .peekable();
        if resources.peek().is_none() {
            return Err(format!("no matches for kind {kind:?} in group {group:?}"));
        }
        let is_scaled = |resource: &&Arc<ResourceType>| resource.subresource("scale").is_some();
        let Some(resource) = resources.find(is_scaled).map(Arc::clone) else {
            return Err(Status::unknown_resource().message);
        };
        let namespace = resource.is_namespaced.then_some(namespace);
        let key = ObjectKey::new(resource.rules.storage().clone(), namespace, name);
        let Some(stored) = cluster.get(&key) else {
            let missing = NamedObject {
                resource: &resource.plural,
                group,
                name,
            };
            return Err(Status::not_found(missing).message);
        };
        let object = stored.to_value();
        let scale = ScaleOf(&resource).parts(&object)?;
        Ok(Self {
            replicas: scale.replicas.unwrap_or_default(),
            present: scale.present_replicas,
            selector: scale.selector,
            key,
            resource,
        })
    }

    /// Returns the selector of the target's pods, or its error.
    pub(super) fn selects(&self) -> Result<LabelSelector, String> {
        if self.selector.is_empty() {
            return Err("selector is required".to_owned());
        }
        LabelSelector::parse(&self.selector).map_err(|status| {
            format!(
                "couldn't convert selector into a corresponding internal selector object: {}",
                status.message
            )
        })
    }

    /// Scales it, as an update of its scale would.
    pub(super) fn scale(&self, cluster: &mut Cluster<'_, '_>, replicas: i64) {
        let actor = Actor::CONTROLLER_MANAGER.of_scale();
        cluster.update(&self.key, actor, |object| {
            // An object that has something else in the place of the replicas stays as it is.
            ScaleOf(&self.resource).set_replicas(object, replicas).ok();
        });
    }
}
