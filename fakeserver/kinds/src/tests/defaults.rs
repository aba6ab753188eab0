//! Defaults are set in absent fields, and present fields stay.

use serde_json::{Value, json};

use super::kind;
use crate::testing;

fn defaulted(group: &str, plural: &str, object: Value) -> Value {
    testing::defaulted(kind((group, plural)), object)
}

#[test]
fn workloads_have_default_rollout_strategies() {
    let of = |plural: &str| {
        let object = json!({"spec": {"template": {"spec": {"containers": []}}}});
        let mut object = defaulted("apps", plural, object);
        object["spec"].as_object_mut().unwrap().remove("template");
        object["spec"].take()
    };
    assert_eq!(
        of("deployments"),
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        })
    );
    assert_eq!(of("replicasets"), json!({"replicas": 1}));
    assert_eq!(
        of("daemonsets"),
        json!({
            "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        })
    );
    assert_eq!(
        of("statefulsets"),
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        })
    );
    let recreate = json!({"spec": {"replicas": 0, "strategy": {"type": "Recreate"}}});
    let recreate = defaulted("apps", "deployments", recreate);
    assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_eq!(recreate["spec"]["replicas"], 0);
}

#[test]
fn small_things_are_set_too() {
    for (group, plural, object, expected) in [
        (
            "",
            "secrets",
            json!({"stringData": {"a": "b"}, "data": {"c": "ZA=="}}),
            json!({"data": {"a": "Yg==", "c": "ZA=="}, "type": "Opaque"}),
        ),
        (
            "",
            "nodes",
            json!({"status": {"capacity": {"cpu": "1"}}}),
            json!({"status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}}}),
        ),
        (
            "",
            "persistentvolumeclaims",
            json!({"spec": {}}),
            json!({"spec": {"volumeMode": "Filesystem"}}),
        ),
        (
            "storage.k8s.io",
            "storageclasses",
            json!({}),
            json!({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
        ),
        (
            "networking.k8s.io",
            "networkpolicies",
            json!({"spec": {"egress": [{"ports": [{"port": 1}]}]}}),
            json!({"spec": {"egress": [{"ports": [{"port": 1, "protocol": "TCP"}]}], "policyTypes": ["Ingress", "Egress"]}}),
        ),
        (
            "networking.k8s.io",
            "ingressclasses",
            json!({"spec": {"controller": "c", "parameters": {"kind": "K", "name": "n"}}}),
            json!({"spec": {"controller": "c", "parameters": {"kind": "K", "name": "n", "scope": "Cluster"}}}),
        ),
        (
            "rbac.authorization.k8s.io",
            "rolebindings",
            json!({"roleRef": {"name": "r"}, "subjects": [{"kind": "User"}, {"kind": "ServiceAccount"}]}),
            json!({
                "roleRef": {"name": "r", "apiGroup": "rbac.authorization.k8s.io"},
                "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount"}],
            }),
        ),
        ("", "configmaps", json!({"data": {}}), json!({"data": {}})),
    ] {
        assert_eq!(defaulted(group, plural, object), expected, "{plural}");
    }
}
