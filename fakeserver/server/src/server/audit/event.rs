//! An event of the log, as API servers write it.

use std::collections::BTreeMap;

use fakeserver_kinds::rbac::policy::{Attributes, ResourceAttributes, Target};
use fakeserver_value::user::UserInfo;
use http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::policy::{Level, Stage};

/// An event: a stage of a request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    kind: &'static str,
    api_version: &'static str,
    level: String,
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonated_user: Option<Value>,
    #[serde(rename = "sourceIPs")]
    source_ips: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    user_agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<ObjectReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_status: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_object: Option<Value>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// The object that a request is about.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectReference {
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
}

/// The parts of a request that all its events contain.
#[derive(Debug)]
pub(super) struct RequestInfo<'a> {
    pub(super) level: Level,
    pub(super) audit_id: String,
    pub(super) uri: String,
    pub(super) attributes: &'a Attributes,
    /// `None` if authentication failed.
    pub(super) user: Option<&'a UserInfo>,
    pub(super) impersonator: Option<&'a UserInfo>,
    /// The addresses of the client, the nearest one last.
    pub(super) sources: Vec<String>,
    pub(super) agent: String,
    pub(super) at: Timestamp,
}

// === impl Event ===

impl Event {
    pub(super) fn new(request: RequestInfo<'_>) -> Self {
        let user = request.impersonator.or(request.user);
        let impersonated = request.user.filter(|_| request.impersonator.is_some());
        let object_ref = match &request.attributes.target {
            Target::Resource(resource) => Some(ObjectReference::of(resource)),
            Target::Path(_) => None,
        };
        Self {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level: format!("{:?}", request.level),
            audit_id: request.audit_id,
            stage: String::new(),
            request_uri: request.uri,
            verb: request.attributes.verb.clone(),
            user: user.map_or_else(|| json!({}), UserInfo::to_json),
            impersonated_user: impersonated.map(UserInfo::to_json),
            source_ips: request.sources,
            user_agent: request.agent,
            object_ref,
            response_status: None,
            request_object: None,
            response_object: None,
            request_received_timestamp: time(request.at),
            stage_timestamp: String::new(),
            annotations: BTreeMap::new(),
        }
    }

    /// Moves it to a stage.
    pub(super) fn enter(&mut self, stage: Stage, at: Timestamp) {
        self.stage = format!("{stage:?}");
        self.stage_timestamp = time(at);
    }

    pub(super) fn annotate(&mut self, key: &str, value: &str) {
        self.annotations.insert(key.to_owned(), value.to_owned());
    }

    /// Adds the annotations of admission. Existing ones stay.
    pub(super) fn annotate_all(&mut self, mut annotations: BTreeMap<String, String>) {
        annotations.append(&mut self.annotations);
        self.annotations = annotations;
    }

    /// Adds the object reference of the request's body, and the body itself if `is_kept`.
    pub(super) fn take_request(&mut self, body: Value, is_kept: bool) {
        if let Some(object) = &mut self.object_ref {
            object.complete(&body["metadata"]);
        }
        self.request_object = Some(body).filter(|_| is_kept);
    }

    /// Sets the status code, and the fields of a body of kind `Status`.
    pub(super) fn take_status(&mut self, code: StatusCode, body: Option<&Value>) {
        let mut reported = json!({"metadata": {}});
        if let Some(status) = body.filter(|it| it["kind"] == "Status") {
            for field in ["status", "message", "reason", "details"] {
                if let Some(value) = status.get(field) {
                    reported[field] = value.clone();
                }
            }
        }
        reported["code"] = json!(code.as_u16());
        self.response_status = Some(reported);
    }

    pub(super) fn take_response(&mut self, body: Value) {
        self.response_object = Some(body);
    }

    /// Removes the managed fields of objects, and of the items of lists.
    pub(super) fn remove_managed_fields(&mut self) {
        for body in [&mut self.request_object, &mut self.response_object]
            .into_iter()
            .flatten()
        {
            remove_managed_fields(body);
            if let Some(items) = body.get_mut("items").and_then(Value::as_array_mut) {
                items.iter_mut().for_each(remove_managed_fields);
            }
        }
    }
}

// === impl ObjectReference ===

impl ObjectReference {
    fn of(resource: &ResourceAttributes) -> Self {
        Self {
            resource: resource.resource.clone(),
            namespace: resource.namespace.clone(),
            name: resource.name.clone(),
            uid: String::new(),
            api_group: resource.group.clone(),
            api_version: resource.version.clone(),
            resource_version: String::new(),
            subresource: resource.subresource.clone(),
        }
    }

    /// Adds the parts of the object reference that the path lacks.
    fn complete(&mut self, metadata: &Value) {
        for (field, own) in [
            ("name", &mut self.name),
            ("uid", &mut self.uid),
            ("resourceVersion", &mut self.resource_version),
        ] {
            if let Some(text) = metadata[field].as_str().filter(|_| own.is_empty()) {
                text.clone_into(own);
            }
        }
    }
}

fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Writes a time with microseconds.
fn time(at: Timestamp) -> String {
    format!("{at:.6}")
}
