//! Statuses and warnings, and the remarks that they become.

use serde_json::json;

use super::*;

/// Returns the remarks of a rejection, each as `rule path: message`.
fn rejected(status: &Value, object: &Value) -> Vec<String> {
    let mut remarks = Vec::new();
    rejection(status, object, &mut remarks);
    let texts = remarks
        .iter()
        .map(|remark| format!("{} {}: {}", remark.rule.id(), remark.path, remark.message));
    texts.collect()
}

#[test]
fn each_cause_is_a_remark() {
    let status = json!({
        "reason": "Invalid", "message": "Pod \"a\" is invalid",
        "details": {"causes": [
            {"field": "spec.containers[0].name", "message": "Required value"},
            {"field": "<nil>", "message": "Invalid value: {}"},
        ]},
    });
    assert_eq!(
        rejected(&status, &json!({})),
        [
            "invalid-field spec.containers[0].name: Required value",
            "invalid-field : Invalid value: {}"
        ]
    );
}

#[test]
fn denials_of_policies_and_of_plugins_have_rules_of_their_own() {
    for (message, expected) in [
        (
            "deployments.apps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            "policy-denied : ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        ),
        (
            "pods \"a\" is forbidden: no PriorityClass with name x was found",
            "admission-denied : pods \"a\" is forbidden: no PriorityClass with name x was found",
        ),
        (
            "Internal error occurred: failed calling webhook \"x\": no such host",
            "not-called : not checked further: Internal error occurred: failed calling webhook \"x\": no such host",
        ),
    ] {
        let status = json!({"reason": "Forbidden", "message": message});
        assert_eq!(rejected(&status, &json!({})), [expected]);
    }
}

#[test]
fn a_value_of_the_wrong_type_has_a_path() {
    let object = json!({
        "data": {"good": "YQ==", "bad": "no!"},
        "spec": {
            "replicas": "3",
            "template": {"spec": {"containers": [
                {"env": [{"name": "a", "value": "b"}], "resources": {"limits": {"cpu": 1}}},
                {"env": [{"name": "a", "value": 5}], "resources": {"limits": {"cpu": "1 core"}}},
            ]}},
        },
        "metadata": {"labels": {"a": "b", "c": 1}, "creationTimestamp": "today"},
    });
    for (error, expected) in [
        (
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            "spec.replicas",
        ),
        (
            "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
            "spec.template.spec.containers[1].env[0].value",
        ),
        (
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
            "metadata.labels.c",
        ),
        (
            "quantities must match the regular expression '^x$'",
            "spec.template.spec.containers[1].resources.limits.cpu",
        ),
        ("illegal base64 data at input byte 2", "data.bad"),
        (
            "parsing time \"today\" as \"2006-01-02T15:04:05Z07:00\": cannot parse",
            "metadata.creationTimestamp",
        ),
    ] {
        assert_eq!(mismatch::path(error, &object).as_deref(), Some(expected));
    }
    assert_eq!(mismatch::path("unexpected end", &object), None);
}

#[test]
fn warnings_become_remarks_with_paths() {
    for (text, expected) in [
        (
            "unknown field \"spec.a\"",
            Some((Rule::UnknownField, "spec.a")),
        ),
        (
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            Some((Rule::DeprecatedApi, "apiVersion")),
        ),
        (
            "spec.template.spec.nodeSelector[x]: deprecated since v1.14",
            Some((Rule::ServerWarning, "spec.template.spec.nodeSelector[x]")),
        ),
        (
            "would violate PodSecurity \"restricted:latest\": privileged",
            Some((Rule::ServerWarning, "")),
        ),
        ("fakeserver: no process stands for service a/b", None),
    ] {
        let remark = warning(text);
        let found = remark.as_ref().map(|it| (it.rule, &*it.path));
        assert_eq!(found, expected, "{text}");
    }
}
