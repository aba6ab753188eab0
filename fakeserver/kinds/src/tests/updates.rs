//! Updates that are refused, and updates that are accepted.

use serde_json::{Value, json};

use super::kind;
use crate::testing::{check_update, update_findings};

fn template() -> Value {
    json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"},
    })
}

#[track_caller]
fn check(of: (&str, &str), old: &Value, change: impl FnOnce(&mut Value), expected: &[&str]) {
    check_update(kind(of), old, change, expected);
}

#[test]
fn selectors_and_stateful_sets_stay() {
    let workload =
        json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    for plural in ["deployments", "replicasets", "daemonsets"] {
        check(
            ("apps", plural),
            &workload,
            |object| {
                object["spec"]["template"]["metadata"]["labels"]["c"] = json!("d");
                object["spec"]["selector"]["matchLabels"]["c"] = json!("d");
            },
            &[
                "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"c\":\"d\"}}: field is immutable",
            ],
        );
    }
    let fixed = "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', \
                 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                 'minReadySeconds' are forbidden";
    let sets = ("apps", "statefulsets");
    check(
        sets,
        &workload,
        |set| set["spec"]["serviceName"] = json!("s"),
        &[fixed],
    );
    check(
        sets,
        &workload,
        |set| set["spec"]["replicas"] = json!(3),
        &[],
    );
}

#[test]
fn immutable_fields_stay() {
    let why = "Forbidden: field is immutable when `immutable` is set";
    check(
        ("", "configmaps"),
        &json!({"immutable": true, "data": {"a": "b"}}),
        |map| *map = json!({"data": {"a": "c"}}),
        &[&format!("immutable: {why}"), &format!("data: {why}")],
    );
    check(
        ("", "secrets"),
        &json!({"type": "a"}),
        |secret| secret["type"] = json!("b"),
        &["type: Invalid value: \"b\": field is immutable"],
    );
    check(
        ("rbac.authorization.k8s.io", "rolebindings"),
        &json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}}),
        |binding| binding["roleRef"]["name"] = json!("b"),
        &[
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"b\"}: \
           cannot change roleRef",
        ],
    );
    check(
        ("storage.k8s.io", "storageclasses"),
        &json!({"provisioner": "example.com/p", "parameters": {"a": "b"}}),
        |class| class["parameters"]["a"] = json!("c"),
        &["parameters: Invalid value: {\"a\":\"c\"}: field is immutable"],
    );
    check(
        ("", "nodes"),
        &json!({"spec": {"providerID": "a"}}),
        |node| node["spec"]["providerID"] = json!("b"),
        &[
            "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid",
        ],
    );
}

#[test]
fn errors_of_claims_and_volumes_show_the_difference() {
    let claim = json!({"spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    let claims = ("", "persistentvolumeclaims");
    check(
        claims,
        &claim,
        |claim| claim["spec"]["volumeName"] = json!("v"),
        &[],
    );
    check(
        claims,
        &claim,
        |claim| claim["spec"]["accessModes"][0] = json!("ReadWriteMany"),
        &[
            "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName \
           for bound claims\n@@ -1,6 +1,6 @@\n {\n  \"AccessModes\": [\n-  \"ReadWriteOnce\"\n+  \"ReadWriteMany\"\n  \
           ],\n  \"Selector\": null,\n  \"Resources\": {\n",
        ],
    );
    let volume = json!({"spec": {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/a"},
    }});
    let found = update_findings(kind(("", "persistentvolumes")), "", &volume, |volume| {
        volume["spec"]["hostPath"]["path"] = json!("/b");
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -"
    ));
    assert!(found[0].contains("-  \"Path\": \"/a\",\n+  \"Path\": \"/b\",\n"));
}

#[test]
fn statuses_count() {
    let object = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template()}});
    let status = |object: &mut Value| {
        object["status"] = json!({"replicas": 1, "readyReplicas": 2, "collisionCount": -1});
    };
    assert_eq!(
        update_findings(kind(("apps", "deployments")), "status", &object, status),
        [
            "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        ]
    );
}
