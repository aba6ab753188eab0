//! Kinds that are there, and the reasons why others are not.

use serde_json::json;

use super::*;

/// Returns the message of a kind that a version does not have, after the id of its rule.
fn absence(version: &str, api_version: &str, kind: &str) -> String {
    let catalogue = Catalogue::of(version.parse().unwrap());
    let absence = catalogue.find(api_version, kind).unwrap_err();
    format!("{}: {}", absence.rule.id(), absence.message)
}

#[test]
fn an_absent_kind_has_a_reason() {
    for (version, api_version, kind, expected) in [
        (
            "1.36",
            "extensions/v1beta1",
            "Ingress",
            "removed-api: extensions/v1beta1 Ingress was removed in Kubernetes 1.22; use networking.k8s.io/v1",
        ),
        (
            "1.36",
            "policy/v1beta1",
            "PodSecurityPolicy",
            "removed-api: policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25",
        ),
        (
            "1.33",
            "resource.k8s.io/v1",
            "DeviceClass",
            "unserved-api: resource.k8s.io/v1 DeviceClass is not there before Kubernetes 1.34",
        ),
        (
            "1.35",
            "admissionregistration.k8s.io/v1beta1",
            "MutatingAdmissionPolicy",
            "unserved-api: admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy is off by default in Kubernetes 1.35, \
             and was not turned on by --runtime-config",
        ),
        (
            "1.36",
            "apps/v1",
            "Deploymnet",
            "unknown-kind: no version of Kubernetes has apps/v1 Deploymnet; did you mean Deployment?",
        ),
        (
            "1.36",
            "v1",
            "Deployment",
            "unknown-kind: no version of Kubernetes has v1 Deployment; it is in apps/v1",
        ),
        (
            "1.36",
            "app/v1",
            "Thing",
            "unknown-kind: no version of Kubernetes has app/v1 Thing; did you mean apps/v1?",
        ),
        (
            "1.36",
            "v1",
            "ComponentStatus",
            "rejected: v1 ComponentStatus cannot be created by clients",
        ),
        (
            "1.36",
            "example.com/v1",
            "Widget",
            "missing-definition: example.com/v1 Widget is no kind of Kubernetes, and no manifest defines it: add its \
             CustomResourceDefinition to the paths",
        ),
    ] {
        assert_eq!(absence(version, api_version, kind), expected);
    }
}

#[test]
fn a_deprecated_kind_is_served_with_a_warning_until_it_is_removed() {
    let (api_version, kind) = ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema");
    let old = Catalogue::of("1.31".parse().unwrap());
    assert!(old.find(api_version, kind).is_ok());
    assert_eq!(
        old.deprecation(api_version, kind).unwrap(),
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; use \
         flowcontrol.apiserver.k8s.io/v1 FlowSchema"
    );
    let new = Catalogue::of("1.32".parse().unwrap());
    assert_eq!(
        new.find(api_version, kind).unwrap_err().rule,
        Rule::RemovedApi
    );
    assert_eq!(new.deprecation(api_version, kind), None);
}

#[test]
fn a_definition_adds_the_versions_that_it_serves() {
    let mut catalogue = Catalogue::of(KubernetesVersion::DEFAULT);
    catalogue.define(&json!({"spec": {
        "group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": true}, {"name": "v1beta1", "served": false}],
    }}));
    let widget = catalogue.find("example.com/v1", "Widget").unwrap();
    assert_eq!(
        widget.path("shop"),
        "/apis/example.com/v1/namespaces/shop/widgets"
    );
    let absence = catalogue.find("example.com/v1beta1", "Widget").unwrap_err();
    assert_eq!(
        absence.message,
        "the definition of Widget does not serve example.com/v1beta1; it serves v1"
    );
}
