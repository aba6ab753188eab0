//! Endpoints of a resource: the parts of an object that each one writes.

use fakeserver_value::edit::{copy, set_or_remove};
use serde_json::{Map, Value};

use super::{PreservedMetadata, ResourceType};

// === impl ResourceType ===

impl ResourceType {
    /// Tells whether a client may create objects with a status.
    pub fn is_created_with_status(&self) -> bool {
        !self.has_status() || self.rules.habits.is_created_with_status
    }

    /// Tells whether the writer of a status owns the metadata that the write leaves unchanged.
    pub fn status_owns_metadata(&self) -> bool {
        let change = self.rules.habits.status_metadata_unowned;
        change.is_some_and(|change| !self.kubernetes.gates().is_on(change))
    }

    /// Removes from an applied configuration what this endpoint does not write.
    pub fn keep_for_endpoint(&self, subresource: &str, config: &mut Value) {
        let Some(fields) = config.as_object_mut() else {
            return;
        };
        match subresource {
            "" if self.has_status() => {
                fields.remove("status");
            }
            "status" => {
                let owns_metadata = self.status_owns_metadata();
                fields.retain(|name, _| {
                    matches!(name.as_str(), "kind" | "apiVersion" | "metadata" | "status")
                });
                let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
                if let Some(metadata) = metadata {
                    let kept = self.rules.habits.kept_by_status;
                    metadata.retain(|name, _| match name.as_str() {
                        "name" | "namespace" | "uid" | "resourceVersion" => true,
                        "deletionTimestamp" => false,
                        _ if owns_metadata => true,
                        name => kept != PreservedMetadata::ALL && !kept.has(name),
                    });
                }
            }
            "ephemeralcontainers" => keep_of_spec(fields, &["ephemeralContainers"]),
            "resize" => {
                keep_of_spec(fields, &["containers", "initContainers"]);
                for list in ["containers", "initContainers"] {
                    let containers = fields.get_mut("spec").and_then(|spec| spec.get_mut(list));
                    let containers = containers.and_then(Value::as_array_mut);
                    for container in containers
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_object_mut)
                    {
                        container.retain(|name, _| {
                            matches!(name.as_str(), "name" | "resources" | "resizePolicy")
                        });
                    }
                }
            }
            _ => {}
        }
    }

    /// Restores in `new` what this endpoint does not write: through `status` everything but the status, for example.
    pub fn reset_for_endpoint(&self, subresource: &str, old: &Value, new: &mut Value) {
        match subresource {
            "" => {
                if self.has_status() {
                    copy(old, new, "status");
                }
                self.rules.keep_on_update(old, new);
            }
            // The scale endpoint changes only the replicas by itself, so that no field has to be restored.
            "scale" => {}
            "ephemeralcontainers" => {
                let containers = new["spec"].get("ephemeralContainers").cloned();
                restore(old, new);
                set_or_remove(&mut new["spec"], "ephemeralContainers", containers);
            }
            "resize" => {
                let sent = new["spec"].take();
                restore(old, new);
                resize(&sent, &mut new["spec"]);
            }
            "finalize" => {
                let finalizers = new["spec"]["finalizers"].take();
                restore(old, new);
                let has_some = finalizers.as_array().is_some_and(|all| !all.is_empty());
                set_or_remove(
                    &mut new["spec"],
                    "finalizers",
                    has_some.then_some(finalizers),
                );
            }
            _ => {
                let status = new.get("status").cloned();
                let mut metadata = new["metadata"].take();
                let kept = self.rules.habits.kept_by_status;
                for field in PreservedMetadata::FIELDS {
                    if kept.has(field) {
                        copy(&old["metadata"], &mut metadata, field);
                    }
                }
                restore(old, new);
                set_or_remove(new, "status", status);
                new["metadata"] = metadata;
                self.rules.complete_status(new);
                self.rules.keep_on_update(old, new);
            }
        }
    }
}

/// Removes everything but the object's identity and these fields of its spec.
fn keep_of_spec(config: &mut Map<String, Value>, kept: &[&str]) {
    config.retain(|name, _| matches!(name.as_str(), "kind" | "apiVersion" | "metadata" | "spec"));
    if let Some(metadata) = config.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| {
            matches!(
                name.as_str(),
                "name" | "namespace" | "uid" | "resourceVersion"
            )
        });
    }
    if let Some(spec) = config.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|name, _| kept.contains(&name.as_str()));
    }
}

/// Copies the resources of containers from `sent`.
fn resize(sent: &Value, spec: &mut Value) {
    for list in ["containers", "initContainers"] {
        let sent = sent[list].as_array();
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let mut sent = sent.into_iter().flatten();
            if let Some(sent) = sent.find(|sent| sent["name"] == container["name"]) {
                copy(sent, container, "resources");
                copy(sent, container, "resizePolicy");
            }
        }
    }
}

/// Makes `new` equal to `old`, except for the version that it is based on.
fn restore(old: &Value, new: &mut Value) {
    let version = new["metadata"].get("resourceVersion").cloned();
    *new = old.clone();
    set_or_remove(&mut new["metadata"], "resourceVersion", version);
}
