//! Changes to the metadata of an object.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Value, json};

use super::odd::{self, pick};

/// The fields that can be changed.
const FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Changes one field of an object's metadata, and returns its name.
pub(super) fn mutate(rng: &mut ChaCha8Rng, object: &mut Value) -> &'static str {
    let field = FIELDS.choose(rng).copied().unwrap_or("labels");
    let value = drawn(rng, field);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        // The name stays beside `generateName`: errors would tell the random one.
        metadata.insert(field.to_owned(), value);
    }
    field
}

/// Lets the server choose the name.
pub(super) fn generate_name(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("name");
        metadata.insert("generateName".to_owned(), json!("sample-"));
    }
}

/// Draws labels, or annotations, which are valid.
pub(super) fn valid(rng: &mut ChaCha8Rng, object: &mut Value) {
    let field = pick(rng, &["labels", "annotations"]);
    let key = pick(rng, &["tier", "example.com/tier", "a.b_c"]);
    let value = pick(rng, &["", "front", "A_1"]);
    object["metadata"][field][key] = json!(value);
}

fn drawn(rng: &mut ChaCha8Rng, field: &str) -> Value {
    if rng.random_bool(0.1) {
        return odd::other_type(rng, &Value::Null);
    }
    match field {
        "labels" | "annotations" => pairs(rng),
        "name" | "generateName" | "namespace" => json!(odd::text(rng, "sample")),
        "finalizers" => pick(
            rng,
            &[
                json!(["example.com/a"]),
                json!(["a"]),
                json!(["example.com/a", "example.com/a"]),
                json!(["kubernetes"]),
                json!(["foregroundDeletion", "orphan"]),
                json!([""]),
                json!([]),
            ],
        ),
        "ownerReferences" => owners(rng),
        "managedFields" => managed_fields(rng),
        "generation" | "deletionGracePeriodSeconds" => pick(rng, &[json!(-1), json!(0), json!(7)]),
        "creationTimestamp" | "deletionTimestamp" => pick(
            rng,
            &[
                json!("2026-01-01T00:00:00Z"),
                json!("x"),
                json!(""),
                Value::Null,
            ],
        ),
        "resourceVersion" => pick(rng, &[json!("0"), json!("1"), json!("x"), json!("")]),
        "uid" => pick(
            rng,
            &[
                json!("0b1c2d3e-0000-4000-8000-000000000001"),
                json!("x"),
                json!(""),
            ],
        ),
        _ => json!("/a"),
    }
}

fn pairs(rng: &mut ChaCha8Rng) -> Value {
    let key = match rng.random_range(0..3) {
        0 => "a".to_owned(),
        1 => format!("example.com/{}", odd::text(rng, "a")),
        _ => odd::text(rng, "example.com/a"),
    };
    let value = match rng.random_range(0..4) {
        0 => json!(1),
        1 => json!("a"),
        _ => json!(odd::text(rng, "a")),
    };
    json!({key: value})
}

fn owners(rng: &mut ChaCha8Rng) -> Value {
    let owner = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": "0b1c2d3e-0000-4000-8000-000000000002",
        "controller": true,
        "blockOwnerDeletion": false,
    });
    let mut changed = owner.clone();
    let field = pick(rng, &["apiVersion", "kind", "name", "uid", "controller"]);
    changed[field] = pick(
        rng,
        &[
            json!(""),
            json!("a/b/c"),
            json!("events.k8s.io/v1"),
            Value::Null,
        ],
    );
    pick(
        rng,
        &[
            json!([owner.clone()]),
            json!([owner, changed.clone()]),
            json!([changed]),
        ],
    )
}

fn managed_fields(rng: &mut ChaCha8Rng) -> Value {
    let entry = json!({
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}},
    });
    let mut changed = entry.clone();
    let field = pick(
        rng,
        &[
            "manager",
            "operation",
            "apiVersion",
            "fieldsType",
            "fieldsV1",
        ],
    );
    changed[field] = pick(rng, &[json!(""), json!("x"), json!({}), Value::Null]);
    pick(
        rng,
        &[json!([]), json!([{}]), json!([entry]), json!([changed])],
    )
}
