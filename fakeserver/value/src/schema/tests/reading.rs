//! Bodies that are read, and bodies that are refused.

use serde_json::{Value, json};

use super::read;
use crate::schema::{
    cannot_be_handled_as, decode, duplicate_fields, schemas, strict_decoding_error, type_meta,
    type_of_kind, unknown_fields, unrecognized,
};

#[track_caller]
fn check_refused(body: &str, message: &str) {
    assert_eq!(read(body), Err(message.to_owned()), "{body}");
}

#[track_caller]
fn check_strict(body: &str, errors: &[&str]) {
    let (_, strict) = read(body).unwrap();
    assert_eq!(strict, errors, "{body}");
}

#[track_caller]
fn check_printed(body: &Value, printed: &Value) {
    assert_eq!(read(&body.to_string()).unwrap().0, *printed, "{body}");
}

#[test]
fn recorded_answers_are_printed_as_they_were_recorded() {
    let objects: Vec<Value> =
        serde_json::from_str(include_str!("../../../tests/data/objects.json")).unwrap();
    assert!(objects.len() > 40);
    for object in objects {
        let (printed, strict) = read(&object.to_string()).unwrap();
        assert_eq!(printed, object);
        assert_eq!(strict, Vec::<String>::new());
        let (group, version) = split(&object);
        let schema = schemas()
            .of_kind(&group, &version, object["kind"].as_str().unwrap())
            .unwrap();
        assert_eq!(unknown_fields(&object, schema), Vec::<String>::new());
    }
}

fn split(object: &Value) -> (String, String) {
    let api_version = object["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group.to_owned(), version.to_owned())
}

#[test]
fn a_value_that_does_not_fit_is_refused_in_the_words_of_go() {
    let data = r#"{"kind":"ConfigMap","apiVersion":"v1","data":DATA}"#;
    for (value, message) in [
        (
            r#"{"k":5}"#,
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            r#"{"k":{}}"#,
            "json: cannot unmarshal object into Go struct field ConfigMap.data of type string",
        ),
        (
            r#"{"k":[]}"#,
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type string",
        ),
        (
            "true",
            "json: cannot unmarshal bool into Go struct field ConfigMap.data of type map[string]string",
        ),
    ] {
        check_refused(&data.replace("DATA", value), message);
    }
    check_refused(
        r#"{"kind":"Secret","apiVersion":"v1","data":{"a":"not base64!"}}"#,
        "illegal base64 data at input byte 3",
    );
    check_refused(
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":"yesterday"}}"#,
        r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#,
    );
    check_refused(
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":5}}"#,
        "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    );
}

#[test]
fn a_value_deep_inside_is_refused_with_its_path_and_type() {
    let spec = r#"{"kind":"Deployment","apiVersion":"apps/v1","spec":SPEC}"#;
    for (value, message) in [
        (
            "[]",
            "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            r#"{"replicas":"1"}"#,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"replicas":3000000000}"#,
            "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"replicas":1.0}"#,
            "json: cannot unmarshal number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"template":{"spec":{"containers":[{"env":[{"value":1}]}]}}}"#,
            "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
        ),
        (
            r#"{"template":{"spec":{"containers":{}}}}"#,
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            r#"{"template":{"spec":{"containers":["c"]}}}"#,
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
        ),
        (
            r#"{"template":{"spec":{"restartPolicy":1}}}"#,
            "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            r#"{"template":{"spec":{"overhead":1}}}"#,
            "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.overhead of type v1.ResourceList",
        ),
        (
            r#"{"strategy":{"rollingUpdate":{"maxSurge":true}}}"#,
            "json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            r#"{"template":{"spec":{"overhead":{"cpu":"1x"}}}}"#,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            r#"{"template":{"spec":{"overhead":{"cpu":"1Kk"}}}}"#,
            "unable to parse quantity's suffix",
        ),
        // The first of several counts.
        (
            r#"{"paused":1,"replicas":"1"}"#,
            "json: cannot unmarshal number into Go struct field DeploymentSpec.spec.paused of type bool",
        ),
    ] {
        check_refused(&spec.replace("SPEC", value), message);
    }
}

#[test]
fn a_body_without_a_readable_kind_is_refused_as_recorded() {
    let check = |body: &str, message: &str| {
        let error = type_meta(body.as_bytes()).unwrap_err();
        let error = format!("couldn't get version/kind; json parse error: {error}");
        assert_eq!(unrecognized("ConfigMap", error, body.as_bytes()), message);
    };
    check(
        "{not json",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'n' looking for beginning of object key string ({not json)",
    );
    check(
        "",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    );
    check(
        "[]",
        r#"the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d)"#,
    );
    assert_eq!(
        unrecognized("Pod", "x", br#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"#),
        r#"the object provided is unrecognized (must be of type Pod): x ({"aaaaaaaaaaaaaaaaaaaaaaaaaaaa ...)"#,
    );
    assert_eq!(
        cannot_be_handled_as("Secret", "v1", "ConfigMap", "unknown conversion"),
        r#"Secret in version "v1" cannot be handled as a ConfigMap: unknown conversion"#,
    );
}

#[test]
fn unknown_and_duplicate_fields_are_reported_in_text_order() {
    check_strict(
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"lables":{}},"bogus":{"x":1},"bogus":2}"#,
        &[
            r#"unknown field "metadata.lables""#,
            r#"unknown field "bogus""#,
        ],
    );
    check_strict(
        r#"{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"b","a":"c"}}"#,
        &[r#"duplicate field "data.a""#],
    );
    check_strict(
        r#"{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"a"},{"Name":"b","image":"x","image":"y"}]}}"#,
        &[
            r#"unknown field "spec.containers[1].Name""#,
            r#"duplicate field "spec.containers[1].image""#,
        ],
    );
    // What holds any JSON is not looked into.
    check_strict(
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{},"b":1}}]}}"#,
        &[],
    );
    let id = type_of_kind("", "v1", "ConfigMap").unwrap();
    let strict = decode(id, br#"{"datas":{},"x":1}"#).unwrap().strict;
    assert_eq!(
        strict_decoding_error(&strict),
        r#"strict decoding error: unknown field "datas", unknown field "x""#,
    );
    let duplicates = duplicate_fields(br#"{"a":[{"b":1,"b":2}],"c":{"a":1,"a":1,"a":1}}"#).unwrap();
    let duplicates: Vec<_> = duplicates.iter().map(ToString::to_string).collect();
    assert_eq!(
        duplicates,
        [r#"duplicate field "a[0].b""#, r#"duplicate field "c.a""#]
    );
}

#[test]
fn a_field_that_comes_twice_is_read_into() {
    let body = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"1"}},"metadata":{"labels":{"y":"2"}},"spec":{"hostname":"a","hostname":null,"priority":1,"priority":null}}"#;
    let (printed, _) = read(body).unwrap();
    assert_eq!(
        printed["metadata"],
        json!({"name": "a", "labels": {"x": "1", "y": "2"}})
    );
    assert_eq!(
        printed["spec"],
        json!({"containers": null, "hostname": "a"})
    );
}

#[test]
fn zero_values_are_printed_as_the_go_types_say() {
    check_printed(
        &json!({"kind": "Event", "apiVersion": "v1"}),
        &json!({
            "kind": "Event", "apiVersion": "v1", "metadata": {}, "involvedObject": {}, "source": {},
            "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
            "reportingComponent": "", "reportingInstance": "",
        }),
    );
    check_printed(
        &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "", "creationTimestamp": null, "labels": {}},
            "spec": {"priority": 0, "hostNetwork": false, "securityContext": {}, "volumes": [],
                "containers": [{"ports": [{}], "livenessProbe": {"httpGet": {}}}]}}),
        // Only what is stored has forgotten that the text has labels and volumes.
        &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"labels": {}}, "status": {},
            "spec": {"priority": 0, "securityContext": {}, "volumes": [],
                "containers": [{"name": "", "resources": {}, "ports": [{"containerPort": 0}],
                    "livenessProbe": {"httpGet": {"port": 0}}}]}}),
    );
    check_printed(
        &json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1", "rules": []}),
        &json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {}, "rules": []}),
    );
    check_printed(
        &json!({"kind": "ControllerRevision", "apiVersion": "apps/v1"}),
        &json!({"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": {}, "data": null, "revision": 0}),
    );
    check_printed(
        &json!({"kind": "PodList", "apiVersion": "v1"}),
        &json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}),
    );
    check_printed(
        &json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": null}, "unknown": 1, "metadata": null}),
        &json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": ""}, "metadata": {}}),
    );
}
