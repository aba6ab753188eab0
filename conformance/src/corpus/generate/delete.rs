//! Deletes of the object in the set-up, and of collections that it is in.

use rand::{RngExt, rngs::ChaCha8Rng};
use serde_json::{Value, json};

use super::{super::request::DRY_RUN, odd::pick, subject::Subject};
use crate::corpus::{Body, Request};

/// Draws a delete. One with a body has the dry run in it: a server reads the parameters only if there is none.
pub(super) fn delete(rng: &mut ChaCha8Rng, subject: &Subject) -> (Request, String) {
    let name = subject.name();
    let (path, what) = match rng.random_range(0..10) {
        0 => (
            format!("{}/nothing?{DRY_RUN}", subject.collection),
            "nothing",
        ),
        1 | 2 => (
            format!(
                "{}?{DRY_RUN}&fieldSelector=metadata.name%3D{name}",
                subject.collection
            ),
            "collection",
        ),
        _ => (format!("{}?{DRY_RUN}", subject.path()), "object"),
    };
    if rng.random_bool(0.4) {
        let parameter = pick(
            rng,
            &[
                "gracePeriodSeconds=0",
                "gracePeriodSeconds=-1",
                "gracePeriodSeconds=x",
                "propagationPolicy=Orphan",
                "propagationPolicy=Foreground",
                "propagationPolicy=bogus",
                "orphanDependents=true&propagationPolicy=Orphan",
                "orphanDependents=true",
                "bogus=1",
            ],
        );
        return (
            Request::new("DELETE", format!("{path}&{parameter}")),
            format!("{what}, {parameter}"),
        );
    }
    let request = Request::new("DELETE", path);
    if rng.random_bool(0.2) {
        return (request, what.to_owned());
    }
    let (options, field) = options(rng, subject);
    let request = request.with_body(Body::Json(options.to_string()));
    (request, format!("{what}, {field}"))
}

fn options(rng: &mut ChaCha8Rng, subject: &Subject) -> (Value, &'static str) {
    let mut options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]});
    let key = &subject.key;
    let (field, value) = match rng.random_range(0..8) {
        0 => (
            "propagationPolicy",
            pick(
                rng,
                &[
                    json!("Background"),
                    json!("Foreground"),
                    json!("bogus"),
                    json!(1),
                ],
            ),
        ),
        1 => (
            "gracePeriodSeconds",
            pick(
                rng,
                &[json!(0), json!(-1), json!(5), json!("5"), json!(1.5)],
            ),
        ),
        2 | 3 => {
            let preconditions = [
                json!({"uid": format!("${{uid:{key}}}")}),
                json!({"resourceVersion": format!("${{rv:{key}}}")}),
                json!({"uid": "0b1c2d3e-0000-4000-8000-000000000001"}),
                json!({"resourceVersion": "1"}),
                json!({"resourceVersion": 1}),
                json!({}),
            ];
            ("preconditions", pick(rng, &preconditions))
        }
        4 => (
            "orphanDependents",
            pick(rng, &[json!(true), json!(false), json!("x")]),
        ),
        5 => (
            "kind",
            pick(rng, &[json!("Bogus"), json!("Pod"), json!("")]),
        ),
        6 => (
            "apiVersion",
            pick(
                rng,
                &[json!("apps/v1"), json!("bogus/v1"), json!("meta.k8s.io/v1")],
            ),
        ),
        _ => ("bogus", json!(1)),
    };
    options[field] = value;
    (options, field)
}
