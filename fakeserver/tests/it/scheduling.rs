//! The scheduler: pods wait, are placed, and give way.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod};

const NODES: &str = "/api/v1/nodes";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// A server whose nodes are ready.
async fn api_with(workloads: Workloads) -> Api {
    let api = Api::with(Controllers::default().with_workloads(workloads));
    // The controllers begin with the first request.
    api.get(NODES).await.ok();
    api.settle().await;
    api
}

/// A server with one node of eight processors.
async fn api() -> Api {
    api_with(Workloads::default()).await
}

/// A pod that requests so many processors.
fn requesting(name: &str, cpu: &str) -> Value {
    let mut pod = pod(name, "");
    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpu}});
    pod
}

async fn get(api: &Api, name: &str) -> Value {
    api.get(&format!("{PODS}/{name}")).await.ok()
}

async fn node_of(api: &Api, name: &str) -> String {
    let pod = get(api, name).await;
    pod["spec"]["nodeName"].as_str().unwrap_or("").to_owned()
}

fn scheduled(pod: &Value) -> &Value {
    condition(pod, "PodScheduled")
}

fn condition<'a>(pod: &'a Value, kind: &str) -> &'a Value {
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    let mut found = conditions
        .iter()
        .filter(|condition| condition["type"] == kind);
    found.next().unwrap()
}

/// The events about a pod with a reason.
async fn events(api: &Api, name: &str, reason: &str) -> Vec<Value> {
    let selector = format!("involvedObject.name={name},reason={reason}");
    let path = format!("{EVENTS}?fieldSelector={selector}");
    let list = api.get(&path).await.ok();
    list["items"].as_array().unwrap().clone()
}

async fn post(api: &Api, object: &Value) {
    api.post(PODS, object).await.created();
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_nowhere_has_a_reason() {
    let api = api().await;
    post(&api, &requesting("p", "9")).await;
    api.settle().await;
    let pod = get(&api, "p").await;
    let message = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, \
        preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    let waiting = scheduled(&pod);
    assert_eq!(waiting["status"], "False");
    assert_eq!(waiting["reason"], "Unschedulable");
    assert_eq!(waiting["message"], message);
    assert_eq!(waiting["observedGeneration"], 1);
    let failed = events(&api, "p", "FailedScheduling").await;
    assert_eq!(failed.len(), 1, "{failed:?}");
    let event = &failed[0];
    assert_eq!(event["message"], message);
    assert_eq!(event["type"], "Warning");
    assert_eq!(event["action"], "Scheduling");
    assert_eq!(event["reportingComponent"], "default-scheduler");
    assert!(event["eventTime"].as_str().unwrap().contains('.'));
    // It is looked at again after a while, which is counted.
    tokio::time::sleep(Duration::from_mins(5)).await;
    let counted = events(&api, "p", "FailedScheduling").await;
    assert_eq!(counted.len(), 1);
    assert_eq!(counted[0]["series"]["count"], 2);
    let large = json!({"metadata": {"name": "large"}, "status": {"allocatable": {"cpu": "16", "pods": "9"}}});
    api.post(NODES, &large).await.created();
    api.settle().await;
    assert_eq!(node_of(&api, "p").await, "large");
    let placed = get(&api, "p").await;
    assert_eq!(scheduled(&placed)["status"], "True");
    let placed = events(&api, "p", "Scheduled").await;
    assert_eq!(
        placed[0]["message"],
        "Successfully assigned default/p to large"
    );
    assert_eq!(placed[0]["action"], "Binding");
}

#[tokio::test(start_paused = true)]
async fn a_message_changes_when_the_reason_does() {
    let api = api().await;
    post(&api, &requesting("p", "9")).await;
    api.settle().await;
    let cordon = json!({"spec": {"unschedulable": true}});
    api.merge(&format!("{NODES}/node-0"), &cordon).await.ok();
    tokio::time::sleep(Duration::from_mins(6)).await;
    let pod = get(&api, "p").await;
    let message = scheduled(&pod)["message"].as_str().unwrap();
    assert!(
        message.starts_with("0/1 nodes are available: 1 node(s) were unschedulable."),
        "{message}"
    );
    assert_eq!(events(&api, "p", "FailedScheduling").await.len(), 2);
    api.delete(&format!("{NODES}/node-0")).await.ok();
    tokio::time::sleep(Duration::from_mins(6)).await;
    let pod = get(&api, "p").await;
    let message = &scheduled(&pod)["message"];
    assert_eq!(message, "no nodes available to schedule pods");
}

#[tokio::test(start_paused = true)]
async fn room_that_becomes_free_is_taken_by_those_that_wait() {
    let api = api().await;
    for number in 0..6 {
        post(&api, &requesting(&format!("p{number}"), "4")).await;
    }
    api.settle().await;
    let running = async || {
        let mut running = Vec::new();
        for number in 0..6 {
            let name = format!("p{number}");
            let found = api.get(&format!("{PODS}/{name}")).await;
            if found.code == 200 && !node_of(&api, &name).await.is_empty() {
                running.push(name);
            }
        }
        running
    };
    assert_eq!(running().await, ["p0", "p1"]);
    for name in ["p0", "p1"] {
        api.delete(&format!("{PODS}/{name}")).await.ok();
    }
    api.settle().await;
    assert_eq!(running().await, ["p2", "p3"]);
    api.delete(&format!("{PODS}/p2")).await.ok();
    api.settle().await;
    assert_eq!(running().await, ["p3", "p4"]);
}

#[tokio::test(start_paused = true)]
async fn pods_that_belong_to_others_or_are_gated_are_left_alone() {
    let api = api().await;
    let mut other = pod("other", "");
    other["spec"]["schedulerName"] = json!("mine");
    let mut gated = pod("gated", "");
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/gate"}]);
    post(&api, &other).await;
    post(&api, &gated).await;
    api.settle().await;
    let found = get(&api, "other").await;
    assert_eq!(found["status"].get("conditions"), None);
    let found = get(&api, "gated").await;
    assert_eq!(scheduled(&found)["reason"], "SchedulingGated");
    assert_eq!(
        scheduled(&found)["message"],
        "Scheduling is blocked due to non-empty scheduling gates"
    );
    let open = json!({"spec": {"schedulingGates": null}});
    api.merge(&format!("{PODS}/gated"), &open).await.ok();
    api.settle().await;
    assert_eq!(node_of(&api, "gated").await, "node-0");
    assert_eq!(node_of(&api, "other").await, "");
}

/// Creates the classes `low` and `high`.
async fn with_classes(api: &Api) {
    for (name, value) in [("low", 1), ("high", 1000)] {
        let class = json!({"metadata": {"name": name}, "value": value});
        api.post(PRIORITIES, &class).await.created();
    }
}

#[tokio::test(start_paused = true)]
async fn pods_give_way_to_one_of_higher_priority() {
    let api = api_with(Workloads::default().with_pod_stop(Duration::from_secs(3))).await;
    with_classes(&api).await;
    let mut low = deployment("low");
    low["spec"]["replicas"] = json!(2);
    let spec = &mut low["spec"]["template"]["spec"];
    spec["priorityClassName"] = json!("low");
    spec["containers"][0]["resources"] = json!({"requests": {"cpu": "4"}});
    api.post(DEPLOYMENTS, &low).await.created();
    api.settle().await;
    let before = api.get(PODS).await.ok()["items"].clone();
    let before = before.as_array().unwrap();
    assert!(before.iter().all(|pod| pod["spec"]["priority"] == 1));
    let mut high = requesting("high", "3");
    high["spec"]["priorityClassName"] = json!("high");
    post(&api, &high).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waiting = get(&api, "high").await;
    assert_eq!(waiting["status"]["nominatedNodeName"], "node-0");
    assert_eq!(
        scheduled(&waiting)["message"],
        "0/1 nodes are available: 1 Insufficient cpu."
    );
    let all = api.get(PODS).await.ok()["items"].clone();
    let going = |pod: &&Value| pod["metadata"].get("deletionTimestamp").is_some();
    let going: Vec<&Value> = all.as_array().unwrap().iter().filter(going).collect();
    assert_eq!(going.len(), 1, "one is enough");
    let disrupted = condition(going[0], "DisruptionTarget");
    assert_eq!(disrupted["reason"], "PreemptionByScheduler");
    assert_eq!(
        disrupted["message"],
        "default-scheduler: preempting to accommodate a higher priority pod"
    );
    let name = going[0]["metadata"]["name"].as_str().unwrap();
    let preempted = events(&api, name, "Preempted").await;
    let uid = waiting["metadata"]["uid"].as_str().unwrap();
    assert_eq!(
        preempted[0]["message"],
        format!("Preempted by pod {uid} on node node-0")
    );
    assert_eq!(preempted[0]["related"]["name"], "high");
    tokio::time::sleep(Duration::from_secs(10)).await;
    let placed = get(&api, "high").await;
    assert_eq!(placed["spec"]["nodeName"], "node-0");
    assert_eq!(placed["status"].get("nominatedNodeName"), None);
    let replicas = api.get(&format!("{DEPLOYMENTS}/low")).await.ok();
    assert_eq!(
        replicas["status"]["readyReplicas"], 1,
        "the new one waits: {replicas}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_class_preempts_nothing_waits() {
    let api = api().await;
    with_classes(&api).await;
    let polite = json!({"metadata": {"name": "polite"}, "value": 9, "preemptionPolicy": "Never"});
    api.post(PRIORITIES, &polite).await.created();
    let mut low = requesting("low", "8");
    low["spec"]["priorityClassName"] = json!("low");
    post(&api, &low).await;
    api.settle().await;
    let mut waits = requesting("waits", "8");
    waits["spec"]["priorityClassName"] = json!("polite");
    post(&api, &waits).await;
    api.settle().await;
    let pod = get(&api, "waits").await;
    let message = scheduled(&pod)["message"].as_str().unwrap();
    assert!(
        message.ends_with("preemption: not eligible due to preemptionPolicy=Never."),
        "{message}"
    );
    assert_eq!(node_of(&api, "low").await, "node-0");
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_claim_and_selects_a_node_for_it() {
    let api = api().await;
    let class = json!({
        "metadata": {"name": "late"},
        "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    });
    api.post(CLASSES, &class).await.created();
    let mut user = pod("user", "");
    user["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
    post(&api, &user).await;
    api.settle().await;
    let waiting = get(&api, "user").await;
    assert_eq!(
        scheduled(&waiting)["message"],
        "0/1 nodes are available: persistentvolumeclaim \"c\" not found. not found"
    );
    let claim = json!({
        "metadata": {"name": "c"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "late",
        },
    });
    api.post(CLAIMS, &claim).await.created();
    api.settle().await;
    assert_eq!(node_of(&api, "user").await, "node-0");
    let claim = api.get(&format!("{CLAIMS}/c")).await.ok();
    let annotations = &claim["metadata"]["annotations"];
    assert_eq!(annotations["volume.kubernetes.io/selected-node"], "node-0");
}
