//! How the types differ in their life cycle: what their names look like, what counts as a generation, what may be left out.

mod metadata;
mod qos;

use serde_json::{Map, Value, json};

pub(crate) use self::qos::qos_class;

use crate::{
    custom_resources::{self, conditions, set_definition_defaults},
    defaults,
    resource::ResourceType,
};

/// The rules of one type. A type that is not named anywhere follows the common ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strategy<'a> {
    resource: &'a ResourceType,
}

// === impl Strategy ===

impl<'a> Strategy<'a> {
    pub(crate) fn of(resource: &'a ResourceType) -> Self {
        Self { resource }
    }

    fn id(self) -> (&'a str, &'a str) {
        (&self.resource.group, &self.resource.plural)
    }

    pub(crate) fn is_namespace(self) -> bool {
        self.id() == ("", "namespaces")
    }

    /// Whether its objects define custom resources.
    pub(crate) fn is_definition(self) -> bool {
        self.id() == (custom_resources::GROUP, custom_resources::PLURAL)
    }

    fn is_custom(self) -> bool {
        self.resource.custom.is_some()
    }

    pub(crate) fn is_pod(self) -> bool {
        self.id() == ("", "pods")
    }

    /// Whether objects count their generations.
    pub(crate) fn has_generation(self) -> bool {
        if self.is_custom() {
            return true;
        }
        match self.id() {
            ("", "pods" | "replicationcontrollers" | "podtemplates")
            | (
                "admissionregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "batch"
                | "flowcontrol.apiserver.k8s.io"
                | "policy",
                _,
            ) => true,
            ("apps", plural) => plural != "controllerrevisions",
            ("networking.k8s.io", plural) => {
                matches!(plural, "ingresses" | "ingressclasses" | "networkpolicies")
            }
            ("discovery.k8s.io", plural) => plural == "endpointslices",
            ("scheduling.k8s.io", plural) => plural == "priorityclasses",
            _ => false,
        }
    }

    /// Whether what `new` wants differs from what `old` wanted.
    pub(crate) fn is_next_generation(self, old: &Value, new: &Value) -> bool {
        let counts_status = self.is_custom() && !self.resource.has_status();
        let is_part_of_it = |name: &str| match name {
            "kind" | "apiVersion" | "metadata" => false,
            "status" => counts_status,
            _ => true,
        };
        let wanted = |object: &Value| -> Vec<(String, Value)> {
            let members = object.as_object().into_iter().flatten();
            members
                .filter(|(name, _)| is_part_of_it(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let counts_annotations = self.id() == ("apps", "deployments");
        wanted(old) != wanted(new)
            || (counts_annotations
                && old["metadata"]["annotations"] != new["metadata"]["annotations"])
    }

    /// Whether an update of an object that is not there creates it.
    pub(crate) fn creates_on_update(self) -> bool {
        matches!(
            self.id(),
            ("coordination.k8s.io", "leases" | "leasecandidates")
                | ("", "events" | "limitranges" | "services" | "endpoints")
                | ("events.k8s.io", "events")
                | ("rbac.authorization.k8s.io", _)
                | ("node.k8s.io", "runtimeclasses")
        )
    }

    /// Whether an update has to say which version it is based on.
    pub(crate) fn requires_version(self) -> bool {
        self.is_custom()
            || matches!(
                self.id(),
                ("coordination.k8s.io", "leases")
                    | (
                        "apiextensions.k8s.io"
                            | "admissionregistration.k8s.io"
                            | "apiregistration.k8s.io"
                            | "internal.apiserver.k8s.io",
                        _
                    )
                    | ("policy", "poddisruptionbudgets")
                    | (
                        "storage.k8s.io",
                        "volumeattachments" | "csidrivers" | "csinodes" | "csistoragecapacities"
                    )
                    | ("node.k8s.io", "runtimeclasses")
            )
    }

    /// Whether a delete answers with the object, and not only with that it went well.
    pub(crate) fn returns_deleted(self) -> bool {
        matches!(
            self.id(),
            (
                "",
                "pods"
                    | "services"
                    | "serviceaccounts"
                    | "persistentvolumes"
                    | "persistentvolumeclaims"
                    | "resourcequotas"
                    | "podtemplates"
                    | "namespaces"
            ) | (
                "storage.k8s.io",
                "storageclasses"
                    | "volumeattachments"
                    | "volumeattributesclasses"
                    | "csidrivers"
                    | "csinodes"
            ) | ("resource.k8s.io", _)
        )
    }

    /// Whether its deletion may wait for what it owns: events own nothing.
    pub(crate) fn is_garbage_collected(self) -> bool {
        !matches!(self.id(), ("" | "events.k8s.io", "events"))
    }

    /// Whether what it owns stays when a deletion does not say: as it was before there was a choice.
    #[doc(alias = "DefaultGarbageCollectionPolicy")]
    pub(crate) fn orphans_by_default(self) -> bool {
        matches!(
            self.id(),
            ("", "replicationcontrollers") | ("batch", "jobs")
        )
    }

    /// Whether a write to `status` may also change metadata.
    pub(crate) fn status_writes_metadata(self) -> bool {
        matches!(self.id(), ("", "pods" | "nodes"))
    }

    /// Whether what a client creates may bring a status: kubelets register nodes with theirs.
    pub(crate) fn is_created_with_status(self) -> bool {
        !self.resource.has_status() || self.id() == ("", "nodes")
    }

    /// Sets what a client may leave out, before it is known who owns which field.
    pub(crate) fn set_defaults(self, object: &mut Value) {
        match self.id() {
            ("", "namespaces") => {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                if !name.is_empty() {
                    let label = json!(name);
                    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = label;
                }
            }
            _ if self.is_definition() => set_definition_defaults(object),
            _ => defaults::set_defaults(&self.resource.group, &self.resource.plural, object),
        }
    }

    /// Sets what the server begins an object with, and nobody owns. It has its name and uid already.
    pub(crate) fn prepare_create(self, object: &mut Value) {
        match self.id() {
            ("", "namespaces") => {
                let finalizers = &mut object["spec"]["finalizers"];
                let is_there = finalizers.as_array().is_some_and(|finalizers| {
                    finalizers.iter().any(|finalizer| finalizer == "kubernetes")
                });
                if !is_there {
                    let mut all = finalizers.as_array().cloned().unwrap_or_default();
                    all.push(json!("kubernetes"));
                    *finalizers = all.into();
                }
                object["status"] = json!({"phase": "Active"});
                // A name that was generated was not known when defaults were set.
                let name = object["metadata"]["name"].clone();
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            }
            ("", "pods") => {
                object["status"] = json!({"phase": "Pending", "qosClass": qos_class(object)});
            }
            _ if self.is_definition() => conditions::record_stored_version(object),
            ("", "persistentvolumeclaims") => object["status"] = json!({"phase": "Pending"}),
            ("", "persistentvolumes") => {
                let since = &object["metadata"]["creationTimestamp"];
                object["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
            }
            _ => {}
        }
        if self.has_generation() {
            object["metadata"]["generation"] = json!(1);
        }
        defaults::admit(&self.resource.group, &self.resource.plural, object);
    }

    /// Leaves of a configuration what may be written through this endpoint: all but the status, or the status only, and so on.
    pub(crate) fn keep_for_endpoint(self, subresource: &str, config: &mut Value) {
        let Some(fields) = config.as_object_mut() else {
            return;
        };
        match subresource {
            "" if self.resource.has_status() => {
                fields.remove("status");
            }
            "status" => {
                fields.retain(|name, _| {
                    matches!(name.as_str(), "kind" | "apiVersion" | "metadata" | "status")
                });
                let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
                if let Some(metadata) = metadata {
                    let writes_metadata = self.status_writes_metadata();
                    metadata.retain(|name, _| match name.as_str() {
                        "name" | "namespace" | "uid" | "resourceVersion" => true,
                        "ownerReferences" | "deletionTimestamp" => false,
                        _ => writes_metadata,
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

    /// Takes back what may not be written through this endpoint: all but the status through `status`, and so on.
    pub(crate) fn reset_for_endpoint(self, subresource: &str, old: &Value, new: &mut Value) {
        match subresource {
            "" => {
                if self.resource.has_status() {
                    copy(old, new, "status");
                }
                if self.id() == ("", "services") {
                    defaults::keep_allocated(old, new);
                }
                if self.is_pod() {
                    defaults::keep_admitted(old, new);
                }
                if self.is_namespace() {
                    copy(&old["spec"], &mut new["spec"], "finalizers");
                }
            }
            // It changes nothing but the replicas anyhow, and knows where they are.
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
                let metadata = self
                    .status_writes_metadata()
                    .then(|| new["metadata"].take());
                restore(old, new);
                set_or_remove(new, "status", status);
                if self.is_pod() {
                    defaults::align_addresses(new);
                }
                if let Some(metadata) = metadata {
                    new["metadata"] = metadata;
                }
            }
        }
    }
}

/// Leaves of a configuration the object's identity and these fields of its spec.
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

/// Takes from `sent` what its containers ask for.
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

/// Makes `new` what `old` is, but for the version that it was based on and the managers that it brings.
fn restore(old: &Value, new: &mut Value) {
    let version = new["metadata"].get("resourceVersion").cloned();
    *new = old.clone();
    set_or_remove(&mut new["metadata"], "resourceVersion", version);
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    set_or_remove(to, field, from.get(field).cloned());
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    match (object.as_object_mut(), value) {
        (Some(object), Some(value)) => {
            object.insert(field.to_owned(), value);
        }
        (Some(object), None) => {
            object.remove(field);
        }
        (None, Some(value)) => *object = json!({ field: value }),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests;
