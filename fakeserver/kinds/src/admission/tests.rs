//! Tests of policies and their bindings.

use serde_json::{Value, json};

use super::{
    mutating_admission_policy, mutating_admission_policy_binding, validating_admission_policy,
    validating_admission_policy_binding,
};
use crate::testing::{check, defaulted, update_findings};

/// A change of a good spec, and the findings about it.
type Case = (fn(&mut Value), &'static [&'static str]);

fn constraints() -> Value {
    json!({"resourceRules": [
        {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]},
    ]})
}

fn policy(change: impl FnOnce(&mut Value)) -> Value {
    let mut policy = json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": constraints(),
        "validations": [{"expression": "object.spec.replicas <= variables.v"}],
        "variables": [{"name": "v", "expression": "[1].map(x, x + 1)[0]"}],
    }});
    change(&mut policy["spec"]);
    policy
}

#[test]
fn policies_have_defaults() {
    let spec = &defaulted(&validating_admission_policy::KIND, policy(|_| {}))["spec"];
    assert_eq!(spec["failurePolicy"], "Fail");
    let matched = &spec["matchConstraints"];
    assert_eq!(matched["matchPolicy"], "Equivalent");
    assert_eq!(matched["namespaceSelector"], json!({}));
    assert_eq!(matched["resourceRules"][0]["scope"], "*");
}

#[test]
fn validating_policies_are_checked() {
    let kind = &validating_admission_policy::KIND;
    let cases: [Case; 7] = [
        (|_| {}, &[]),
        (
            |spec| spec["failurePolicy"] = json!("x"),
            &[
                "spec.failurePolicy: Unsupported value: \"x\": supported values: \"Fail\", \"Ignore\"",
            ],
        ),
        (
            |spec| *spec = json!({}),
            &[
                "spec.matchConstraints: Required value",
                "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
                "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
            ],
        ),
        (
            |spec| spec["paramKind"] = json!({"apiVersion": "a/b/c", "kind": "A_"}),
            &[
                "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
                "spec.paramKind.kind: Invalid value: \"A_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            ],
        ),
        (
            |spec| spec["variables"] = json!([{"name": "in", "expression": " "}]),
            &[
                "spec.variables[0].name: Invalid value: \"in\": must be a valid CEL identifier",
                "spec.variables[0].expression: Required value: expression is not specified",
                "spec.validations[0].expression: Invalid value: \"object.spec.replicas <= variables.v\": compilation failed: ERROR: <input>:1:34: undefined field 'v'\n | object.spec.replicas <= variables.v\n | .................................^",
            ],
        ),
        (
            |spec| {
                spec["validations"] =
                    json!([{"expression": "true", "message": " ", "reason": "x"}]);
            },
            &[
                "spec.validations[0].message: Invalid value: \" \": must be non-empty if specified",
                "spec.validations[0].reason: Unsupported value: \"x\": supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"",
            ],
        ),
        (
            |spec| {
                spec["auditAnnotations"] =
                    json!([{"key": "k", "valueExpression": "''"}, {"key": "k"}]);
            },
            &[
                "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
                "spec.auditAnnotations[1].key: Duplicate value: \"k\"",
            ],
        ),
    ];
    for (change, expected) in cases {
        check(kind, &policy(change), expected);
    }
}

#[test]
fn conditions_of_a_status_are_checked() {
    let found = update_findings(
        &validating_admission_policy::KIND,
        "status",
        &policy(|_| {}),
        |policy| {
            policy["status"] = json!({
                "typeChecking": {"expressionWarnings": [{"warning": "w"}]},
                "conditions": [{"type": "T", "status": "x", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R"}],
            });
        },
    );
    assert_eq!(
        found,
        [
            "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
            "status.conditions[0].status: Unsupported value: \"x\": supported values: \"False\", \"True\", \"Unknown\"",
        ]
    );
}

#[test]
fn expressions_are_checked() {
    let cases = [
        ("1", "must evaluate to bool but got int"),
        (
            "k8s.io/x",
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'k8s' (in container '')\n | k8s.io/x\n | ^\n\
             ERROR: <input>:1:8: undeclared reference to 'x' (in container '')\n | k8s.io/x\n | .......^",
        ),
        (
            "10.0.0.1",
            "compilation failed: ERROR: <input>:1:5: Syntax error: mismatched input '.0' expecting <EOF>\n | 10.0.0.1\n | ....^",
        ),
    ];
    for (expression, why) in cases {
        let object = policy(|spec| spec["validations"][0]["expression"] = json!(expression));
        let expected =
            format!("spec.validations[0].expression: Invalid value: {expression:?}: {why}");
        check(&validating_admission_policy::KIND, &object, &[&expected]);
    }
}

#[test]
fn mutating_policies_are_checked() {
    let kind = &mutating_admission_policy::KIND;
    let policy = |mutation: Value| {
        json!({"spec": {
            "matchConstraints": constraints(), "reinvocationPolicy": "Never", "mutations": [mutation],
        }})
    };
    let made = json!({"expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"});
    let good = json!({"patchType": "ApplyConfiguration", "applyConfiguration": made});
    check(kind, &policy(good), &[]);
    let bad = json!({"patchType": "JSONPatch", "applyConfiguration": made});
    check(
        kind,
        &policy(bad),
        &[
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
            "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when patchType is JSONPatch",
        ],
    );
    let mut bad = policy(json!({"patchType": "x"}));
    bad["spec"]["matchConstraints"]["resourceRules"][0]["operations"] = json!(["DELETE"]);
    check(
        kind,
        &bad,
        &[
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"",
            "spec.mutations[0].patchType: Unsupported value: \"x\": supported values: \"ApplyConfiguration\", \"JSONPatch\"",
        ],
    );
}

#[test]
fn bindings_are_checked() {
    let binding = |spec: Value| json!({"spec": spec});
    check(
        &validating_admission_policy_binding::KIND,
        &binding(
            json!({"policyName": "p", "validationActions": ["Deny", "Warn", "Deny"], "paramRef": {}}),
        ),
        &[
            "spec.paramRef: Required value: one of name or selector must be specified",
            "spec.paramRef.parameterNotFoundAction: Required value",
            "spec.validationActions[2]: Duplicate value: \"Deny\"",
            "spec.validationActions: Invalid value: [\"Deny\",\"Warn\",\"Deny\"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
        ],
    );
    check(
        &mutating_admission_policy_binding::KIND,
        &binding(json!({"matchResources": {"matchPolicy": ""}})),
        &[
            "spec.policyName: Required value",
            "spec.matchResources.matchPolicy: Unsupported value: \"\": supported values: \"Equivalent\", \"Exact\"",
        ],
    );
}
