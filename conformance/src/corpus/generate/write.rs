//! Creates, updates and applies.

use rand::{RngExt, rngs::ChaCha8Rng};
use serde_json::{Value, json};

use super::{
    body, metadata,
    mutation::mutate,
    odd::pick,
    parameters,
    schema::{Schema, Schemas},
    subject::Subject,
};
use crate::corpus::{Body, Request};

/// The share of valid objects, and of those with two changes.
const VALID: f64 = 0.15;
const TWICE: f64 = 0.12;
/// The share of objects whose name the server chooses.
const GENERATED: f64 = 0.02;
/// The share of bodies that are malformed.
const MALFORMED: f64 = 0.06;

/// Draws a create of a new object.
pub(super) fn create(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
    number: u64,
) -> (Request, String) {
    let sample = rng.random_range(0..subject.samples.len());
    // Two digits, for names in which more are too many.
    let mut object = subject.object(sample, &format!("{}", 10 + number % 90));
    let path = with_parameters(&subject.collection, &parameters::of_write(rng));
    if subject.takes_any_name(sample) && rng.random_bool(GENERATED) {
        // With nothing wrong, since errors would tell the random name.
        metadata::generate_name(&mut object);
        let request = Request::new("POST", path).with_body(Body::Json(object.to_string()));
        return (request, "generated name".to_owned());
    }
    let note = changed(rng, &mut object, subject.schema(schemas));
    finish(rng, Request::new("POST", path), &object, note)
}

/// Draws an update of the object in the set-up.
pub(super) fn update(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> (Request, String) {
    let mut object = current(rng, subject);
    let note = changed(rng, &mut object, subject.schema(schemas));
    let name = if rng.random_bool(0.97) {
        subject.path()
    } else {
        format!("{}/nothing", subject.collection)
    };
    let path = with_parameters(&name, &parameters::of_write(rng));
    finish(rng, Request::new("PUT", path), &object, note)
}

/// Draws an apply to the object in the set-up, or of a new one.
pub(super) fn apply(
    rng: &mut ChaCha8Rng,
    subject: &Subject,
    schemas: &Schemas,
) -> (Request, String) {
    let (mut object, path) = if rng.random_bool(0.85) {
        (subject.object(0, ""), subject.path())
    } else {
        let object = subject.object(0, "10");
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("{}/{name}", subject.collection);
        (object, path)
    };
    let note = changed(rng, &mut object, subject.schema(schemas));
    let path = with_parameters(&path, &parameters::of_apply(rng));
    let kind = if rng.random_bool(0.97) {
        "application/apply-patch+yaml"
    } else {
        pick(
            rng,
            &[
                "application/apply-patch",
                "application/apply-patch+json",
                "application/apply-patch+yaml; a=b",
            ],
        )
    };
    let request = Request::new("PATCH", path).with_body(Body::Json(object.to_string()));
    if rng.random_bool(MALFORMED) {
        let (request, note) = body::malformed(rng, request, &object);
        return (request.with_header("Content-Type", kind), note);
    }
    (request.with_header("Content-Type", kind), note)
}

/// Returns the object of the set-up as a client updates it, mostly with its version.
pub(super) fn current(rng: &mut ChaCha8Rng, subject: &Subject) -> Value {
    let mut object = subject.object(0, "");
    let key = &subject.key;
    if rng.random_bool(0.85) {
        object["metadata"]["resourceVersion"] = json!(format!("${{rv:{key}}}"));
    }
    if rng.random_bool(0.5) {
        object["metadata"]["uid"] = json!(format!("${{uid:{key}}}"));
    }
    object
}

/// Changes nothing, one thing or two, and returns a note about it.
pub(super) fn changed(
    rng: &mut ChaCha8Rng,
    object: &mut Value,
    schema: Option<Schema<'_>>,
) -> String {
    if rng.random_bool(VALID) {
        if rng.random_bool(0.5) {
            metadata::valid(rng, object);
        }
        return String::new();
    }
    let mut note = mutate(rng, object, schema);
    if rng.random_bool(TWICE) {
        note = format!("{note}; {}", mutate(rng, object, schema));
    }
    note
}

/// Adds query parameters to a path.
pub(super) fn with_parameters(path: &str, parameters: &[String]) -> String {
    if parameters.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", parameters.join("&"))
    }
}

fn finish(
    rng: &mut ChaCha8Rng,
    request: Request,
    object: &Value,
    note: String,
) -> (Request, String) {
    if rng.random_bool(MALFORMED) {
        body::malformed(rng, request, object)
    } else {
        (request.with_body(Body::Json(object.to_string())), note)
    }
}
