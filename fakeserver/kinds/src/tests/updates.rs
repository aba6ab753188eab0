//! Updates that are refused, and updates that are accepted.

use fakeserver_value::field::Field;
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

/// Returns the findings about an update in a version of Kubernetes.
fn findings_in(version: &str, of: (&str, &str), old: &Value, new: &Value) -> Vec<String> {
    let kubernetes = version.parse().unwrap();
    let errors = kind(of).errors(kubernetes, "", &Field::root(new), Some(old));
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn older_versions_check_some_updates_twice() {
    let old = json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
    let mut new = old.clone();
    new["spec"]["policyTypes"] = json!(["Bogus"]);
    let finding = "spec.policyTypes[0]: Unsupported value: \"Bogus\": supported values: \"Ingress\", \"Egress\"";
    let policies = ("networking.k8s.io", "networkpolicies");
    assert_eq!(findings_in("1.36", policies, &old, &new), [finding]);
    assert_eq!(
        findings_in("1.35", policies, &old, &new),
        [finding, finding]
    );
}

#[test]
fn fields_are_dropped_where_their_gate_is_off() {
    let slices = kind(("resource.k8s.io", "resourceslices"));
    let taint = json!([{"key": "a", "effect": "NoSchedule"}]);
    let tainted = json!({"spec": {"devices": [{"name": "d", "taints": taint}]}});
    let created = |version: &str| {
        let mut slice = tainted.clone();
        slices.prepare_create(version.parse().unwrap(), &mut slice);
        slice["spec"]["devices"][0]["taints"].clone()
    };
    assert_eq!((created("1.36"), created("1.35")), (taint, Value::Null));
    // What an object has already, its next version may have.
    let mut next = tainted.clone();
    let old = tainted.clone();
    slices.prepare_next("1.35".parse().unwrap(), "", &old, &mut next);
    assert_eq!(next["spec"], tainted["spec"]);
}
