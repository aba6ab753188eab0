//! Tests of the group.

use serde_json::{Value, json};

use super::{
    csi_driver, csi_node, csi_storage_capacity, storage_class, volume_attachment,
    volume_attributes_class,
};
use crate::testing::{check, check_update, warnings};

#[test]
fn classes_of_attributes_do_not_change() {
    let class = json!({
        "metadata": {"name": "c"}, "driverName": "d.example.com", "parameters": {"a": "b"},
    });
    check(&volume_attributes_class::KIND, &class, &[]);
    check(
        &volume_attributes_class::KIND,
        &json!({"metadata": {"name": "c"}}),
        &[
            "driverName: Required value",
            "parameters: Required value: must contain at least one key/value pair",
        ],
    );
    let change = |class: &mut Value| class["parameters"]["a"] = json!("c");
    check_update(
        &volume_attributes_class::KIND,
        &class,
        change,
        &["parameters: Forbidden: updates to parameters are forbidden."],
    );
}

#[test]
fn attachments_have_one_source() {
    let attachment = |source: Value| {
        json!({"metadata": {"name": "a"}, "spec": {
            "attacher": "a.example.com", "nodeName": "n", "source": source,
        }})
    };
    let good = attachment(json!({"persistentVolumeName": "pv"}));
    check(&volume_attachment::KIND, &good, &[]);
    for (source, expected) in [
        (
            json!({}),
            "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
        ),
        (
            json!({"persistentVolumeName": "pv", "inlineVolumeSpec": {}}),
            "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
        ),
        (
            json!({"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "nfs": {"server": "s", "path": "/"}}}),
            "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
        ),
    ] {
        check(&volume_attachment::KIND, &attachment(source), &[expected]);
    }
    let change = |attachment: &mut Value| attachment["spec"]["nodeName"] = json!("m");
    check_update(
        &volume_attachment::KIND,
        &good,
        change,
        &[
            "spec: Invalid value: {\"Attacher\":\"a.example.com\",\"Source\":{\"PersistentVolumeName\":\"pv\",\
           \"InlineVolumeSpec\":null},\"NodeName\":\"m\"}: field is immutable",
        ],
    );
}

#[test]
fn drivers_ask_for_tokens() {
    let driver = |spec: Value| json!({"metadata": {"name": "d"}, "spec": spec});
    for (spec, expected) in [
        (
            json!({"fsGroupPolicy": "x"}),
            "spec.fsGroupPolicy: Unsupported value: \"x\": supported values: \"File\", \"None\", \
             \"ReadWriteOnceWithFSType\"",
        ),
        (
            json!({"tokenRequests": [{"audience": "a", "expirationSeconds": 1}]}),
            "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 \
             minutes",
        ),
        (
            json!({"tokenRequests": [{"audience": ""}, {"audience": ""}]}),
            "spec.tokenRequests[1].audience: Duplicate value: \"\"",
        ),
        (
            json!({"volumeLifecycleModes": ["x"]}),
            "spec.volumeLifecycleModes: Unsupported value: \"x\": supported values: \"Persistent\", \"Ephemeral\"",
        ),
        (
            json!({"nodeAllocatableUpdatePeriodSeconds": 9}),
            "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds",
        ),
        (
            json!({"serviceAccountTokenInSecrets": true}),
            "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no \
             tokenRequests are specified",
        ),
    ] {
        check(&csi_driver::KIND, &driver(spec), &[expected]);
    }
    check_update(
        &csi_driver::KIND,
        &driver(json!({})),
        |driver| driver["spec"]["attachRequired"] = json!(false),
        &["spec.attachedRequired: Invalid value: false: field is immutable"],
    );
    let found = warnings(
        &csi_driver::KIND,
        &driver(json!({"tokenRequests": [{"audience": "a"}]})),
    );
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn drivers_on_nodes_do_not_change() {
    let node = |driver: Value| json!({"metadata": {"name": "n"}, "spec": {"drivers": [driver]}});
    let good = node(json!({"name": "d", "nodeID": "n", "topologyKeys": ["k"]}));
    check(&csi_node::KIND, &good, &[]);
    check(
        &csi_node::KIND,
        &node(json!({"name": "", "nodeID": "", "topologyKeys": ["k", "k"]})),
        &[
            "spec.drivers[0].name: Required value",
            "spec.drivers[0].nodeID: Required value",
            "spec.drivers[0]: Duplicate value: \"k\"",
        ],
    );
    let set = |field: &'static str, value: Value| {
        move |node: &mut Value| node["spec"]["drivers"][0][field] = value
    };
    let count = set("allocatable", json!({"count": 1}));
    check_update(&csi_node::KIND, &good, count, &[]);
    check_update(
        &csi_node::KIND,
        &good,
        set("nodeID", json!("m")),
        &[
            "spec.drivers: Invalid value: {\"Name\":\"d\",\"NodeID\":\"m\",\"TopologyKeys\":[\"k\"],\
           \"Allocatable\":null}: field is immutable",
        ],
    );
}

#[test]
fn capacities_stay_with_their_class() {
    let capacity = json!({
        "metadata": {"name": "c", "namespace": "n"}, "storageClassName": "s", "capacity": "1Gi",
    });
    check(&csi_storage_capacity::KIND, &capacity, &[]);
    let change = |capacity: &mut Value| {
        capacity["storageClassName"] = json!("t");
        capacity["capacity"] = json!("-1");
    };
    check_update(
        &csi_storage_capacity::KIND,
        &capacity,
        change,
        &[
            "capacity: Invalid value: \"-1\": must be greater than or equal to 0",
            "storageClassName: Invalid value: \"t\": field is immutable",
        ],
    );
}

#[test]
fn topologies_of_classes_come_once() {
    let zones =
        |values: &[&str]| json!({"matchLabelExpressions": [{"key": "zone", "values": values}]});
    let class = |topologies: Value| json!({"provisioner": "example.com/p", "allowedTopologies": topologies});
    check(
        &storage_class::KIND,
        &class(json!([zones(&["a"]), zones(&["b"])])),
        &[],
    );
    check(
        &storage_class::KIND,
        &class(json!([zones(&["a", "a"]), zones(&["a"])])),
        &[
            "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: \"a\"",
            "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"",
        ],
    );
}
