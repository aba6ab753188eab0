//! Persistent volumes: binding, provisioning, expansion, and what becomes of volumes without claims.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, PODS, deployment, pod};

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn api() -> Api {
    Api::with(Controllers::default().with_workloads(Workloads::default()))
}

fn volume(name: &str, size: &str, policy: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
            "persistentVolumeReclaimPolicy": policy,
        },
    })
}

fn claim(name: &str, class: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
            "resources": {"requests": {"storage": "2Gi"}},
        },
    })
}

fn class(name: &str, mode: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "provisioner": "disks.example.com",
        "volumeBindingMode": mode,
        "allowVolumeExpansion": true,
    })
}

async fn get(api: &Api, path: &str, name: &str) -> Value {
    api.get(&format!("{path}/{name}")).await.ok()
}

/// Returns the events about an object: how often, by whom, the reason and the message.
async fn events_of(api: &Api, name: &str) -> Vec<String> {
    let path = format!("{EVENTS}?fieldSelector=involvedObject.name={name}");
    let list = api.get(&path).await.ok();
    let events = list["items"].as_array().unwrap().iter();
    events
        .map(|event| {
            let fields = [
                &event["source"]["component"],
                &event["reason"],
                &event["message"],
            ];
            let [component, reason, message] = fields.map(|field| field.as_str().unwrap());
            format!("{} {component} {reason}: {message}", event["count"])
        })
        .collect()
}

async fn reasons(api: &Api, name: &str) -> Vec<Value> {
    let path = format!("{EVENTS}?fieldSelector=involvedObject.name={name}");
    let list = api.get(&path).await.ok();
    let events = list["items"].as_array().unwrap();
    events.iter().map(|event| event["reason"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_bound_to_the_smallest_volume_that_serves_it() {
    let api = api();
    api.post(CLAIMS, &claim("c", "")).await.created();
    api.settle().await;
    assert_eq!(get(&api, CLAIMS, "c").await["status"]["phase"], "Pending");
    assert_eq!(reasons(&api, "c").await, ["FailedBinding"]);
    for (name, size) in [("small", "1Gi"), ("large", "20Gi"), ("right", "3Gi")] {
        api.post(VOLUMES, &volume(name, size, "Retain"))
            .await
            .created();
    }
    api.settle().await;
    let bound = get(&api, CLAIMS, "c").await;
    assert_eq!(bound["spec"]["volumeName"], "right", "{bound}");
    assert_eq!(bound["status"]["phase"], "Bound");
    assert_eq!(bound["status"]["capacity"]["storage"], "3Gi");
    assert_eq!(
        bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"],
        "yes"
    );
    let right = get(&api, VOLUMES, "right").await;
    assert_eq!(right["status"]["phase"], "Bound");
    assert_eq!(right["spec"]["claimRef"]["uid"], bound["metadata"]["uid"]);
    for free in ["small", "large"] {
        assert_eq!(
            get(&api, VOLUMES, free).await["status"]["phase"],
            "Available"
        );
    }
    api.delete(&format!("{CLAIMS}/c")).await.ok();
    sleep(Duration::from_secs(5)).await;
    api.get(&format!("{CLAIMS}/c")).await.refused(404);
    assert_eq!(
        get(&api, VOLUMES, "right").await["status"]["phase"],
        "Released"
    );
    api.post(CLAIMS, &claim("c", "")).await.created();
    sleep(Duration::from_secs(5)).await;
    // The data of the first claim is there: another volume serves the second.
    assert_eq!(get(&api, CLAIMS, "c").await["spec"]["volumeName"], "large");
}

#[tokio::test(start_paused = true)]
async fn a_volume_is_made_for_a_claim_of_a_class_and_goes_with_it() {
    let api = api();
    api.post(CLAIMS, &claim("c", "fast")).await.created();
    api.settle().await;
    assert_eq!(reasons(&api, "c").await, ["ProvisioningFailed"]);
    api.post(CLASSES, &class("fast", "Immediate"))
        .await
        .created();
    api.settle().await;
    let bound = get(&api, CLAIMS, "c").await;
    let uid = bound["metadata"]["uid"].as_str().unwrap();
    let name = format!("pvc-{uid}");
    assert_eq!(bound["spec"]["volumeName"], json!(name), "{bound}");
    let made = get(&api, VOLUMES, &name).await;
    assert_eq!(made["spec"]["csi"]["driver"], "disks.example.com");
    assert_eq!(made["spec"]["persistentVolumeReclaimPolicy"], "Delete");
    assert_eq!(made["status"]["phase"], "Bound");
    let grown = json!({"spec": {"resources": {"requests": {"storage": "5Gi"}}}});
    api.merge(&format!("{CLAIMS}/c"), &grown).await.ok();
    api.settle().await;
    assert_eq!(
        get(&api, CLAIMS, "c").await["status"]["capacity"]["storage"],
        "5Gi"
    );
    assert_eq!(
        get(&api, VOLUMES, &name).await["spec"]["capacity"]["storage"],
        "5Gi"
    );
    let waiting = "Waiting for a volume to be created either by the external provisioner 'disks.example.com' or manually \
                   by the system administrator. If volume creation is delayed, please verify that the provisioner is \
                   running and correctly registered.";
    assert_eq!(
        events_of(&api, "c").await[1..],
        [
            format!("1 persistentvolume-controller ExternalProvisioning: {waiting}"),
            "1 persistentvolume-controller Provisioning: External provisioner is provisioning volume for claim \"default/c\"".to_owned(),
            format!("1 persistentvolume-controller ProvisioningSucceeded: Successfully provisioned volume {name}"),
            "1 volume_expand ExternalExpanding: waiting for an external controller to expand this PVC".to_owned(),
            format!("1 external-resizer Resizing: External resizer is resizing volume {name}"),
            "1 external-resizer VolumeResizeSuccessful: Resize volume succeeded".to_owned(),
        ]
    );
    api.delete(&format!("{CLAIMS}/c")).await.ok();
    sleep(Duration::from_secs(10)).await;
    for path in [format!("{CLAIMS}/c"), format!("{VOLUMES}/{name}")] {
        api.get(&path).await.refused(404);
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_claim_has_an_event_every_15_seconds() {
    let api = api();
    api.post(CLASSES, &class("late", "WaitForFirstConsumer"))
        .await
        .created();
    for (name, class) in [("c", ""), ("d", "late"), ("e", "absent")] {
        api.post(CLAIMS, &claim(name, class)).await.created();
    }
    sleep(Duration::from_secs(37)).await;
    // Changes of the claim and of volumes in between are no reason to say it again.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    api.merge(&format!("{CLAIMS}/c"), &label).await.ok();
    sleep(Duration::from_secs(1)).await;
    for (name, event) in [
        (
            "c",
            "FailedBinding: no persistent volumes available for this claim and no storage class is set",
        ),
        (
            "d",
            "WaitForFirstConsumer: waiting for first consumer to be created before binding",
        ),
        (
            "e",
            "ProvisioningFailed: storageclass.storage.k8s.io \"absent\" not found",
        ),
    ] {
        let expected = format!("3 persistentvolume-controller {event}");
        assert_eq!(events_of(&api, name).await, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_volume_that_was_made_can_be_changed() {
    let api = api();
    // The class `standard` is there before another one.
    api.get(CLASSES).await.ok();
    api.settle().await;
    let mut local = class("local", "Immediate");
    local["provisioner"] = json!("rancher.io/local-path");
    api.post(CLASSES, &local).await.created();
    for (class, source, field, value) in [
        ("standard", "csi", "driver", "volumes.fakeserver"),
        ("local", "hostPath", "type", "DirectoryOrCreate"),
    ] {
        api.post(CLAIMS, &claim(class, class)).await.created();
        api.settle().await;
        let volume = get(&api, CLAIMS, class).await["spec"]["volumeName"].clone();
        let path = format!("{VOLUMES}/{}", volume.as_str().unwrap());
        let change = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"persistentVolumeReclaimPolicy": "Retain"},
        });
        let changed = api.merge(&path, &change).await.ok();
        assert_eq!(changed["spec"][source][field], value, "{changed}");
        assert_eq!(changed["spec"]["persistentVolumeReclaimPolicy"], "Retain");
        api.delete(&format!("{CLAIMS}/{class}")).await.ok();
        api.settle().await;
        assert_eq!(api.get(&path).await.ok()["status"]["phase"], "Released");
    }
}

#[tokio::test(start_paused = true)]
async fn a_volume_that_was_made_is_protected_while_it_is_bound() {
    let api = api();
    api.post(CLAIMS, &claim("c", "standard")).await.created();
    api.settle().await;
    let volume = get(&api, CLAIMS, "c").await["spec"]["volumeName"].clone();
    let path = format!("{VOLUMES}/{}", volume.as_str().unwrap());
    let deleted = api.delete(&path).await.ok();
    let finalizers = &deleted["metadata"]["finalizers"];
    assert_eq!(*finalizers, json!(["kubernetes.io/pv-protection"]));
    sleep(Duration::from_mins(1)).await;
    let terminating = api.get(&path).await.ok();
    assert_eq!(terminating["status"]["phase"], "Bound", "{terminating}");
    assert_eq!(get(&api, CLAIMS, "c").await["status"]["phase"], "Bound");
    api.delete(&format!("{CLAIMS}/c")).await.ok();
    api.settle().await;
    api.get(&path).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_lost_its_volume_is_lost() {
    let api = api();
    api.post(VOLUMES, &volume("v", "3Gi", "Delete"))
        .await
        .created();
    api.settle().await;
    api.post(CLAIMS, &claim("c", "")).await.created();
    api.settle().await;
    assert_eq!(get(&api, CLAIMS, "c").await["spec"]["volumeName"], "v");
    let path = format!("{VOLUMES}/v");
    api.delete(&path).await.ok();
    // It is bound, and therefore protected, until somebody forces it.
    sleep(Duration::from_secs(5)).await;
    let kept = json!({"metadata": {"finalizers": null}});
    api.merge(&path, &kept).await.ok();
    api.settle().await;
    assert_eq!(
        get(&api, CLAIMS, "c").await["status"],
        json!({"phase": "Lost"})
    );
    assert_eq!(reasons(&api, "c").await, ["ClaimLost"]);
}

#[tokio::test(start_paused = true)]
async fn a_volume_that_cannot_be_freed_has_an_event() {
    let api = api();
    api.post(VOLUMES, &volume("v", "3Gi", "Delete"))
        .await
        .created();
    api.post(CLAIMS, &claim("c", "")).await.created();
    api.settle().await;
    api.delete(&format!("{CLAIMS}/c")).await.ok();
    sleep(Duration::from_secs(5)).await;
    let failed = get(&api, VOLUMES, "v").await;
    assert_eq!(failed["status"]["phase"], "Failed", "{failed}");
    let message = failed["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("no deletable volume plugin matched"),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_claims_and_takes_ephemeral_ones_along() {
    let api = api();
    api.post(CLASSES, &class("late", "WaitForFirstConsumer"))
        .await
        .created();
    api.post(CLAIMS, &claim("c", "late")).await.created();
    api.settle().await;
    assert_eq!(reasons(&api, "c").await, ["WaitForFirstConsumer"]);
    let mut user = pod("p", "");
    let template = json!({"spec": claim("e", "late")["spec"]});
    user["spec"]["volumes"] = json!([
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}},
    ]);
    api.post(PODS, &user).await.created();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(get(&api, PODS, "p").await["status"]["phase"], "Running");
    for name in ["c", "p-scratch"] {
        let bound = get(&api, CLAIMS, name).await;
        assert_eq!(bound["status"]["phase"], "Bound");
        let node = &bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"];
        assert_eq!(*node, "node-0");
    }
    api.delete(&format!("{PODS}/p")).await.ok();
    sleep(Duration::from_secs(40)).await;
    api.get(&format!("{CLAIMS}/p-scratch")).await.refused(404);
    assert_eq!(get(&api, CLAIMS, "c").await["status"]["phase"], "Bound");
}

#[tokio::test(start_paused = true)]
async fn claims_of_a_stateful_set_follow_its_policy() {
    let api = api();
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let mut set = deployment("s");
    set["spec"]["replicas"] = json!(3);
    set["spec"]["serviceName"] = json!("web");
    set["spec"]["volumeClaimTemplates"] =
        json!([{"metadata": {"name": "data"}, "spec": claim("c", "standard")["spec"]}]);
    set["spec"]["persistentVolumeClaimRetentionPolicy"] =
        json!({"whenDeleted": "Delete", "whenScaled": "Retain"});
    api.post(sets, &set).await.created();
    sleep(Duration::from_secs(20)).await;
    let claims = async || {
        let list = api.get(CLAIMS).await.ok();
        list["items"].as_array().unwrap().len()
    };
    assert_eq!(claims().await, 3);
    let path = format!("{sets}/s");
    api.merge(&path, &json!({"spec": {"replicas": 2}}))
        .await
        .ok();
    sleep(Duration::from_secs(20)).await;
    assert_eq!(claims().await, 3);
    let both = json!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    let policy = json!({"spec": {"replicas": 1, "persistentVolumeClaimRetentionPolicy": both}});
    api.merge(&path, &policy).await.ok();
    sleep(Duration::from_secs(20)).await;
    // That of the third pod was left when the policy was another.
    assert_eq!(claims().await, 2);
    api.delete(&path).await.ok();
    sleep(Duration::from_secs(20)).await;
    assert_eq!(claims().await, 0);
}
