//! Workloads take over what others left, leave alone what others own, and see pods become available.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, PODS, deployment, pod};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const STATEFUL: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const DAEMONS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

fn api() -> Api {
    Api::with(Controllers::default().with_workloads(Workloads::default()))
}

/// A set `s` of one pod, as a collection has them.
fn set(collection: &str) -> Value {
    let mut set = deployment("s");
    if collection == DAEMONS {
        set["spec"].as_object_mut().unwrap().remove("replicas");
    }
    set
}

async fn pod_uids(api: &Api) -> Vec<Value> {
    let list = api.get(PODS).await.ok();
    let pods = list["items"].as_array().unwrap().iter();
    pods.map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// A config map, as an owner of others that does not manage them.
async fn bystander(api: &Api) -> Value {
    let map = api.config_map("bystander").await;
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "bystander",
        "uid": map["metadata"]["uid"],
    })
}

#[tokio::test(start_paused = true)]
async fn pods_become_available_once_they_were_ready_long_enough() {
    for (collection, field) in [
        (STATEFUL, "availableReplicas"),
        (DAEMONS, "numberAvailable"),
    ] {
        let api = api();
        let mut set = set(collection);
        set["spec"]["minReadySeconds"] = json!(20);
        api.post(collection, &set).await.created();
        api.settle().await;
        let path = format!("{collection}/s");
        let early = api.get(&path).await.ok();
        assert_ne!(early["status"][field], 1, "{early}");
        tokio::time::sleep(Duration::from_secs(40)).await;
        let late = api.get(&path).await.ok();
        assert_eq!(late["status"][field], 1, "{late}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_set_takes_over_the_pods_of_the_one_before_it() {
    for collection in [STATEFUL, DAEMONS] {
        let api = api();
        api.post(collection, &set(collection)).await.created();
        api.settle().await;
        let before = pod_uids(&api).await;
        assert_eq!(before.len(), 1);
        let path = format!("{collection}/s");
        api.delete(&format!("{path}?propagationPolicy=Orphan"))
            .await
            .ok();
        tokio::time::sleep(Duration::from_secs(10)).await;
        api.get(&path).await.refused(404);
        let next = api.post(collection, &set(collection)).await.created();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(pod_uids(&api).await, before, "{collection}");
        let pods = api.get(PODS).await.ok();
        let owners = &pods["items"][0]["metadata"]["ownerReferences"];
        assert_eq!(owners[0]["uid"], next["metadata"]["uid"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_adopts_only_pods_with_its_name_and_a_number() {
    let api = api();
    let mut stray = pod("stray", "");
    stray["metadata"]["labels"] = json!({"a": "b"});
    api.post(PODS, &stray).await.created();
    api.post(STATEFUL, &set(STATEFUL)).await.created();
    api.settle().await;
    let stray = api.get(&format!("{PODS}/stray")).await.ok();
    assert!(stray["metadata"].get("ownerReferences").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_let_go_keeps_its_other_owners() {
    let api = api();
    let other = bystander(&api).await;
    let mut orphan = pod("orphan", "");
    orphan["metadata"]["labels"] = json!({"a": "b"});
    orphan["metadata"]["ownerReferences"] = json!([other]);
    api.post(PODS, &orphan).await.created();
    api.post(SETS, &deployment("r")).await.created();
    api.settle().await;
    let path = format!("{PODS}/orphan");
    let adopted = api.get(&path).await.ok();
    assert_eq!(adopted["metadata"]["ownerReferences"][1]["name"], "r");
    api.merge(&path, &json!({"metadata": {"labels": {"a": "other"}}}))
        .await
        .ok();
    api.settle().await;
    let released = api.get(&path).await.ok();
    assert_eq!(released["metadata"]["ownerReferences"], json!([other]));
}

#[tokio::test(start_paused = true)]
async fn a_deployment_adopts_sets_beside_their_owners_and_not_those_that_are_going() {
    let api = api();
    let other = bystander(&api).await;
    for name in ["going", "second", "third"] {
        let mut set = deployment(name);
        set["metadata"]["labels"] = json!({"a": "b"});
        set["metadata"]["ownerReferences"] = json!([other]);
        set["metadata"]["finalizers"] = json!(["example.com/held"]);
        api.post(SETS, &set).await.created();
    }
    api.delete(&format!("{SETS}/going")).await.ok();
    let made = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let owners = async |name: &str| {
        let set = api.get(&format!("{SETS}/{name}")).await.ok();
        set["metadata"]["ownerReferences"].clone()
    };
    assert_eq!(owners("going").await, json!([other]));
    for name in ["second", "third"] {
        let owners = owners(name).await;
        assert_eq!(owners[0], other, "{name}");
        assert_eq!(owners[1]["uid"], made["metadata"]["uid"], "{name}");
        assert!(owners.get(2).is_none(), "{name}");
    }
    // Two sets of the same template: one of them is the current one, and stays that.
    let before = api.get(SETS).await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(api.get(SETS).await.ok()["items"], before["items"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_takes_its_pods_back_and_lets_others_go() {
    const TRACKING: &str = "batch.kubernetes.io/job-tracking";
    let api = api();
    let mut job = deployment("j");
    job["spec"] = json!({"template": {"spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i", "command": ["sleep", "infinity"]}],
    }}});
    let job = api
        .post("/apis/batch/v1/namespaces/default/jobs", &job)
        .await
        .created();
    api.settle().await;
    let name = api.get(PODS).await.ok()["items"][0]["metadata"]["name"].clone();
    let path = format!("{PODS}/{}", name.as_str().unwrap());
    let orphaned = json!({"metadata": {"ownerReferences": null}});
    api.merge(&path, &orphaned).await.ok();
    api.settle().await;
    let adopted = api.get(&path).await.ok();
    let owners = &adopted["metadata"]["ownerReferences"];
    assert_eq!(owners[0]["uid"], job["metadata"]["uid"]);
    assert_eq!(adopted["metadata"]["finalizers"], json!([TRACKING]));
    api.merge(&path, &json!({"metadata": {"labels": null}}))
        .await
        .ok();
    api.settle().await;
    let released = api.get(&path).await.ok();
    for field in ["ownerReferences", "finalizers"] {
        assert!(released["metadata"].get(field).is_none(), "{released}");
    }
    assert_eq!(pod_uids(&api).await.len(), 2, "the job has another pod");
}
