//! Defaults are set where nothing was given, and given values stay.

use serde_json::{Value, json};

use crate::kinds::{Kind, built_in};

fn kind(group: &str, plural: &str) -> &'static Kind {
    built_in(group, plural).expect("a built-in kind")
}

/// Sets defaults twice: the second time changes nothing.
fn defaulted(group: &str, plural: &str, object: Value) -> Value {
    let mut object = object;
    kind(group, plural).set_defaults(&mut object);
    let once = object.clone();
    kind(group, plural).set_defaults(&mut object);
    assert_eq!(object, once, "{plural}");
    object
}

#[test]
fn a_pod_is_what_kubelets_and_schedulers_need() {
    let pod = defaulted(
        "",
        "pods",
        json!({"spec": {"containers": [{"name": "c", "image": "i"}]}}),
    );
    assert_eq!(
        pod["spec"],
        json!({
            "containers": [{
                "name": "c",
                "image": "i",
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": true,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        })
    );
    let said = json!({"spec": {
        "containers": [], "dnsPolicy": "None", "enableServiceLinks": false, "restartPolicy": "Never",
        "schedulerName": "own", "securityContext": {"runAsUser": 1}, "terminationGracePeriodSeconds": 0,
    }});
    assert_eq!(defaulted("", "pods", said.clone()), said);
}

#[test]
fn images_that_may_change_are_always_pulled() {
    for (image, expected) in [
        ("i", "Always"),
        ("i:latest", "Always"),
        ("host:5000/i", "Always"),
        ("host:5000/i:1", "IfNotPresent"),
        ("i:1", "IfNotPresent"),
        ("i@sha256:00", "IfNotPresent"),
    ] {
        let pod = json!({"spec": {"containers": [{"image": image}]}});
        let pod = defaulted("", "pods", pod);
        assert_eq!(
            pod["spec"]["containers"][0]["imagePullPolicy"], expected,
            "{image}"
        );
    }
}

#[test]
fn what_containers_and_volumes_leave_out_is_set() {
    let pod = defaulted(
        "",
        "pods",
        json!({"spec": {
            "hostNetwork": true,
            "serviceAccountName": "a",
            "containers": [{
                "image": "i:1",
                "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "livenessProbe": {"httpGet": {"port": 1}},
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
            }],
            "volumes": [{"name": "e"}, {"name": "s", "secret": {}}, {"name": "h", "hostPath": {"path": "/"}}],
        }}),
    );
    let container = &pod["spec"]["containers"][0];
    let port = json!({"containerPort": 80, "hostPort": 80, "protocol": "TCP"});
    assert_eq!(container["ports"][0], port);
    assert_eq!(
        container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"],
        "v1"
    );
    assert_eq!(
        container["livenessProbe"],
        json!({
            "httpGet": {"port": 1, "path": "/", "scheme": "HTTP"},
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        })
    );
    assert_eq!(
        container["resources"]["requests"],
        json!({"cpu": "0.5", "memory": "1Gi"})
    );
    assert_eq!(
        pod["spec"]["volumes"],
        json!([
            {"name": "e", "emptyDir": {}},
            {"name": "s", "secret": {"defaultMode": 420}},
            {"name": "h", "hostPath": {"path": "/", "type": ""}},
        ])
    );
    assert_eq!(pod["spec"]["serviceAccount"], "a");
}

#[test]
fn workloads_say_how_they_are_rolled_out() {
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
fn a_job_counts_its_pods_by_its_uid() {
    let mut job = defaulted(
        "batch",
        "jobs",
        json!({"metadata": {"name": "j", "uid": "u"}, "spec": {"template": {"spec": {}}}}),
    );
    assert_eq!(
        (&job["spec"]["completions"], &job["spec"]["parallelism"]),
        (&json!(1), &json!(1))
    );
    kind("batch", "jobs").prepare_create(&mut job);
    let labels = json!({
        "job-name": "j", "batch.kubernetes.io/job-name": "j",
        "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
    });
    assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(job["metadata"]["labels"], labels);
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}});
    assert_eq!(job["spec"]["selector"], selector);
    let parallel = defaulted("batch", "jobs", json!({"spec": {"parallelism": 3}}));
    assert!(parallel["spec"].get("completions").is_none());
}

#[test]
fn a_service_keeps_what_it_was_given() {
    let mut service = defaulted(
        "",
        "services",
        json!({
            "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        }),
    );
    assert_eq!(
        service["spec"]["ports"][0],
        json!({"port": 80, "protocol": "TCP", "targetPort": 80})
    );
    assert_eq!(service["spec"]["externalTrafficPolicy"], "Cluster");
    service["spec"]["clusterIP"] = json!("10.96.0.9");
    service["spec"]["ports"][0]["nodePort"] = json!(30_009);

    let mut sent = json!({"spec": {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP"}]}});
    kind("", "services").keep_on_update(&service, &mut sent);
    assert_eq!(sent["spec"]["clusterIP"], "10.96.0.9");
    assert_eq!(sent["spec"]["ports"][0]["nodePort"], 30_009);
    assert!(sent["spec"]["ports"][1].get("nodePort").is_none());
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
    let mut pod = json!({"status": {"podIP": "1.1.1.1"}});
    kind("", "pods").complete_status(&mut pod);
    assert_eq!(pod["status"]["podIPs"], json!([{"ip": "1.1.1.1"}]));
}
