//! Bodies that are no objects of the kind, or have another form.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Value, json};

use super::odd::pick;
use crate::corpus::{Body, Request};

/// Gives a write a body with one thing wrong in its form, and returns a note about it.
pub(super) fn malformed(
    rng: &mut ChaCha8Rng,
    request: Request,
    object: &Value,
) -> (Request, String) {
    let text = object.to_string();
    match rng.random_range(0..10) {
        0 | 1 => other_type(rng, request, object),
        2 | 3 => raw(rng, request, &text),
        4 => {
            let kind = pick(
                rng,
                &[
                    "text/plain",
                    "application/xml",
                    "application/yaml",
                    "application/json; charset=utf-8",
                    "bogus",
                    "",
                ],
            );
            let request = request.with_header("Content-Type", kind);
            (
                request.with_body(Body::Json(text)),
                format!("content type {kind}"),
            )
        }
        5 | 6 => yaml(rng, request, object),
        _ => {
            let value = pick(
                rng,
                &[
                    json!([]),
                    json!("a"),
                    json!(1),
                    json!({}),
                    json!([object]),
                    json!({"kind": "Status"}),
                ],
            );
            (
                request.with_body(Body::Json(value.to_string())),
                "another value".to_owned(),
            )
        }
    }
}

/// Changes kind or version of the object.
fn other_type(rng: &mut ChaCha8Rng, request: Request, object: &Value) -> (Request, String) {
    let mut changed = object.clone();
    let field = pick(rng, &["kind", "apiVersion"]);
    let value = match field {
        "kind" => pick(
            rng,
            &[
                json!("Pod"),
                json!("Bogus"),
                json!(""),
                json!(1),
                Value::Null,
            ],
        ),
        _ => pick(
            rng,
            &[
                json!("v1"),
                json!("apps/v1"),
                json!("a/b/c"),
                json!("bogus/v1"),
                json!(""),
                Value::Null,
            ],
        ),
    };
    changed[field] = value;
    if changed[field].is_null()
        && let Some(fields) = changed.as_object_mut()
    {
        fields.remove(field);
    }
    (
        request.with_body(Body::Json(changed.to_string())),
        format!("other {field}"),
    )
}

/// Makes a text that is nearly JSON.
fn raw(rng: &mut ChaCha8Rng, request: Request, text: &str) -> (Request, String) {
    let twice = text.replacen('{', "{\"kind\":\"Twice\",", 1);
    let half = text.chars().take(text.chars().count() / 2).collect();
    let all = [
        (half, "half a body"),
        (format!("{text}}}"), "a brace too many"),
        (format!("{text}{text}"), "two bodies"),
        (twice, "a field twice"),
        (String::new(), "an empty body"),
        ("not json".to_owned(), "no JSON"),
        ("null".to_owned(), "null"),
        (text.replacen(':', " :\t", 3), "white space"),
    ];
    let (text, note) = all.choose(rng).cloned().unwrap_or_default();
    let latin = text.chars().all(|letter| u8::try_from(letter).is_ok());
    let text = if latin { text } else { "{".to_owned() };
    (request.with_body(Body::Raw(text)), note.to_owned())
}

/// Makes YAML of an object, of which JSON is a part.
fn yaml(rng: &mut ChaCha8Rng, request: Request, object: &Value) -> (Request, String) {
    let text = object.to_string();
    let all = [
        (format!("# a comment\n{text}\n"), "YAML with a comment"),
        (format!("---\n{text}\n"), "YAML"),
        ("a: b: c\n".to_owned(), "no YAML"),
        ("kind: [a\n".to_owned(), "an open list of YAML"),
        (format!("{text}\n---\n{text}\n"), "two documents of YAML"),
        (
            "kind: &a X\nmetadata: {name: *a}\n".to_owned(),
            "an anchor of YAML",
        ),
        ("\tkind: X\n".to_owned(), "a tab in YAML"),
    ];
    let (text, note) = all.choose(rng).cloned().unwrap_or_default();
    let latin = text.chars().all(|letter| u8::try_from(letter).is_ok());
    let text = if latin { text } else { "a: b".to_owned() };
    let request = request.with_header("Content-Type", "application/yaml");
    (request.with_body(Body::Raw(text)), note.to_owned())
}
