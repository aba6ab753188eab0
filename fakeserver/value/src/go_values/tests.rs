use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::print_go_values;
use crate::{
    schema::{type_in, types_in},
    status::FieldError,
};

fn old() -> KubernetesVersion {
    "1.33".parse().unwrap()
}

/// The message of an error at a path of an object of a kind, as a version shows it that prints Go's syntax.
fn message(
    (group, version, kind): (&str, &str, &str),
    path: &str,
    value: &Value,
    detail: &str,
) -> String {
    let mut errors = [FieldError::invalid(path, value, detail)];
    let root = type_in(old(), group, version, kind);
    print_go_values(&mut errors, types_in(old()), root);
    errors[0].detail.clone()
}

// The messages are those of a kube-apiserver 1.33.13.
#[test]
fn values_have_the_internal_type_of_their_path() {
    let deployment = ("apps", "v1", "Deployment");
    for (kind, path, value, detail, expected) in [
        (
            deployment,
            "spec.template.metadata.labels",
            json!({"app": "x"}),
            "`selector` does not match template `labels`",
            r#"Invalid value: map[string]string{"app":"x"}: `selector` does not match template `labels`"#,
        ),
        (
            deployment,
            "spec.template.metadata.labels",
            Value::Null,
            "`selector` does not match template `labels`",
            "Invalid value: map[string]string(nil): `selector` does not match template `labels`",
        ),
        (
            deployment,
            "spec.selector",
            json!({"matchLabels": {"Bad Key": "x"}}),
            "invalid label selector",
            r#"Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"Bad Key":"x"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: invalid label selector"#,
        ),
        (
            deployment,
            "metadata.ownerReferences",
            json!({"apiVersion": "v1", "kind": "Event", "name": "p", "uid": "u"}),
            "/v1, Kind=Event is disallowed from being an owner",
            r#"Invalid value: v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"p", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}: /v1, Kind=Event is disallowed from being an owner"#,
        ),
        (
            deployment,
            "metadata.finalizers",
            json!(["foregroundDeletion", "orphan"]),
            "finalizer orphan and foregroundDeletion cannot be both set",
            r#"Invalid value: []string{"foregroundDeletion", "orphan"}: finalizer orphan and foregroundDeletion cannot be both set"#,
        ),
        (
            deployment,
            "spec.strategy.rollingUpdate.maxUnavailable",
            json!("7"),
            "must not be greater than 100%",
            r#"Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"7"}: must not be greater than 100%"#,
        ),
        (
            ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
            "spec.request",
            json!("AAEC"),
            "PEM block type must be CERTIFICATE REQUEST",
            "Invalid value: []byte{0x0, 0x1, 0x2}: PEM block type must be CERTIFICATE REQUEST",
        ),
        (
            ("", "v1", "ResourceQuota"),
            "spec.scopes",
            json!(["BestEffort"]),
            "field is immutable",
            r#"Invalid value: []core.ResourceQuotaScope{"BestEffort"}: field is immutable"#,
        ),
        (
            ("", "v1", "ResourceQuota"),
            "spec.hard[x.y]",
            json!("1m"),
            "must be an integer",
            r#"Invalid value: resource.Quantity{i:resource.int64Amount{value:1, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1m", Format:"DecimalSI"}: must be an integer"#,
        ),
        (
            ("", "v1", "ResourceQuota"),
            "spec.hard[x.y]",
            json!("x.y"),
            "must be a standard resource for quota",
            "Invalid value: x.y: must be a standard resource for quota",
        ),
        (
            ("", "v1", "PersistentVolume"),
            "spec.capacity",
            Value::Null,
            "",
            "Invalid value: core.ResourceList(nil)",
        ),
    ] {
        assert_eq!(message(kind, path, &value, detail), expected, "{path}");
    }
}

#[test]
fn values_without_a_type_are_those_of_any_json() {
    let custom = ("example.com", "v1", "Thing");
    for (path, value, expected) in [
        (
            "spec.list[2]",
            json!({"k": "a", "v": 1}),
            r#"map[string]interface {}{"k":"a", "v":1}"#,
        ),
        ("<nil>", Value::Null, r#""null""#),
        ("spec.x", json!("a"), r#""a""#),
        ("spec.x", json!(1.5), "1.5"),
        (
            "metadata.finalizers",
            json!(["orphan"]),
            r#"[]string{"orphan"}"#,
        ),
    ] {
        let expected = format!("Invalid value: {expected}: bad");
        assert_eq!(message(custom, path, &value, "bad"), expected);
    }
}
