//! Rows of tables.

use fakeserver_versions::KubernetesVersion;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Printer;
use crate::registry::{Lookup, Registry};
use crate::table::age;

const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// Returns the time `seconds` seconds ago.
fn ago(seconds: i64) -> String {
    (NOW - SignedDuration::from_secs(seconds)).to_string()
}

/// The cells of an object, as text.
fn row(resource: &str, mut object: Value) -> String {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    object["metadata"]["name"] = json!("x");
    object["metadata"]["creationTimestamp"] = json!(ago(60));
    let Lookup::Found(resource) =
        Registry::builtin(KubernetesVersion::DEFAULT).lookup(group, "v1", plural)
    else {
        panic!("{resource} is a resource");
    };
    let cells = Printer::of(&resource).row(&object, NOW).cells;
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| cell.to_string().replace('"', ""))
        .collect();
    cells.join(" | ")
}

#[test]
fn ages_have_two_units_at_most() {
    for (seconds, expected) in [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (600, "10m"),
        (10_799, "179m"),
        (3 * 3_600, "3h"),
        (3 * 3_600 + 60, "3h1m"),
        (8 * 3_600 + 60, "8h"),
        (48 * 3_600, "2d"),
        (49 * 3_600, "2d1h"),
        (8 * 86_400, "8d"),
        (729 * 86_400, "729d"),
        (730 * 86_400, "2y"),
        (731 * 86_400, "2y1d"),
        (8 * 365 * 86_400 + 86_400, "8y"),
    ] {
        assert_eq!(
            age::human(SignedDuration::from_secs(seconds)),
            expected,
            "{seconds}"
        );
    }
    assert_eq!(age::since(&Value::Null, NOW), "<unknown>");
}

#[test]
fn every_resource_has_a_cell_for_each_of_its_columns() {
    let mut count = 0;
    for group in Registry::builtin(KubernetesVersion::DEFAULT).groups() {
        for version in &group.versions {
            for resource in &version.resources {
                let printer = Printer::of(resource);
                let columns: Value = serde_json::from_str(printer.columns()).unwrap();
                // An object that says nothing, not even its name.
                let row = printer.row(&json!({}), NOW);
                assert_eq!(
                    row.cells.len(),
                    columns.as_array().unwrap().len(),
                    "{} {}",
                    group.name,
                    resource.plural
                );
                let own = resource.rules.own_cells(&json!({}), NOW).len();
                assert!(
                    own == 0 || own == row.cells.len(),
                    "{}: {own} cells",
                    resource.plural
                );
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count} resources");
}

#[test]
fn rows_of_workloads_and_services() {
    let template =
        json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}});
    let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "A", "operator": "In", "values": ["2", "1"]}]});
    for (resource, object, expected) in [
        (
            "configmaps",
            json!({"data": {"a": "1"}, "binaryData": {"b": "", "c": ""}}),
            "x | 3 | 60s",
        ),
        (
            "secrets",
            json!({"type": "Opaque", "data": {"a": "1"}}),
            "x | Opaque | 1 | 60s",
        ),
        ("serviceaccounts", json!({}), "x | 60s"),
        (
            "namespaces",
            json!({"status": {"phase": "Active"}}),
            "x | Active | 60s",
        ),
        (
            "leases.coordination.k8s.io",
            json!({"spec": {"holderIdentity": "me"}}),
            "x | me | 60s",
        ),
        (
            "deployments.apps",
            json!({"spec": {"replicas": 3, "template": template, "selector": selector},
                   "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1}}),
            "x | 2/3 | 3 | 1 | 60s | c,d | i,j | A in (1,2),a=b",
        ),
        (
            "statefulsets.apps",
            json!({"spec": {"replicas": 1, "template": template}}),
            "x | 0/1 | 60s | c,d | i,j",
        ),
        (
            "services",
            json!({"spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "selector": {"a": "b"},
                            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30000}, {"port": 53, "protocol": "UDP"}]}}),
            "x | NodePort | 10.0.0.1 | <none> | 80:30000/TCP,53/UDP | 60s | a=b",
        ),
        (
            "services",
            json!({"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"]}}),
            "x | LoadBalancer | 10.0.0.1 | <pending> | <none> | 60s | <none>",
        ),
    ] {
        assert_eq!(row(resource, object), expected, "{resource}");
    }
}

#[test]
fn rows_of_nodes_volumes_and_events() {
    let template =
        json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}});
    for (resource, object, expected) in [
        (
            "nodes",
            json!({"metadata": {"labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/etcd": ""}},
                   "spec": {"unschedulable": true},
                   "status": {"conditions": [{"type": "Ready", "status": "True"}],
                              "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
                              "nodeInfo": {"kubeletVersion": "v1.36.2"}}}),
            "x | Ready,SchedulingDisabled | etcd,worker | 60s | v1.36.2 | 1.2.3.4 | <none> | <unknown> | <unknown> | <unknown>",
        ),
        (
            "jobs.batch",
            json!({"spec": {"completions": 2, "template": template},
                   "status": {"succeeded": 1, "startTime": ago(30)}}),
            "x | Running | 1/2 | 30s | 60s | c,d | i,j | <none>",
        ),
        (
            "persistentvolumeclaims",
            json!({"spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem"},
                   "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]}}),
            "x | Bound | v | 1Gi | RWO,RWX | s | <unset> | 60s | Filesystem",
        ),
        (
            "events",
            json!({"involvedObject": {"kind": "Pod", "name": "p"}, "type": "Normal", "reason": "R", "message": "m ",
                   "lastTimestamp": ago(10), "firstTimestamp": ago(20), "count": 4, "source": {"component": "c", "host": "h"}}),
            "10s | Normal | R | pod/p |  | c, h | m | 20s | 4 | x",
        ),
        (
            "poddisruptionbudgets.policy",
            json!({"spec": {"maxUnavailable": "25%"}, "status": {"disruptionsAllowed": 1}}),
            "x | N/A | 25% | 1 | 60s",
        ),
        (
            "roles.rbac.authorization.k8s.io",
            json!({}),
            "x | 2025-12-31T23:59:00Z",
        ),
    ] {
        assert_eq!(row(resource, object), expected, "{resource}");
    }
}

#[test]
fn the_status_cell_of_a_pod_follows_its_containers() {
    let container = |state: Value| {
        json!({"name": "c", "ready": true, "restartCount": 2, "state": state,
        "lastState": {"terminated": {"finishedAt": ago(300)}}})
    };
    let running = json!({"running": {}});
    for (pod, expected) in [
        (json!({"status": {"phase": "Pending"}}), "0/1 | Pending | 0"),
        (
            json!({"status": {"phase": "Failed", "reason": "Evicted"}}),
            "0/1 | Evicted | 0",
        ),
        (
            json!({"status": {"phase": "Running", "containerStatuses": [container(running.clone())]}}),
            "1/1 | Running | 2 (5m ago)",
        ),
        (
            json!({"status": {"phase": "Running", "containerStatuses": [container(json!({"waiting": {"reason": "CrashLoopBackOff"}}))]}}),
            "0/1 | CrashLoopBackOff | 2 (5m ago)",
        ),
        (
            json!({"status": {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"reason": "Completed"}}}]}}),
            "0/1 | Completed | 0",
        ),
        (
            json!({"status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}}),
            "0/1 | ExitCode:3 | 0",
        ),
        (
            json!({"spec": {"initContainers": [{"name": "i"}, {"name": "j"}]},
                   "status": {"phase": "Pending", "initContainerStatuses": [
                       {"name": "i", "state": {"terminated": {"exitCode": 0}}}, {"name": "j", "state": running.clone()}]}}),
            "0/1 | Init:1/2 | 0",
        ),
        (
            json!({"spec": {"initContainers": [{"name": "i", "restartPolicy": "Always"}]},
                   "status": {"phase": "Running",
                              "initContainerStatuses": [{"name": "i", "started": true, "ready": true, "restartCount": 1, "state": running.clone()}],
                              "containerStatuses": [container(running.clone())]}}),
            "2/2 | Running | 3 (5m ago)",
        ),
        (
            json!({"metadata": {"deletionTimestamp": ago(1)}, "status": {"phase": "Running"}}),
            "0/1 | Terminating | 0",
        ),
        (
            json!({"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}}),
            "0/1 | SchedulingGated | 0",
        ),
    ] {
        let mut object = pod;
        object["spec"]["containers"] = json!([{"name": "c"}]);
        let row = row("pods", object);
        let cell = row.strip_prefix("x | ").unwrap().split(" | 60s").next();
        assert_eq!(cell, Some(expected));
    }
}
