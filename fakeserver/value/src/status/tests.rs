//! Tests of the answers against recorded ones.

use serde_json::{Value, json};

use super::{FieldError, Status};
use crate::status::NamedObject;

fn body(status: &Status) -> Value {
    serde_json::from_slice(&status.to_json()).unwrap()
}

const CONFIG_MAP: NamedObject<'_> = NamedObject {
    resource: "configmaps",
    group: "",
    name: "a",
};

#[test]
fn answers_are_the_recorded_ones() {
    let check = |status: &Status, expected: Value| assert_eq!(body(status), expected);
    check(
        &Status::not_found(CONFIG_MAP),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "configmaps \"a\" not found", "reason": "NotFound",
            "details": {"name": "a", "kind": "configmaps"}, "code": 404,
        }),
    );
    check(
        &Status::unclassified("why"),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "why", "code": 500,
        }),
    );
    check(
        &Status::method_not_allowed(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "the server does not allow this method on the requested resource",
            "reason": "MethodNotAllowed", "details": {}, "code": 405,
        }),
    );
    check(
        &Status::version_too_large(99, 7),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Timeout: Too large resource version: 99, current: 7", "reason": "Timeout",
            "details": {
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
            "code": 504,
        }),
    );
}

#[test]
fn a_group_is_named_with_the_resource() {
    let object = NamedObject {
        resource: "deployments",
        group: "apps",
        name: "d",
    };
    assert_eq!(
        Status::not_found(object).message,
        "deployments.apps \"d\" not found"
    );
}

#[test]
fn several_findings_are_shown_in_brackets_and_each_once() {
    let one = FieldError::forbidden("f", "no");
    let other = FieldError::required("g", "");
    let message =
        |errors: &[FieldError]| Status::invalid("Deployment", "apps", "d", errors).message;
    assert_eq!(
        message(&[one.clone(), one.clone()]),
        "Deployment.apps \"d\" is invalid: f: Forbidden: no"
    );
    assert_eq!(
        message(&[one, other]),
        "Deployment.apps \"d\" is invalid: [f: Forbidden: no, g: Required value]"
    );
}
