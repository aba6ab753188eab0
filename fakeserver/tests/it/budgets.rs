//! Disruption budgets, kept by a controller, and what evictions take from them.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Answer, Api, DEPLOYMENTS, PODS, deployment, pod};

const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

fn api() -> Api {
    Api::with(Controllers::default().with_workloads(Workloads::default()))
}

async fn pod_names(api: &Api) -> Vec<String> {
    let list = api.get(PODS).await.ok();
    let pods = list["items"].as_array().unwrap().iter();
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap().to_owned();
    pods.map(name).collect()
}

/// A budget `b` over all pods of the tests' workloads.
async fn budget(api: &Api, rule: Value) -> Value {
    let mut budget = json!({
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}},
    });
    for (field, value) in rule.as_object().unwrap() {
        budget["spec"][field] = value.clone();
    }
    api.post(BUDGETS, &budget).await.created();
    api.settle().await;
    api.get(&format!("{BUDGETS}/b")).await.ok()["status"].clone()
}

async fn evict(api: &Api, pod: &str) -> Answer {
    let eviction = json!({"metadata": {"name": pod}});
    api.post(&format!("{PODS}/{pod}/eviction"), &eviction).await
}

#[tokio::test(start_paused = true)]
async fn a_budget_lets_as_many_pods_go_as_are_there_beyond_it() {
    let api = api();
    let mut wanted = deployment("d");
    wanted["spec"]["replicas"] = json!(3);
    api.post(DEPLOYMENTS, &wanted).await.created();
    api.settle().await;
    let status = budget(&api, json!({"minAvailable": "60%"})).await;
    let since = &status["conditions"][0]["lastTransitionTime"];
    assert_eq!(
        status,
        json!({
            "conditions": [{
                "type": "DisruptionAllowed",
                "status": "True",
                "observedGeneration": 1,
                "lastTransitionTime": since,
                "reason": "SufficientPods",
                "message": "",
            }],
            "currentHealthy": 3,
            "desiredHealthy": 2,
            "disruptionsAllowed": 1,
            "expectedPods": 3,
            "observedGeneration": 1,
        })
    );
    let pods = pod_names(&api).await;
    evict(&api, &pods[0]).await.created();
    evict(&api, &pods[1]).await.refused(429);
    let path = format!("{BUDGETS}/b");
    tokio::time::sleep(Duration::from_mins(1)).await;
    let status = api.get(&path).await.ok()["status"].clone();
    assert_eq!(status["disruptionsAllowed"], 1, "{status}");
    assert!(status.get("disruptedPods").is_none(), "{status}");
    let pods = pod_names(&api).await;
    assert_eq!(pods.len(), 3);
    evict(&api, &pods[1]).await.created();
}

#[tokio::test(start_paused = true)]
async fn an_eviction_takes_the_options_of_its_deletion_from_its_body_only() {
    let api = api();
    api.post(PODS, &pod("p", "n")).await.created();
    let path = format!("{PODS}/p/eviction?uid=other&gracePeriodSeconds=1");
    let eviction = json!({"metadata": {"name": "p"}});
    api.post(&path, &eviction).await.created();
    let metadata = &api.get(&format!("{PODS}/p")).await.ok()["metadata"];
    assert_eq!(metadata["deletionGracePeriodSeconds"], 30);
}

#[tokio::test(start_paused = true)]
async fn a_failed_eviction_is_returned_to_the_budget() {
    let api = api();
    api.post(SETS, &deployment("r")).await.created();
    api.settle().await;
    budget(&api, json!({"maxUnavailable": 1})).await;
    let pods = api.get(PODS).await.ok();
    let metadata = &pods["items"][0]["metadata"];
    let name = metadata["name"].as_str().unwrap();
    let disrupted = json!({"status": {"disruptedPods": {name: metadata["creationTimestamp"]}}});
    let path = format!("{BUDGETS}/b");
    let allowed = async || api.get(&path).await.ok()["status"]["disruptionsAllowed"].clone();
    api.merge(&format!("{path}/status"), &disrupted).await.ok();
    api.settle().await;
    assert_eq!(allowed().await, 0);
    tokio::time::sleep(Duration::from_mins(3)).await;
    assert_eq!(allowed().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_budget_over_pods_without_scale_allows_nothing() {
    let api = api();
    let job = json!({
        "metadata": {"name": "j"},
        "spec": {"template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
        }},
    });
    api.post(JOBS, &job).await.created();
    api.settle().await;
    let status = budget(&api, json!({"maxUnavailable": 1})).await;
    assert_eq!(status["disruptionsAllowed"], 0);
    assert_eq!(status["conditions"][0]["reason"], "SyncFailed");
    assert_eq!(
        status["conditions"][0]["message"],
        "jobs.batch does not implement the scale subresource"
    );
}
