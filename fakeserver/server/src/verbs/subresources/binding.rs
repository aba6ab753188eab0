//! `binding`: a scheduler puts a pod on a node.

use axum::response::Response;
use fakeserver_kinds::core::pod;
use fakeserver_value::{
    resource::GroupVersionKind,
    status::{FieldError, NamedObject, Status, Success},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    edge::{request::write_options, response::Shape},
    store::ObjectKey,
    verbs::{
        Api, Request,
        answer::{self, add_warnings},
        author::author,
        body::receive_as,
    },
    write::{Attempt, admit},
};

/// Puts the pod that the binding in `body` names on the node that it names.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding_of(
        api,
        request,
        &GroupVersionKind::new("", "v1", "Status"),
        Shape::Object,
    )?;
    let options = write_options(&request.query, "CreateOptions")?;
    let kind = GroupVersionKind::new("", "v1", "Binding");
    let mut received = receive_as(request, &kind, body, options.validation())?;
    request.target.set_namespace(&mut received.object)?;
    let binding = received.object;
    let body_name = binding["metadata"]["name"].as_str().unwrap_or_default();
    let name = request.target.path.name.as_deref().unwrap_or(body_name);
    if body_name != name {
        return Err(Status::bad_request(
            "name in URL does not match name in Binding object",
        ));
    }
    let namespace = request.target.path.namespace.as_deref();
    let key = ObjectKey::new(pod::KIND.storage().clone(), namespace, name);
    let author = author(request, &options);
    let work = |attempt: &mut Attempt<'_, '_>| {
        let binding = admit(attempt, &request.target, author, &kind, binding.clone())?;
        let node = check_target(&binding)?;
        let stored = attempt.get(&key).ok_or_else(|| {
            Status::not_found(NamedObject {
                resource: "pods",
                group: "",
                name,
            })
        })?;
        let mut pod = stored.to_value();
        check_assignable(&pod, name)?;
        pod["spec"]["nodeName"] = json!(node);
        for (annotation, value) in binding["metadata"]["annotations"]
            .as_object()
            .into_iter()
            .flatten()
        {
            pod["metadata"]["annotations"][annotation] = value.clone();
        }
        mark_scheduled(&mut pod, attempt.now_text());
        if !options.is_dry_run {
            attempt.put(&key, pod);
        }
        Ok(())
    };
    let ((), warnings) = api.backend.write(&request.target, &options, work).await?;
    let mut response =
        answer::succeeded(request, StatusCode::CREATED, &encoding, &Success::created());
    add_warnings(&mut response, &warnings);
    Ok(response)
}

/// The node that a binding names.
fn check_target(binding: &Value) -> Result<&str, Status> {
    let target = &binding["target"];
    let kind = target["kind"].as_str().unwrap_or_default();
    let node = target["name"].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(kind, "" | "Node") {
        errors.push(FieldError::not_supported(
            "target.kind",
            &json!(kind),
            &["Node", "<empty>"],
        ));
    }
    if node.is_empty() {
        errors.push(FieldError::required("target.name", ""));
    }
    let messages: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    match messages.as_slice() {
        [] => Ok(node),
        [one] => Err(Status::unclassified(one.as_str())),
        many => Err(Status::unclassified(format!("[{}]", many.join(", ")))),
    }
}

fn check_assignable(pod: &Value, name: &str) -> Result<(), Status> {
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let gates = pod["spec"]["schedulingGates"].as_array();
    let why = if !pod["metadata"]["deletionTimestamp"].is_null() {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if !node.is_empty() {
        format!("pod {name} is already assigned to node {node:?}")
    } else if gates.is_some_and(|gates| !gates.is_empty()) {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    let named = NamedObject {
        resource: "pods/binding",
        group: "",
        name,
    };
    Err(Status::conflict(named, &why))
}

fn mark_scheduled(pod: &mut Value, now: &str) {
    let condition = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": now,
    });
    let conditions = &mut pod["status"]["conditions"];
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.retain(|condition| condition["type"] != "PodScheduled");
        conditions.push(condition);
    } else {
        *conditions = json!([condition]);
    }
}
