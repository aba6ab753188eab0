//! The fields that each type lets clients select by.

use std::borrow::Cow;

use serde_json::Value;

use super::Registry;
use crate::{
    conversion::stored_field, object::Pairs, resource::ResourceType, status::Status,
    storage::GroupResource,
};

/// A field that a type adds to `metadata.name` and `metadata.namespace`.
#[derive(Clone, Copy)]
struct Selectable {
    /// What clients write.
    label: &'static str,
    /// Where it is in the object.
    path: &'static [&'static str],
    /// What an absent value counts as.
    default: &'static str,
}

const fn field(label: &'static str, path: &'static [&'static str]) -> Selectable {
    defaulted(label, path, "")
}

const fn defaulted(
    label: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Selectable {
    Selectable {
        label,
        path,
        default,
    }
}

const POD: &[Selectable] = &[
    field("spec.nodeName", &["spec", "nodeName"]),
    field("spec.host", &["spec", "nodeName"]),
    field("spec.restartPolicy", &["spec", "restartPolicy"]),
    field("spec.schedulerName", &["spec", "schedulerName"]),
    field("spec.serviceAccountName", &["spec", "serviceAccountName"]),
    defaulted("spec.hostNetwork", &["spec", "hostNetwork"], "false"),
    field("status.phase", &["status", "phase"]),
    field("status.podIP", &["status", "podIP"]),
    field("status.podIPs", &["status", "podIP"]),
    field("status.nominatedNodeName", &["status", "nominatedNodeName"]),
];
const NODE: &[Selectable] = &[defaulted(
    "spec.unschedulable",
    &["spec", "unschedulable"],
    "false",
)];
const NAMESPACE: &[Selectable] = &[field("status.phase", &["status", "phase"])];
const SECRET: &[Selectable] = &[field("type", &["type"])];
const SERVICE: &[Selectable] = &[
    field("spec.clusterIP", &["spec", "clusterIP"]),
    field("spec.type", &["spec", "type"]),
];
const CORE_EVENT: &[Selectable] = &[
    field("involvedObject.kind", &["involvedObject", "kind"]),
    field("involvedObject.namespace", &["involvedObject", "namespace"]),
    field("involvedObject.name", &["involvedObject", "name"]),
    field("involvedObject.uid", &["involvedObject", "uid"]),
    field(
        "involvedObject.apiVersion",
        &["involvedObject", "apiVersion"],
    ),
    field(
        "involvedObject.resourceVersion",
        &["involvedObject", "resourceVersion"],
    ),
    field("involvedObject.fieldPath", &["involvedObject", "fieldPath"]),
    field("reason", &["reason"]),
    field("reportingComponent", &["reportingComponent"]),
    field("source", &["source", "component"]),
    field("type", &["type"]),
];
const EVENT: &[Selectable] = &[
    field("regarding.kind", &["regarding", "kind"]),
    field("regarding.namespace", &["regarding", "namespace"]),
    field("regarding.name", &["regarding", "name"]),
    field("regarding.uid", &["regarding", "uid"]),
    field("regarding.apiVersion", &["regarding", "apiVersion"]),
    field(
        "regarding.resourceVersion",
        &["regarding", "resourceVersion"],
    ),
    field("regarding.fieldPath", &["regarding", "fieldPath"]),
    field("reason", &["reason"]),
    field("reportingController", &["reportingController"]),
    field("type", &["type"]),
];
const REPLICATION_CONTROLLER: &[Selectable] =
    &[defaulted("status.replicas", &["status", "replicas"], "0")];
const JOB: &[Selectable] = &[defaulted(
    "status.successful",
    &["status", "succeeded"],
    "0",
)];
const SIGNER: &[Selectable] = &[field("spec.signerName", &["spec", "signerName"])];
const RESOURCE_SLICE: &[Selectable] = &[
    field("spec.nodeName", &["spec", "nodeName"]),
    field("spec.driver", &["spec", "driver"]),
];

/// The fields that a type adds, and how it words that it lacks one.
fn selectable(group: &str, plural: &str) -> Option<&'static [Selectable]> {
    Some(match (group, plural) {
        ("", "pods") => POD,
        ("", "nodes") => NODE,
        ("", "namespaces") => NAMESPACE,
        ("", "secrets") => SECRET,
        ("", "services") => SERVICE,
        ("", "events") => CORE_EVENT,
        ("events.k8s.io", "events") => EVENT,
        ("", "replicationcontrollers") => REPLICATION_CONTROLLER,
        ("batch", "jobs") => JOB,
        ("certificates.k8s.io", "certificatesigningrequests" | "clustertrustbundles") => SIGNER,
        ("resource.k8s.io", "resourceslices") => RESOURCE_SLICE,
        _ => return None,
    })
}

/// Whether clients may select objects of `resource` by the field `label`; the error is in the type's own words.
pub(crate) fn check_field(resource: &ResourceType, label: &str) -> Result<(), Status> {
    if matches!(label, "metadata.name" | "metadata.namespace") {
        return Ok(());
    }
    if let Some(custom) = &resource.custom {
        return if custom.is_selectable(label) {
            Ok(())
        } else {
            Err(Status::bad_request(format!(
                "field label not supported: {label}"
            )))
        };
    }
    let Some(fields) = selectable(&resource.group, &resource.plural) else {
        return Err(Status::bad_request(format!(
            "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )));
    };
    if fields.iter().any(|field| field.label == label) {
        return Ok(());
    }
    let of = if resource.group.as_ref() == "resource.k8s.io" {
        format!(" for {}, Kind={}", resource.api_version(), resource.kind)
    } else {
        String::new()
    };
    Err(Status::bad_request(format!(
        "field label not supported{of}: {label}"
    )))
}

/// The values that field selectors may ask for in `object`, apart from its name and namespace. One that has two names is there
/// under that of [`stored_field`].
pub(crate) fn selectable_fields(
    registry: &Registry,
    resource: &GroupResource,
    object: &Value,
) -> Pairs {
    let (group, plural) = (resource.group(), resource.resource());
    let added = selectable(group, plural).unwrap_or_default();
    let value = |field: &Selectable| field.value(object);
    let said = |label: &str| {
        let field = added.iter().find(|field| field.label == label);
        field.map(value).unwrap_or_default()
    };
    let built_in = added
        .iter()
        .filter(|field| stored_field(group, plural, field.label) == field.label)
        .map(|field| match (field.label, value(field)) {
            // Who made an event that names no source is who reports it.
            ("source", source) if source.is_empty() => (field.label, said("reportingComponent")),
            (label, value) => (label, value),
        });
    let custom = registry
        .custom(resource)
        .and_then(|own| own.custom.as_ref())
        .map(|custom| custom.selectable_fields(object))
        .unwrap_or_default();
    let custom = custom
        .iter()
        .map(|(label, value)| (label.as_str(), value.into()));
    built_in.chain(custom).collect()
}

// === impl Selectable ===

impl Selectable {
    fn value(self, object: &Value) -> Cow<'_, str> {
        let value = self.path.iter().fold(object, |value, key| &value[*key]);
        match value {
            Value::String(text) => text.into(),
            Value::Null => self.default.into(),
            other => other.to_string().into(),
        }
    }
}
