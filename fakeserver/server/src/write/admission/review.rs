//! `AdmissionReview`: the request that a webhook receives about a write.

use fakeserver_value::resource::GroupVersionKind;
use serde_json::{Value, json};

use super::{Attributes, Invocation, Resource, Webhook};

/// The group of reviews.
pub(super) const GROUP: &str = "admission.k8s.io";
/// The kind of reviews.
pub(super) const KIND: &str = "AdmissionReview";

/// Returns the review that `webhook` receives about a write. `attributes` are in the version of `invocation`.
pub(super) fn review(
    webhook: &Webhook,
    uid: &str,
    attributes: &Attributes,
    invocation: &Invocation,
) -> Value {
    let mut request = request(attributes, invocation);
    request["uid"] = json!(uid);
    request["object"] = json!(attributes.object);
    request["oldObject"] = json!(attributes.old_object);
    request["options"] = attributes.options.clone();
    json!({
        "kind": KIND,
        "apiVersion": format!("{GROUP}/{}", webhook.review_version),
        "request": request,
    })
}

/// Returns the variable `request` of expressions: a review without the objects.
pub fn cel_request(attributes: &Attributes, invocation: &Invocation) -> Value {
    let mut request = request(attributes, invocation);
    request["options"] = attributes.options.clone();
    request
}

fn request(attributes: &Attributes, invocation: &Invocation) -> Value {
    let mut request = json!({
        "kind": kind(&invocation.kind),
        "resource": resource(&invocation.resource),
        "requestKind": kind(&attributes.kind),
        "requestResource": resource(&attributes.resource),
        "operation": attributes.operation.name(),
        "userInfo": attributes.user,
        "dryRun": attributes.is_dry_run,
    });
    for (field, text) in [
        ("subResource", &attributes.subresource),
        ("requestSubResource", &attributes.subresource),
        ("name", &attributes.name),
        ("namespace", &attributes.namespace),
    ] {
        if !text.is_empty() {
            request[field] = json!(text);
        }
    }
    request
}

fn kind(kind: &GroupVersionKind) -> Value {
    json!({"group": &*kind.group, "version": &*kind.version, "kind": &*kind.kind})
}

fn resource(resource: &Resource) -> Value {
    json!({
        "group": &*resource.group,
        "version": &*resource.version,
        "resource": &*resource.plural,
    })
}
