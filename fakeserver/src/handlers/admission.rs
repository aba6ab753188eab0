//! What admission is told of a request: its options, and the objects and kinds of its resource.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Call, namespaces};
use crate::{
    admission::{Objects, Resource},
    conversion::Form,
    custom_resources::Conversion,
    object::Pairs,
    request::{DeleteOptions, FieldValidation, Propagation, WriteOptions},
    resource::{GroupVersionKind, ResourceType},
    status::Status,
    storage::StoredObject,
};

/// The options of a write, as webhooks are told them.
pub(super) trait AdmissionOptions {
    fn is_dry_run(&self) -> bool;

    /// As JSON, without kind and version.
    fn to_json(&self, call: &Call<'_>) -> Value;
}

// === impl Call ===

impl Call<'_> {
    /// The webhook that makes objects of this version of what is stored; nothing if they are stored so.
    pub(super) fn conversion(&self) -> Option<&Arc<Conversion>> {
        self.resource.custom.as_ref()?.conversion()
    }

    /// What is stored, as the type shows it, which may have to ask a webhook.
    pub(super) async fn present(
        &self,
        stored: &Arc<StoredObject>,
    ) -> Result<Arc<StoredObject>, Status> {
        let shown = self.present_all(vec![Arc::clone(stored)]).await?;
        Ok(shown
            .into_iter()
            .next()
            .unwrap_or_else(|| Arc::clone(stored)))
    }

    /// What is stored, as the type shows it: by one question to a webhook, if one is needed.
    pub(super) async fn present_all(
        &self,
        stored: Vec<Arc<StoredObject>>,
    ) -> Result<Vec<Arc<StoredObject>>, Status> {
        let core = &self.server.core;
        match &self.resource.custom {
            Some(custom) => custom.present(&core.webhooks, &core.entropy, stored).await,
            None => Ok(stored),
        }
    }
}

impl Objects for Call<'_> {
    fn read(&self, kind: &GroupVersionKind, object: &Value) -> Result<Value, String> {
        let text = object.to_string();
        let read = self.read_as(kind, text.as_bytes(), FieldValidation::Ignore);
        read.map(|received| received.object)
    }

    fn convert(&self, mut object: Value, to: &GroupVersionKind) -> Result<Value, String> {
        if self
            .resource
            .custom
            .as_ref()
            .is_some_and(|custom| custom.has_webhook())
        {
            return Err(format!(
                "conversion to {}, Kind={} by a webhook is not done for admission",
                to.api_version(),
                to.kind
            ));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let from = Form::of(&text(&object["apiVersion"]), &text(&object["kind"]));
        let wanted = Form::of(&to.api_version(), &to.kind);
        if let Some(wanted) = wanted.filter(|wanted| from.is_some_and(|from| from != *wanted)) {
            object = wanted.convert(object);
        }
        object["kind"] = json!(&*to.kind);
        object["apiVersion"] = json!(to.api_version());
        Ok(object)
    }

    fn namespace_labels(&self, name: &str) -> Option<Pairs> {
        let key = namespaces::key(name);
        let storage = &self.server.core.storage;
        let found = storage.view(|view| view.get(&key).map(Arc::clone));
        found.map(|namespace| namespace.labels().clone())
    }

    fn versions(&self) -> Vec<(Resource, GroupVersionKind)> {
        let registry = self.server.core.registry();
        let group = registry.group(&self.resource.group);
        let versions = group.into_iter().flat_map(|group| &group.versions);
        let resources = versions.flat_map(|version| &version.resources);
        resources
            .filter(|resource| resource.plural == self.resource.plural)
            .map(|resource| {
                (
                    resource_of(resource),
                    kind_below(resource, self.subresource()),
                )
            })
            .collect()
    }
}

impl AdmissionOptions for WriteOptions {
    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    fn to_json(&self, call: &Call<'_>) -> Value {
        let mut options = json!({});
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        let validation = call.query.text("fieldValidation");
        for (field, value) in [
            ("fieldManager", &self.field_manager),
            ("fieldValidation", &validation),
        ] {
            if !value.is_empty() {
                options[field] = json!(value);
            }
        }
        options
    }
}

impl AdmissionOptions for DeleteOptions {
    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    fn to_json(&self, _: &Call<'_>) -> Value {
        let mut options = json!({});
        if let Some(seconds) = self.grace_period_seconds {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(uid) = &self.preconditions.uid {
            options["preconditions"]["uid"] = json!(uid);
        }
        if let Some(version) = &self.preconditions.resource_version {
            options["preconditions"]["resourceVersion"] = json!(version);
        }
        if let Some(propagation) = self.propagation {
            options["propagationPolicy"] = json!(match propagation {
                Propagation::Background => "Background",
                Propagation::Foreground => "Foreground",
                Propagation::Orphan => "Orphan",
            });
        }
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        options
    }
}

/// A version of a resource.
pub(super) fn resource_of(resource: &ResourceType) -> Resource {
    Resource {
        group: Arc::clone(&resource.group),
        version: Arc::clone(&resource.version),
        plural: Arc::clone(&resource.plural),
    }
}

/// The kind of what is sent to a subresource, or to the object itself.
pub(super) fn kind_below(resource: &ResourceType, subresource: &str) -> GroupVersionKind {
    match resource.subresource(subresource) {
        Some(below) if !below.kind.version.is_empty() => below.kind.clone(),
        Some(below) => GroupVersionKind {
            kind: Arc::clone(&below.kind.kind),
            ..resource.group_version_kind()
        },
        None => resource.group_version_kind(),
    }
}
