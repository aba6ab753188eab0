//! Tables of the meaning of rules and answers.

use std::sync::Arc;

use fakeserver_kinds::admission::match_conditions::{Conditions, Match};
use fakeserver_value::resource::GroupVersionKind;
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Attributes, Operation, Resource,
    rule::Rule,
    verdict::{Verdict, VerdictError, denial},
};

fn write(namespace: &str, plural: &str, subresource: &str) -> Attributes {
    Attributes {
        operation: Operation::Update,
        kind: GroupVersionKind::new("apps", "v1", "Thing"),
        resource: Resource {
            group: Arc::from(if plural == "namespaces" { "" } else { "apps" }),
            version: Arc::from("v1"),
            plural: Arc::from(plural),
        },
        subresource: subresource.to_owned(),
        namespace: namespace.to_owned(),
        namespace_labels: None,
        name: "x".to_owned(),
        object: None,
        old_object: None,
        options: json!({}),
        is_dry_run: false,
        user: json!({}),
    }
}

#[track_caller]
fn check_rule(rule: &Value, attributes: &Attributes, expected: bool) {
    let matched = Rule::parse(rule).matches(attributes, &attributes.resource);
    assert_eq!(matched, expected, "{rule} {attributes:?}");
}

#[test]
fn a_rule_names_resources_and_subresources_with_wildcards() {
    let rule = |resource: &str, scope: &str| {
        json!({
            "operations": ["UPDATE"], "apiGroups": ["", "apps"], "apiVersions": ["*"],
            "resources": [resource], "scope": scope,
        })
    };
    let table = [
        ("deployments", "", true),
        ("deployments", "status", false),
        ("pods", "", false),
        ("*", "", true),
        ("*", "status", false),
        ("deployments/status", "status", true),
        ("deployments/status", "", false),
        ("deployments/*", "scale", true),
        ("deployments/*", "", true),
        ("*/scale", "scale", true),
        ("*/scale", "status", false),
        ("*/*", "", true),
        ("*/*", "status", true),
    ];
    for (resource, subresource, expected) in table {
        let attributes = write("default", "deployments", subresource);
        check_rule(&rule(resource, "*"), &attributes, expected);
    }
    for (scope, namespace, plural, expected) in [
        ("Namespaced", "default", "deployments", true),
        ("Cluster", "default", "deployments", false),
        ("Cluster", "", "nodes", true),
        ("Namespaced", "", "nodes", false),
        ("Cluster", "n", "namespaces", true),
        ("Namespaced", "n", "namespaces", false),
    ] {
        check_rule(&rule("*", scope), &write(namespace, plural, ""), expected);
    }
    let mut other = rule("*", "*");
    other["operations"] = json!(["CREATE", "DELETE"]);
    check_rule(&other, &write("default", "deployments", ""), false);
    let mut other = rule("*", "*");
    other["apiGroups"] = json!(["batch"]);
    check_rule(&other, &write("default", "deployments", ""), false);
    let mut other = rule("*", "*");
    other["apiVersions"] = json!(["v1beta1"]);
    check_rule(&other, &write("default", "deployments", ""), false);
}

#[test]
fn match_conditions_are_true_or_false_or_fail() {
    let object =
        json!({"metadata": {"namespace": "n", "labels": {"a.b/c": "d"}}, "spec": {"replicas": 3}});
    let judge = |expressions: &[&str]| {
        let conditions: Vec<Value> = expressions
            .iter()
            .map(|expression| json!({"name": "c", "expression": expression}))
            .collect();
        let nothing = Value::Null;
        Conditions::compile(&json!(conditions))
            .judge(&[("object", &object), ("oldObject", &nothing)])
    };
    for holds in [
        "object.spec.replicas > 2",
        "oldObject == null",
        "object.metadata.labels['a.b/c'] == 'd'",
        "object.metadata.namespace == 'n'",
        "!has(object.status)",
    ] {
        assert_eq!(judge(&[holds]), Match::Yes, "{holds}");
    }
    assert_eq!(judge(&[]), Match::Yes);
    assert_eq!(judge(&["true", "object.spec.replicas == 2"]), Match::No);
    let unknown = "object.spec.absent == 1";
    assert_eq!(
        judge(&[unknown, "false"]),
        Match::No,
        "whatever the rest is"
    );
    let Match::Unknown(why) = judge(&["true", unknown]) else {
        panic!("nobody can tell");
    };
    assert!(
        why.starts_with("expression 'object.spec.absent == 1' resulted in error: "),
        "{why}"
    );
    assert!(matches!(judge(&["'a'"]), Match::Unknown(_)));
}

#[test]
fn an_answer_that_breaks_the_rules_says_which() {
    let review = |response: Value| json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response});
    let read = |is_mutating: bool, review: &Value| {
        Verdict::read("w", "v1", "u", is_mutating, review).map(|_| ())
    };
    let fine = review(json!({"uid": "u", "allowed": true}));
    assert_eq!(read(true, &fine), Ok(()));
    let mut old = fine.clone();
    old["apiVersion"] = json!("admission.k8s.io/v1beta1");
    let patch = |patch_type: Value| {
        review(json!({"uid": "u", "allowed": true, "patch": "W10=", "patchType": patch_type}))
    };
    for (is_mutating, review, why) in [
        (true, json!({}), "webhook response was absent"),
        (
            true,
            review(json!({"uid": "other"})),
            "expected response.uid=\"u\", got \"other\"",
        ),
        (
            true,
            old,
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, \
             Kind=AdmissionReview",
        ),
        (
            true,
            patch(Value::Null),
            "webhook returned response.patch but not response.patchType",
        ),
        (
            true,
            patch(json!("")),
            "webhook returned invalid response.patchType of \"\"",
        ),
        (
            true,
            review(json!({"uid": "u", "patchType": "JSONPatch"})),
            "webhook returned response.patchType but not response.patch",
        ),
        (
            false,
            patch(json!("JSONPatch")),
            "validating webhook may not return response.patch",
        ),
        (
            false,
            review(json!({"uid": "u", "patchType": "JSONPatch"})),
            "validating webhook may not return response.patchType",
        ),
    ] {
        let invalid = VerdictError::Invalid(why.to_owned());
        assert_eq!(read(is_mutating, &review), Err(invalid));
    }
    let garbled = review(json!({"uid": "u", "patch": "!!!", "patchType": "JSONPatch"}));
    let why = "illegal base64 data at input byte 0".to_owned();
    assert_eq!(read(true, &garbled), Err(VerdictError::Undecodable(why)));
}

#[test]
fn a_denial_is_always_a_failure() {
    for (code, expected) in [
        (Value::Null, 400),
        (json!(200), 400),
        (json!(399), 400),
        (json!(409), 409),
        (json!(70_000), 400),
    ] {
        let status = denial("w", &json!({"code": code, "status": "Success"}));
        assert_eq!(status.code, StatusCode::from_u16(expected).unwrap());
        let wire: Value = serde_json::from_slice(&status.to_json()).unwrap();
        assert_eq!(wire["status"], "Failure");
    }
}
