//! Changes that are refused, and changes that are not.

use serde_json::{Value, json};

use super::{findings, update_findings};

const FIELDS: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                      `spec.tolerations` (only additions to existing tolerations),\
                      `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

fn pod() -> Value {
    json!({
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "schedulingGates": [{"name": "example.com/gate"}],
        },
    })
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"},
    })
}

#[track_caller]
fn check(kind: (&str, &str), old: &Value, change: impl FnOnce(&mut Value), expected: &[&str]) {
    assert_eq!(update_findings(kind, "", old, change), expected);
}

#[test]
fn pods_change_in_few_places() {
    let kind = ("", "pods");
    assert_eq!(findings(kind, &pod()), [""; 0]);
    check(
        kind,
        &pod(),
        |pod| {
            pod["spec"]["containers"][0]["image"] = json!("other");
            pod["spec"]["activeDeadlineSeconds"] = json!(5);
            pod["spec"]["tolerations"][0]["tolerationSeconds"] = json!(null);
            pod["spec"]["schedulingGates"] = json!([]);
            pod["spec"]["nodeSelector"] = json!({"zone": "a"});
        },
        &[],
    );
    check(
        kind,
        &pod(),
        |pod| pod["spec"]["containers"] = json!([]),
        &[
            "spec.containers: Required value",
            "spec.containers: Forbidden: pod updates may not add or remove containers",
        ],
    );
    check(
        kind,
        &pod(),
        |pod| {
            pod["spec"]["tolerations"] = json!([]);
            pod["spec"]["schedulingGates"][0]["name"] = json!("example.com/new");
        },
        &[
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate \
             'example.com/new'",
        ],
    );
    let found = update_findings(kind, "", &pod(), |pod| {
        pod["spec"]["subdomain"] = json!("x");
    });
    let [found] = found.as_slice() else {
        panic!("one finding, not {found:?}");
    };
    let (head, hunk) = found.split_once(" @@\n").unwrap();
    assert!(head.starts_with(&format!(
        "spec: Forbidden: pod updates may not change fields other than {FIELDS}\n@@ -"
    )));
    assert_eq!(
        hunk,
        "  },\n  \"ImagePullSecrets\": null,\n  \"Hostname\": \"\",\n- \"Subdomain\": \"\",\n\
         + \"Subdomain\": \"x\",\n  \"SetHostnameAsFQDN\": null,\n  \"Affinity\": null,\n  \
         \"SchedulerName\": \"default-scheduler\",\n"
    );
}

#[test]
fn ephemeral_containers_are_only_added() {
    let kind = ("", "pods");
    let container = json!({
        "name": "e",
        "image": "i",
        "imagePullPolicy": "Always",
        "terminationMessagePolicy": "File",
        "resources": {},
    });
    let mut old = pod();
    old["spec"]["ephemeralContainers"] = json!([container]);
    let add = |pod: &mut Value| {
        let mut second = container.clone();
        second["name"] = json!("f");
        pod["spec"]["ephemeralContainers"]
            .as_array_mut()
            .unwrap()
            .push(second);
    };
    assert_eq!(
        update_findings(kind, "ephemeralcontainers", &old, add),
        [""; 0]
    );
    let remove = |pod: &mut Value| pod["spec"]["ephemeralContainers"] = json!([]);
    assert_eq!(
        update_findings(kind, "ephemeralcontainers", &old, remove),
        [
            "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n"
        ]
    );
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
    let kind = ("apps", "statefulsets");
    check(
        kind,
        &workload,
        |set| set["spec"]["serviceName"] = json!("s"),
        &[fixed],
    );
    check(
        kind,
        &workload,
        |set| set["spec"]["replicas"] = json!(3),
        &[],
    );
}

#[test]
fn jobs_keep_what_they_do() {
    let kind = ("batch", "jobs");
    let mut template = template();
    template["spec"]["restartPolicy"] = json!("Never");
    let job = json!({
        "metadata": {"name": "j"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, "manualSelector": true},
    });
    assert_eq!(findings(kind, &job), [""; 0]);
    check(kind, &job, |job| job["spec"]["parallelism"] = json!(2), &[]);
    check(
        kind,
        &job,
        |job| job["spec"]["completions"] = json!(5),
        &["spec.completions: Invalid value: 5: field is immutable"],
    );
    let found = update_findings(kind, "", &job, |job| {
        job["spec"]["template"]["spec"]["containers"][0]["image"] = json!("other");
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "spec.template: Invalid value: {\"labels\":{\"a\":\"b\"},\"Spec\":{\"Volumes\":null,"
    ));
    assert!(found[0].ends_with("}}: field is immutable"));
}

#[test]
fn services_keep_their_address() {
    let kind = ("", "services");
    let service = json!({"spec": {
        "ports": [{"port": 80}],
        "clusterIP": "10.0.0.1",
        "clusterIPs": ["10.0.0.1"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
    }});
    assert_eq!(findings(kind, &service), [""; 0]);
    check(
        kind,
        &service,
        |service| {
            service["spec"]["clusterIP"] = json!("10.0.0.2");
            service["spec"]["clusterIPs"] = json!(["10.0.0.2"]);
        },
        &["spec.clusterIPs: Invalid value: [\"10.0.0.2\"]: may not change once set"],
    );
}

#[test]
fn what_is_frozen_stays_frozen() {
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
        &["parameters: Forbidden: updates to parameters are forbidden."],
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
fn claims_and_volumes_show_what_changed() {
    let claim = json!({"spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    let kind = ("", "persistentvolumeclaims");
    check(
        kind,
        &claim,
        |claim| claim["spec"]["volumeName"] = json!("v"),
        &[],
    );
    check(
        kind,
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
    let found = update_findings(("", "persistentvolumes"), "", &volume, |volume| {
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
        update_findings(("apps", "deployments"), "status", &object, status),
        [
            "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
            "status.collisionCount: Invalid value: -1: cannot be decremented",
        ]
    );
    let ended = json!({"spec": {"restartPolicy": "Never"}, "status": {"containerStatuses": [
        {"name": "c", "state": {"terminated": {"exitCode": 0}}},
    ]}});
    let runs =
        |pod: &mut Value| pod["status"]["containerStatuses"][0]["state"] = json!({"running": {}});
    assert_eq!(
        update_findings(("", "pods"), "status", &ended, runs),
        [
            "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
        ]
    );
    let namespace = json!({"status": {"phase": "Active"}});
    let gone = |namespace: &mut Value| namespace["status"]["phase"] = json!("Gone");
    assert_eq!(
        update_findings(("", "namespaces"), "status", &namespace, gone),
        [
            "status.Phase: Invalid value: \"Gone\": may only be 'Active' if `deletionTimestamp` is empty"
        ]
    );
}

#[test]
fn an_init_container_that_stays_may_run_again() {
    for (restarts, expected) in [(true, 0), (false, 1)] {
        let mut old = pod();
        old["spec"]["restartPolicy"] = json!("Never");
        old["spec"]["initContainers"] = json!([{"name": "i", "image": "i"}]);
        if restarts {
            old["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
        }
        old["status"]["initContainerStatuses"] =
            json!([{"name": "i", "state": {"terminated": {"exitCode": 0}}}]);
        let found = update_findings(("", "pods"), "status", &old, |pod| {
            pod["status"]["initContainerStatuses"][0]["state"] = json!({"running": {}});
        });
        assert_eq!(found.len(), expected, "{found:?}");
    }
}
