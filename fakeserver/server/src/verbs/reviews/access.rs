//! Reviews of whether a user may make a request.

use std::sync::Arc;

use fakeserver_kinds::{
    authorization::selectors,
    rbac::policy::{Attributes, Decision, ResourceAttributes},
};
use fakeserver_value::{
    field::Field,
    findings::Findings,
    status::{FieldError, Status},
    user::UserInfo,
};
use serde_json::{Map, Value, json};

use super::{Review, metadata_errors};
use crate::verbs::Request;

/// Answers an access review, of the requester or of another user.
pub(super) fn answer(
    kind: Review,
    request: &Request<'_>,
    mut review: Value,
) -> Result<Value, Status> {
    let errors = errors(kind, &review);
    if !errors.is_empty() {
        // A real server has forgotten the kind by then.
        let group = &request.target.resource.group;
        let errors = request.target.printed(errors);
        return Err(Status::invalid("", group, "", &errors));
    }
    let spec = &review["spec"];
    let user = match kind {
        Review::SelfSubjectAccess => Arc::clone(&request.requester.user),
        _ => Arc::new(subject(spec)),
    };
    let decision = request.requester.access.decide(&user, &attributes(spec));
    let error = selectors::evaluation_error(&spec["resourceAttributes"]);
    review["status"] = status(&decision, &error);
    Ok(review)
}

fn status(decision: &Decision, evaluation_error: &str) -> Value {
    let mut status = Map::new();
    status.insert("allowed".to_owned(), json!(decision.is_allowed));
    if !decision.reason.is_empty() {
        status.insert("reason".to_owned(), json!(decision.reason));
    }
    if !evaluation_error.is_empty() {
        status.insert("evaluationError".to_owned(), json!(evaluation_error));
    }
    Value::Object(status)
}

/// Returns the user that a review is about. The user is in the groups that the review names, and in no other.
fn subject(spec: &Value) -> UserInfo {
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    let user = UserInfo::new(text(spec, "user"))
        .with_uid(text(spec, "uid"))
        .with_groups(texts(&spec["groups"]));
    let extra = spec["extra"].as_object().into_iter().flatten();
    extra.fold(user, |user, (key, values)| {
        let values = texts(values).into_iter();
        values.fold(user, |user, value| user.with_extra(key, value))
    })
}

fn attributes(spec: &Value) -> Attributes {
    let attributes = &spec["nonResourceAttributes"];
    if !attributes.is_null() {
        return Attributes::path(text(attributes, "verb"), text(attributes, "path"));
    }
    let attributes = &spec["resourceAttributes"];
    let field = |name| text(attributes, name).to_owned();
    let resource = ResourceAttributes {
        group: field("group"),
        version: field("version"),
        resource: field("resource"),
        subresource: field("subresource"),
        namespace: field("namespace"),
        name: field("name"),
    };
    Attributes::resource(field("verb"), resource)
}

fn errors(kind: Review, review: &Value) -> Vec<FieldError> {
    let spec = &review["spec"];
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut errors = Vec::new();
    if !resource.is_null() && !path.is_null() {
        errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            path,
            "cannot be specified in combination with resourceAttributes",
        ));
    }
    if resource.is_null() && path.is_null() {
        errors.push(FieldError::invalid(
            "spec.resourceAttributes",
            &Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ));
    }
    let has_groups = spec["groups"].as_array().is_some_and(|all| !all.is_empty());
    if kind != Review::SelfSubjectAccess && text(spec, "user").is_empty() && !has_groups {
        errors.push(FieldError::invalid(
            "spec.user",
            &json!(""),
            "at least one of user or group must be specified",
        ));
    }
    let mut found = Findings::default();
    let attributes = Field::root(review).at("spec").at("resourceAttributes");
    selectors::check(&attributes, &mut found);
    errors.extend(found.into_errors());
    let is_local = kind == Review::LocalSubjectAccess;
    errors.extend(metadata_errors(review, is_local));
    if !is_local {
        return errors;
    }
    let namespace = text(resource, "namespace");
    if !resource.is_null() && namespace != text(&review["metadata"], "namespace") {
        errors.push(FieldError::invalid(
            "spec.resourceAttributes.namespace",
            &json!(namespace),
            "must match metadata.namespace",
        ));
    }
    if !path.is_null() {
        errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            path,
            "disallowed on this kind of request",
        ));
    }
    errors
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
