//! Writes of subresources: status, scale and others that take the object.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Value, json};

use super::{
    metadata,
    mutation::mutate,
    odd::{self, pick},
    parameters,
    schema::Schemas,
    subject::{Subject, Subresource},
    value,
    write::{current, with_parameters},
};
use crate::corpus::{Body, Request};

/// The subresources whose body is the object or a part of it.
const OF_OBJECT: [&str; 5] = [
    "status",
    "approval",
    "ephemeralcontainers",
    "resize",
    "finalize",
];

/// Draws a write of a subresource and its category; `None` if the kind has none.
pub(super) fn write(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> Option<(&'static str, Request, String)> {
    let is_known = |name: &str| name == "scale" || OF_OBJECT.contains(&name);
    let subresources: Vec<&Subresource> = subject
        .subresources
        .iter()
        .filter(|one| is_known(&one.name))
        .collect();
    let subresource = *subresources.choose(rng)?;
    let path = format!("{}/{}", subject.path(), subresource.name);
    if subresource.name == "scale" {
        let (request, note) = scale(rng, subject, &path);
        return Some(("scale", request, note));
    }
    let mut object = current(rng, subject);
    let note = change(rng, &mut object, subject, schemas);
    let category = if subresource.name == "status" {
        "status"
    } else {
        "subresource"
    };
    let has = |verb: &str| subresource.verbs.iter().any(|served| served == verb);
    let is_patch = has("patch") && (!has("update") || rng.random_bool(0.5));
    let path = with_parameters(&path, &parameters::of_write(rng));
    let request = if is_patch {
        let changes = json!({"status": object["status"], "spec": object["spec"], "metadata": part(&object["metadata"])});
        Request::new("PATCH", path)
            .with_header("Content-Type", "application/merge-patch+json")
            .with_body(Body::Json(without_nulls(changes).to_string()))
    } else {
        Request::new("PUT", path).with_body(Body::Json(object.to_string()))
    };
    Some((category, request, note))
}

/// Draws a status by the schema, and sometimes another change.
fn change(
    rng: &mut ChaCha8Rng,
    object: &mut Value,
    subject: &Subject,
    schemas: &Schemas,
) -> String {
    let schema = subject.schema(schemas);
    let mut notes = Vec::new();
    if let Some(status) = schema.and_then(|schema| schema.field("status"))
        && rng.random_bool(0.9)
    {
        object["status"] = value::odd_of(rng, status, "status");
        notes.push("status".to_owned());
    }
    match rng.random_range(0..5) {
        0 => metadata::valid(rng, object),
        1 | 2 => notes.push(mutate(rng, object, schema)),
        _ => {}
    }
    notes.join("; ")
}

fn scale(rng: &mut ChaCha8Rng, subject: &Subject, path: &str) -> (Request, String) {
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": subject.name(), "namespace": subject.namespace},
        "spec": {"replicas": rng.random_range(0..4)},
    });
    let note = match rng.random_range(0..8) {
        0 => "get",
        1 => "valid",
        2 => {
            scale["spec"]["replicas"] = odd::number(rng, &3.into());
            "replicas"
        }
        3 => {
            scale["spec"] = pick(
                rng,
                &[json!({}), Value::Null, json!("a"), json!({"bogus": 1})],
            );
            "spec"
        }
        4 => {
            scale["metadata"]["resourceVersion"] = pick(
                rng,
                &[
                    json!("1"),
                    json!("x"),
                    json!(format!("${{rv:{}}}", subject.key)),
                ],
            );
            "version"
        }
        5 => {
            let field = pick(rng, &["kind", "apiVersion"]);
            scale[field] = pick(
                rng,
                &[
                    json!("Deployment"),
                    json!("v1"),
                    json!("extensions/v1beta1"),
                    json!(""),
                ],
            );
            "type"
        }
        6 => {
            scale["metadata"]["name"] = pick(rng, &[json!("other"), json!(""), Value::Null]);
            "name"
        }
        _ => {
            scale["status"] = json!({"replicas": 7, "selector": "a=b"});
            "status"
        }
    };
    if note == "get" {
        return (Request::new("GET", path), note.to_owned());
    }
    (write_of_scale(rng, path, &scale), note.to_owned())
}

/// Draws the method that writes a scale.
fn write_of_scale(rng: &mut ChaCha8Rng, path: &str, scale: &Value) -> Request {
    let path = with_parameters(path, &parameters::of_write(rng));
    match rng.random_range(0..4) {
        0 => Request::new("PATCH", path)
            .with_header("Content-Type", "application/merge-patch+json")
            .with_body(Body::Json(json!({"spec": scale["spec"]}).to_string())),
        1 => Request::new("PATCH", path)
            .with_header("Content-Type", "application/json-patch+json")
            .with_body(Body::Json(
                json!([{"op": "replace", "path": "/spec/replicas", "value": scale["spec"]["replicas"]}]).to_string(),
            )),
        _ => Request::new("PUT", path).with_body(Body::Json(scale.to_string())),
    }
}

/// Returns the part of the metadata that a client sets.
fn part(metadata: &Value) -> Value {
    json!({
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
        "finalizers": metadata["finalizers"],
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            fields
                .map(|(key, value)| (key, without_nulls(value)))
                .collect()
        }
        other => other,
    }
}
