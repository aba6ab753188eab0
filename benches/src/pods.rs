//! Pods as a real cluster has them: two containers with probes, env and mounts, a full status, and two managers'
//! `managedFields`, about 7 KB of JSON each.

use serde_json::{Value, json};

/// Where a generated pod lives.
pub(crate) struct PodName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The name of pod number `index`: fifty to a namespace's deployment, spread over twenty namespaces.
pub(crate) fn pod_name(index: usize) -> PodName {
    PodName {
        namespace: format!("team-{:02}", index % 20),
        name: format!("api-{:03}-7d9f8b6c5d-{index:06}", index / 1000),
    }
}

/// What a controller posts.
pub(crate) fn pod(index: usize) -> Value {
    let PodName { namespace, name } = pod_name(index);
    let app = format!("api-{:03}", index / 1000);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": app, "pod-template-hash": "7d9f8b6c5d", "tier": "backend", "team": namespace},
            "annotations": {
                "prometheus.io/scrape": "true",
                "prometheus.io/port": "9102",
                "checksum/config": format!("{index:064x}"),
            },
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{app}-7d9f8b6c5d"),
                "uid": format!("00000000-0000-4000-8000-{:012x}", index / 1000),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "nodeName": format!("node-{:04}", index % 400),
            "serviceAccountName": "default",
            "containers": [container("api", 8080), container("sidecar", 9102)],
            "volumes": [
                {"name": "config", "configMap": {"name": format!("{app}-config")}},
                {"name": "cache", "emptyDir": {}},
            ],
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ],
        },
    })
}

/// What a kubelet reports.
pub(crate) fn status(index: usize) -> Value {
    let ready = "2026-01-01T00:00:10Z";
    let conditions = [
        "PodScheduled",
        "PodReadyToStartContainers",
        "Initialized",
        "ContainersReady",
        "Ready",
    ]
    .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": ready}));
    let container_status = |name: &str| {
        json!({
            "name": name, "ready": true, "started": true, "restartCount": 0,
            "image": format!("registry.example.com/team/{name}:1.42.{}", index % 7),
            "imageID": format!("registry.example.com/team/{name}@sha256:{index:064x}"),
            "containerID": format!("containerd://{index:064x}"),
            "state": {"running": {"startedAt": ready}},
        })
    };
    json!({
        "phase": "Running",
        "qosClass": "Burstable",
        "hostIP": format!("10.0.{}.{}", index % 400 / 256, index % 256),
        "podIP": format!("10.{}.{}.{}", 64 + index / 65536, index / 256 % 256, index % 256),
        "startTime": "2026-01-01T00:00:05Z",
        "conditions": conditions,
        "containerStatuses": [container_status("api"), container_status("sidecar")],
    })
}

fn container(name: &str, port: u16) -> Value {
    let probe = |path: &str| {
        json!({
            "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
            "initialDelaySeconds": 5, "periodSeconds": 10, "timeoutSeconds": 1,
            "successThreshold": 1, "failureThreshold": 3,
        })
    };
    let env: Vec<Value> = (0..8)
        .map(|n| json!({"name": format!("SETTING_{n}"), "value": format!("value-{n}-of-{name}")}))
        .collect();
    json!({
        "name": name,
        "image": format!("registry.example.com/team/{name}:1.42.0"),
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": env,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": true},
            {"name": "cache", "mountPath": "/var/cache/app"},
        ],
        "livenessProbe": probe("/healthz"),
        "readinessProbe": probe("/readyz"),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    })
}
