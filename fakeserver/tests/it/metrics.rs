//! Usage: `metrics.k8s.io`, as the metrics server of a cluster has it.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, PODS, pod, warnings};

const VERSION: &str = "/apis/metrics.k8s.io/v1beta1";
const NODE: &str = "/apis/metrics.k8s.io/v1beta1/nodes/node-0";
const OF_PODS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";

/// A server with one node and the pods `web`, whose usage is set, and `db`, which requests 1 core and 1 GiB.
async fn measured() -> Api {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    let mut web = pod("web", "");
    web["metadata"]["labels"] = json!({"app": "web"});
    web["metadata"]["annotations"] = json!({
        "fakeserver/usage-cpu": "250m",
        "fakeserver/usage-memory": "64Mi",
    });
    let mut db = pod("db", "");
    db["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
    for mut pod in [web, db] {
        pod["spec"].as_object_mut().unwrap().remove("nodeName");
        api.post(PODS, &pod).await.created();
    }
    api.settle().await;
    api
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn pods_have_the_usage_that_their_annotations_set() {
    let api = measured().await;
    let web = api.get(&format!("{OF_PODS}/web")).await.ok();
    assert_eq!(web["kind"], "PodMetrics");
    assert_eq!(web["apiVersion"], "metrics.k8s.io/v1beta1");
    assert_eq!(web["metadata"]["labels"], json!({"app": "web"}));
    assert_eq!(web["window"], "15s");
    assert_eq!(web["timestamp"], web["metadata"]["creationTimestamp"]);
    let usage = json!({"cpu": "250m", "memory": "64Mi"});
    let name = &api.get(&format!("{PODS}/web")).await.ok()["spec"]["containers"][0]["name"];
    assert_eq!(web["containers"], json!([{"name": name, "usage": usage}]));
}

#[tokio::test(start_paused = true)]
async fn nodes_use_more_than_their_pods() {
    let api = measured().await;
    let nanos = |usage: &Value| {
        let text = usage["cpu"].as_str().unwrap();
        let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap());
        let scale = if unit == "m" { 1_000_000 } else { 1 };
        number.parse::<u64>().unwrap() * scale
    };
    let db = api.get(&format!("{OF_PODS}/db")).await.ok();
    let db = nanos(&db["containers"][0]["usage"]);
    assert!((200_000_000..800_000_000).contains(&db), "{db}");
    let node = api.get(NODE).await.ok();
    assert_eq!(node["kind"], "NodeMetrics");
    assert_eq!(nanos(&node["usage"]), db + 250_000_000 + 100_000_000);
}

#[tokio::test(start_paused = true)]
async fn lists_are_selected_as_those_of_pods() {
    let api = measured().await;
    let list = api.get(OF_PODS).await.ok();
    assert_eq!(list["kind"], "PodMetricsList");
    assert_eq!(names(&list), ["db", "web"]);
    for query in [
        "labelSelector=app%3Dweb",
        "fieldSelector=metadata.name%3Dweb",
    ] {
        let selected = api.get(&format!("{VERSION}/pods?{query}")).await.ok();
        assert_eq!(names(&selected), ["web"], "{query}");
    }
    let elsewhere = format!("{VERSION}/namespaces/kube-system/pods");
    assert_eq!(names(&api.get(&elsewhere).await.ok()), [""; 0]);
    let nodes = api.get(&format!("{VERSION}/nodes")).await.ok();
    assert_eq!(names(&nodes), ["node-0"]);
}

#[tokio::test(start_paused = true)]
async fn pods_that_do_not_run_and_nodes_that_are_not_ready_have_none() {
    let api = measured().await;
    let error = api.get(&format!("{OF_PODS}/none")).await.refused(404);
    let words = "podmetrics.metrics.k8s.io \"default/none\" not found";
    assert!(error.contains(words), "{error}");
    let unknown = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    let status = "/api/v1/nodes/node-0/status";
    api.strategic(status, &unknown).await.ok();
    let error = api.get(NODE).await.refused(404);
    let words = "nodemetrics.metrics.k8s.io \"node-0\" not found";
    assert!(error.contains(words), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_annotation_is_no_amount_has_none_and_a_warning() {
    let api = measured().await;
    let change = json!({"metadata": {"annotations": {"fakeserver/usage-cpu": "much"}}});
    api.merge(&format!("{PODS}/web"), &change).await.ok();
    let answer = api.get(OF_PODS).await;
    let joined = warnings(&answer).join("\n");
    let words = "pod default/web has no metrics: annotation fakeserver/usage-cpu";
    assert!(joined.contains(words), "{joined}");
    assert_eq!(names(&answer.ok()), ["db"]);
    api.get(&format!("{OF_PODS}/web")).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn discovery_has_the_group_where_workloads_run_and_nowhere_else() {
    let api = measured().await;
    let groups = api.get("/apis").await.ok();
    let last = groups["groups"].as_array().unwrap().last().unwrap();
    assert_eq!(last["name"], "metrics.k8s.io");
    let resources = api.get(VERSION).await.ok();
    let resources = resources["resources"].as_array().unwrap();
    let kinds: Vec<_> = resources.iter().map(|each| &each["kind"]).collect();
    assert_eq!(kinds, ["NodeMetrics", "PodMetrics"]);
    assert_eq!(resources[1]["verbs"], json!(["get", "list"]));
    api.delete(&format!("{OF_PODS}/web")).await.refused(405);

    let plain = Api::new();
    plain.get(OF_PODS).await.refused_plainly(404);
    let groups = plain.get("/apis").await.ok();
    let last = groups["groups"].as_array().unwrap().last().unwrap();
    assert_ne!(last["name"], "metrics.k8s.io");
}

#[tokio::test(start_paused = true)]
async fn the_group_has_an_api_service_which_a_metrics_server_may_take_over() {
    let services = "/apis/apiregistration.k8s.io/v1/apiservices";
    let path = format!("{services}/v1beta1.metrics.k8s.io");
    let api = measured().await;
    let own = api.get(&path).await.ok();
    assert_eq!(own["status"]["conditions"][0]["reason"], "Local");
    assert_eq!(own["spec"]["groupPriorityMinimum"], 100);
    let groups = api.get("/apis").await.ok();
    let listed = api.get(services).await.ok();
    let listed = names(&listed);
    for group in groups["groups"].as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        let has_service = listed
            .iter()
            .any(|other| other.ends_with(&format!(".{name}")));
        // The group of API services has none, as on a real server.
        assert_eq!(has_service, name != "apiregistration.k8s.io", "{name}");
    }
    let service = json!({"spec": {
        "service": {"namespace": "kube-system", "name": "metrics-server"},
        "insecureSkipTLSVerify": true,
    }});
    api.merge(&path, &service).await.ok();
    api.settle().await;
    let taken = api.get(&path).await.ok();
    assert_eq!(taken["spec"]["service"]["name"], "metrics-server");
    assert_eq!(
        taken["status"]["conditions"][0]["reason"],
        "ServiceNotFound"
    );
    assert_eq!(api.get(NODE).await.code, 503);
    api.server.reset();
    let again = api.get(&path).await.ok();
    assert_eq!(again["spec"], own["spec"]);
    assert_eq!(again["status"]["conditions"][0]["reason"], "Local");

    let bare = Api::new();
    assert_eq!(bare.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn stages_let_usage_change_with_time() {
    let stages = Stage::parse(
        "{apiVersion: stages/v1, kind: Stage, metadata: {name: load}, spec: {next: {usage: [\
         {cpu: 50m, memory: 64Mi}, {after: 60s, cpu: 2}]}}}",
    );
    let workloads = Workloads::default().with_stages(stages.unwrap());
    let api = Api::with(Controllers::default().with_workloads(workloads));
    let mut web = pod("web", "");
    web["spec"].as_object_mut().unwrap().remove("nodeName");
    api.post(PODS, &web).await.created();
    api.settle().await;
    let usage = async || {
        let metrics = api.get(&format!("{OF_PODS}/web")).await.ok();
        metrics["containers"][0]["usage"].clone()
    };
    assert_eq!(usage().await, json!({"cpu": "50m", "memory": "64Mi"}));
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(usage().await, json!({"cpu": "2", "memory": "64Mi"}));
    let change = json!({"metadata": {"annotations": {"fakeserver/usage-cpu": "1"}}});
    api.merge(&format!("{PODS}/web"), &change).await.ok();
    assert_eq!(usage().await, json!({"cpu": "1", "memory": "64Mi"}));
    let error = Stage::of_pods("s")
        .with_cpu(Duration::ZERO, "much")
        .unwrap_err();
    assert!(error.to_string().contains("write a quantity"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_may_have_no_metrics_server() {
    let workloads = Workloads::default().with_metrics(false);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.get(OF_PODS).await.refused_plainly(404);
    let groups = api.get("/apis").await.ok();
    let mut groups = groups["groups"].as_array().unwrap().iter();
    assert!(groups.all(|group| group["name"] != "metrics.k8s.io"));
}
