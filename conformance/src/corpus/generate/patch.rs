//! JSON patches, merge patches and strategic merge patches.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Value, json};

use super::{
    difference::merge_patch,
    odd::{self, pick},
    parameters,
    schema::{Schema, Schemas},
    subject::Subject,
    value,
    value_position::{ValuePosition, at, at_mut, places, pointer},
    write::{changed, with_parameters},
};
use crate::corpus::{Body, Request};

/// Draws a merge patch.
pub(super) fn merge(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> (Request, String) {
    let (patch, note) = drawn(rng, subject, schemas);
    (
        request(rng, subject, "application/merge-patch+json", &patch),
        note,
    )
}

/// Draws a strategic merge patch, sometimes with a directive.
pub(super) fn strategic(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> (Request, String) {
    let (mut patch, mut note) = drawn(rng, subject, schemas);
    if rng.random_bool(0.3) {
        keep_changed_items(&mut patch, subject.schema(schemas), &subject.object(0, ""));
    }
    if rng.random_bool(0.3)
        && let Some(directive) = directive(rng, &mut patch, subject, schemas)
    {
        note = format!("{note}; {directive}");
    }
    let kind = "application/strategic-merge-patch+json";
    (request(rng, subject, kind, &patch), note)
}

/// Draws a JSON patch of one operation or a few.
pub(super) fn json(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> (Request, String) {
    let object = subject.object(0, "");
    let places = places(&object, subject.schema(schemas));
    let count = pick(rng, &[1, 1, 1, 2, 3]);
    let operations: Vec<Value> = (0..count)
        .map(|_| operation(rng, &object, &places))
        .collect();
    let note = operations.iter().map(|operation| {
        let part = |field| operation[field].as_str().unwrap_or_default().to_owned();
        format!("{} {}", part("op"), part("path"))
    });
    let note = note.collect::<Vec<_>>().join("; ");
    let patch = if rng.random_bool(0.03) {
        pick(
            rng,
            &[json!({}), json!([]), json!([1]), json!([{}]), json!("a")],
        )
    } else {
        json!(operations)
    };
    (
        request(rng, subject, "application/json-patch+json", &patch),
        note,
    )
}

fn request(rng: &mut ChaCha8Rng, subject: &Subject, kind: &str, patch: &Value) -> Request {
    let target = match rng.random_range(0..100) {
        0 | 1 => format!("{}/nothing", subject.collection),
        2 => subject.collection.clone(),
        _ => subject.path(),
    };
    let target = with_parameters(&target, &parameters::of_write(rng));
    let kind = if rng.random_bool(0.98) {
        kind
    } else {
        pick(
            rng,
            &[
                "application/json",
                "application/merge-patch+yaml",
                "application/bogus",
                "text/plain",
            ],
        )
    };
    let body = match rng.random_range(0..100) {
        0 => Body::Raw("{\"metadata\":".to_owned()),
        1 => Body::Raw(format!("{patch}{patch}")),
        _ => Body::Json(patch.to_string()),
    };
    Request::new("PATCH", target)
        .with_header("Content-Type", kind)
        .with_body(body)
}

/// Draws the merge patch of a changed object.
fn drawn(rng: &mut ChaCha8Rng, subject: &Subject, schemas: &Schemas) -> (Value, String) {
    let object = subject.object(0, "");
    let mut new = object.clone();
    let note = changed(rng, &mut new, subject.schema(schemas));
    let mut patch = merge_patch(&object, &new);
    if rng.random_bool(0.1) {
        let version = format!("${{rv:{}}}", subject.key);
        let version = pick(rng, &[json!(version), json!("1"), json!(""), Value::Null]);
        patch["metadata"]["resourceVersion"] = version;
    }
    (patch, note)
}

/// Removes the unchanged items of lists that are merged by a key.
fn keep_changed_items(patch: &mut Value, schema: Option<Schema<'_>>, object: &Value) {
    let Some(schema) = schema else {
        return;
    };
    for place in places(patch, Some(schema)) {
        let Some(key) = place.schema.and_then(Schema::merge_key) else {
            continue;
        };
        let old = at(object, &place.path).and_then(Value::as_array).cloned();
        let Some(items) = at_mut(patch, &place.path).and_then(Value::as_array_mut) else {
            continue;
        };
        let old = old.unwrap_or_default();
        items.retain(|item| !old.contains(item) || item.get(key).is_none());
    }
}

/// Adds a directive of strategic merge patches, and returns a note about it.
fn directive(
    rng: &mut ChaCha8Rng,
    patch: &mut Value,
    subject: &Subject,
    schemas: &Schemas,
) -> Option<String> {
    let object = subject.object(0, "");
    let all = places(&object, subject.schema(schemas));
    let objects: Vec<&ValuePosition<'_>> = all
        .iter()
        .filter(|place| {
            place.path.len() == 1 && at(&object, &place.path).is_some_and(Value::is_object)
        })
        .collect();
    let place = objects.choose(rng).map(|place| place.path[0].clone());
    let target = match &place {
        Some(field) if rng.random_bool(0.7) => &mut patch[field.as_str()],
        _ => patch,
    };
    if !target.is_object() {
        *target = json!({});
    }
    let (name, value) = match rng.random_range(0..6) {
        0 | 1 => (
            "$patch",
            pick(
                rng,
                &[
                    json!("replace"),
                    json!("delete"),
                    json!("merge"),
                    json!("bogus"),
                    json!(1),
                ],
            ),
        ),
        2 => (
            "$retainKeys",
            pick(
                rng,
                &[json!(["type"]), json!([]), json!("x"), json!(["a", 1])],
            ),
        ),
        3 => (
            "$setElementOrder/containers",
            pick(
                rng,
                &[
                    json!([{"name": "web"}]),
                    json!([]),
                    json!(["web"]),
                    json!(1),
                ],
            ),
        ),
        4 => (
            "$deleteFromPrimitiveList/finalizers",
            pick(rng, &[json!(["a"]), json!([]), json!(1)]),
        ),
        _ => (
            "containers",
            json!([{"name": "web", "$patch": pick(rng, &["delete", "replace"])}]),
        ),
    };
    target.as_object_mut()?.insert(name.to_owned(), value);
    Some(format!("directive {name}"))
}

fn operation(rng: &mut ChaCha8Rng, object: &Value, places: &[ValuePosition<'_>]) -> Value {
    let Some(place) = places.choose(rng) else {
        return json!({"op": "remove", "path": "/metadata/labels"});
    };
    let path = path(rng, place);
    let old = at(object, &place.path).cloned().unwrap_or_default();
    match rng.random_range(0..20) {
        0..=5 => json!({"op": "replace", "path": path, "value": replaced(rng, &old, place)}),
        6..=9 => json!({"op": "remove", "path": path}),
        10..=13 => json!({"op": "add", "path": path, "value": replaced(rng, &old, place)}),
        14 | 15 => {
            let value = pick(rng, &[old, json!("x"), Value::Null]);
            json!({"op": "test", "path": path, "value": value})
        }
        16 | 17 => {
            let op = pick(rng, &["copy", "move"]);
            let from = places
                .choose(rng)
                .map_or(String::new(), |place| pointer(&place.path));
            json!({"op": op, "from": from, "path": path})
        }
        18 => json!({"op": pick(rng, &["bogus", "", "Replace"]), "path": path, "value": 1}),
        _ => pick(
            rng,
            &[
                json!({"path": path, "value": 1}),
                json!({"op": "add", "value": 1}),
                json!({"op": "add", "path": path}),
                json!({"op": "add", "path": 1, "value": 1}),
                json!({"op": "add", "path": "/metadata/labels/a", "value": "b"}),
                json!({"op": "copy", "path": path}),
            ],
        ),
    }
}

fn path(rng: &mut ChaCha8Rng, place: &ValuePosition<'_>) -> String {
    let path = pointer(&place.path);
    let above = pointer(&place.path[..place.path.len() - 1]);
    match rng.random_range(0..25) {
        0 => format!("{path}/bogus"),
        1 => format!("{above}/bogus"),
        2 => format!("{above}/-"),
        3 => format!("{above}/7"),
        4 => format!("{above}/-1"),
        5 => pick(
            rng,
            &[
                "",
                "/",
                "bogus",
                "/bogus/a",
                "/metadata/name",
                "/kind",
                "/metadata/labels/x~1y",
            ],
        )
        .to_owned(),
        _ => path,
    }
}

fn replaced(rng: &mut ChaCha8Rng, old: &Value, place: &ValuePosition<'_>) -> Value {
    match (rng.random_range(0..4), old, place.schema) {
        (0, _, _) => odd::other_type(rng, old),
        (1, _, Some(schema)) => value::of(rng, schema, place.path.last().map_or("", |name| name)),
        (_, Value::String(text), _) => json!(odd::text(rng, text)),
        (_, Value::Number(number), _) => odd::number(rng, number),
        (_, old, _) => old.clone(),
    }
}
